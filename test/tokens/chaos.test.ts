import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import type { Weeks } from './weeks.ts';

/**
 * A week of everything that can happen to a token, lived through many times, each time from a seed:
 *
 *   BEARERD_TEST_SEED=17 BEARERD_TEST_SEEDS=1 tap run test/tokens/chaos.test.ts
 *
 * In workers, because tap follows every promise of its own thread, and there are hundreds of millions.
 */
const FIRST_SEED = Number(process.env.BEARERD_TEST_SEED ?? 1);
const SEEDS = Number(process.env.BEARERD_TEST_SEEDS ?? 200);
const WORKERS = Math.min(2, SEEDS);

async function run(firstSeed: number, count: number): Promise<Weeks> {
  const worker = new Worker(new URL('./weeks.ts', import.meta.url), { workerData: { firstSeed, count } });
  const [weeks] = await once(worker, 'message');
  return weeks as Weeks;
}

t.test(
  `whatever happens in a week, it comes back, and never sends a dead token (${SEEDS} weeks)`,
  async (t) => {
    const share = Math.ceil(SEEDS / WORKERS);
    const shares = Array.from({ length: WORKERS }, (_, i) =>
      run(FIRST_SEED + i * share, Math.min(share, SEEDS - i * share)),
    );
    const all = await Promise.all(shares);
    for (const { faults } of all) for (const fault of faults) t.fail(fault);
    const sum = (what: 'requests' | 'logins') => all.reduce((total, weeks) => total + weeks[what], 0);
    t.ok(sum('requests') > 500 * SEEDS, `${sum('requests')} requests`);
    t.ok(sum('logins') > 100 * SEEDS, `${sum('logins')} logins`);
  },
);
