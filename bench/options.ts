import { fileURLToPath } from 'node:url';

const { env, argv } = process;
const quick = env.BENCH_QUICK === '1';

function count(name: string, otherwise: number): number {
  const value = Number(env[name] ?? otherwise);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} is a number from 1 on`);
  return value;
}

/** How much is measured, and what. */
export const options = {
  rounds: count('BENCH_ROUNDS', quick ? 3 : 5),
  /** Small requests in each round, for each contender. */
  requests: count('BENCH_REQUESTS', quick ? 8_000 : 20_000),
  /** Small requests before the first round: V8 has compiled by then what it ever will. */
  warmUp: count('BENCH_WARM_UP', quick ? 10_000 : 50_000),
  /** Of each saturating run. */
  saturatedSeconds: quick ? 3 : 5,
  transfers: quick ? 16 : 24,
  starts: quick ? 5 : 7,
  /** An idle process is watched for so long. */
  idleSeconds: quick ? 10 : 30,
  /** What a burst took is looked at after so long. */
  restSeconds: quick ? 20 : 60,
  latencyRounds: quick ? 3 : 5,
  /** Names of rows; undefined for all of them. */
  only: env.BENCH_ONLY?.split(',').map((name) => name.trim()),
  /** The page whose results are replaced; undefined for none. */
  page:
    env.BENCH_OUT ??
    (argv.includes('--markdown')
      ? fileURLToPath(new URL('../docs/performance.md', import.meta.url))
      : undefined),
} as const;
