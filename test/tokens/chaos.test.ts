import { Worker } from 'node:worker_threads';
import t from 'tap';
import { happens } from '../support/raw-client.ts';
import { share } from '../support/share.ts';
import type { Lives, Pace } from './weeks.ts';

/**
 * Simulates weeks of everything that can happen to a token, each from a seed:
 *
 *   BEARERD_TEST_SEED=17 BEARERD_TEST_SEEDS=1 tap run test/tokens/chaos.test.ts
 *
 * Runs in workers: tap tracks every promise of its own thread, and there are hundreds of millions.
 */
const FIRST_SEED = Number(process.env.BEARERD_TEST_SEED ?? 1);
const SEEDS = Number(process.env.BEARERD_TEST_SEEDS ?? share(100));
const WORKERS = Math.min(2, SEEDS);

const YEARS = Math.min(2, SEEDS);
/** A simulated year takes a second. */
const LIMIT_MS_OF_ONE = 120_000;

async function run(firstSeed: number, count: number, pace: Pace): Promise<Lives> {
  const worker = new Worker(new URL('./weeks.ts', import.meta.url), {
    workerData: { firstSeed, count, pace },
  });
  const [lives] = await happens(worker, 'message', LIMIT_MS_OF_ONE * count);
  return lives as Lives;
}

async function runAll(count: number, pace: Pace): Promise<Lives> {
  const each = Math.ceil(count / WORKERS);
  const all = await Promise.all(
    Array.from({ length: WORKERS }, (_, i) =>
      run(FIRST_SEED + i * each, Math.min(each, count - i * each), pace),
    ),
  );
  const sum = (what: 'requests' | 'logins') => all.reduce((total, lives) => total + lives[what], 0);
  return {
    requests: sum('requests'),
    logins: sum('logins'),
    faults: all.flatMap(({ faults }) => faults),
  };
}

t.test(
  `in ${SEEDS} simulated weeks the source recovers from each failure, gives no dead token, and refuses no request without need`,
  async (t) => {
    const { requests, logins, faults } = await runAll(SEEDS, 'of weeks');
    for (const fault of faults) t.fail(fault);
    t.ok(requests > 500 * SEEDS, `${requests} requests`);
    t.ok(logins > 100 * SEEDS, `${logins} logins`);
  },
);

t.test(`in ${YEARS} simulated years, too (npm run years simulates a thousand)`, async (t) => {
  const { requests, logins, faults } = await runAll(YEARS, 'of years');
  for (const fault of faults) t.fail(fault);
  t.ok(requests > 5_000 * YEARS, `${requests} requests`);
  t.ok(logins > 500 * YEARS, `${logins} logins`);
});
