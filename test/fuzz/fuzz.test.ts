import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { COMPILED } from '../support/cli.ts';
import { happens, PATIENCE_MS } from '../support/raw-client.ts';
import { share } from '../support/share.ts';
import { LeakWatch } from './canaries.ts';
import type { Figures } from './harness.ts';

/**
 * Seeded fuzzers. In CI each has a small count and at most 25 seconds. `npm test` leaves them out.
 *
 *   FUZZ_SEED=7 FUZZ_LIMIT_S=9999 FUZZ_REQUESTS=1000000 node test/fuzz/fuzz.test.ts   at length, from another seed
 *   FUZZ_ONLY=requests FUZZ_SEED=4711 FUZZ_REQUESTS=1 node test/fuzz/fuzz.test.ts   one case again, by its seed
 *
 * Case n has the seed FUZZ_SEED + n, so long runs want seeds that are far apart. A failure says its seed and the case.
 */
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const LIMIT_S = Number(process.env.FUZZ_LIMIT_S ?? 25);
const ONLY = process.env.FUZZ_ONLY?.split(',');

/** Each fuzzer, the variable that says how many it is to be, and how many it is in CI. */
const FUZZERS = [
  ['requests', 'raw requests', 'FUZZ_REQUESTS', 6_000],
  ['answers', 'answers of an upstream', 'FUZZ_ANSWERS', 2_000],
  ['reader', 'raw answers, read without a socket', 'FUZZ_READER', 10_000],
  ['echoes', 'answers of an upstream that echoes', 'FUZZ_ECHOES', 5_000],
  ['logins', 'answers of a session endpoint', 'FUZZ_LOGINS', 1_000],
  ['config', 'configuration', 'FUZZ_CONFIGS', 1_500],
  ['secrets', 'secret files', 'FUZZ_SECRETS', 75],
] as const;

t.setTimeout((LIMIT_S * 1000 + 2 * PATIENCE_MS) * FUZZERS.length);

async function fuzz(name: string, count: number) {
  const log = new LeakWatch();
  let errors = '';
  const child = fork(fileURLToPath(new URL(`fuzz-${name}.ts`, import.meta.url)), {
    execArgv: [],
    env: {
      ...process.env,
      ...COMPILED,
      NODE_NO_WARNINGS: '1',
      FUZZ_SEED: String(SEED),
      FUZZ_COUNT: String(count),
      FUZZ_LIMIT_S: String(LIMIT_S),
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let figures: Figures | undefined;
  child.on('message', (message) => {
    figures = message as Figures;
  });
  child.stdout!.on('data', (chunk: Buffer) => log.push(chunk));
  child.stderr!.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const [code] = await happens(child, 'close', LIMIT_S * 1000 + PATIENCE_MS);
  return { figures, code, errors, log };
}

for (const [name, what, variable, usual] of FUZZERS) {
  if (ONLY !== undefined && !ONLY.includes(name)) continue;
  const count = Number(process.env[variable] ?? share(usual));
  t.test(
    `whatever is in ${what}: the process lives, no secret gets out, and no wrong credential upstream`,
    async (t) => {
      const { figures, code, errors, log } = await fuzz(name, count);
      t.comment(
        `${name}: FUZZ_SEED=${SEED} ${variable}=${count} gave ${JSON.stringify({ ...figures, faults: undefined })}`,
      );
      t.equal(code, 0, `the process stays alive (seed ${SEED})`);
      t.equal(errors, '', 'and says nothing on stderr');
      for (const fault of figures?.faults ?? []) t.fail(fault);
      t.equal(log.leaked, undefined, 'no secret is in the log');
      t.ok((figures?.answered ?? 0) > 0, 'it did something');
    },
  );
}
