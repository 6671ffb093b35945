const LEAST_TRIES = 3;
const MOST_TRIES = 40;
/** What takes less can't be told from nothing. */
const TINY_MS = 0.05;

/**
 * How many times as long one work takes as another: the shortest of some tries of each, in turn, so that what else the
 * machine does hits both. It makes some tries longer and none shorter: the first result below the bound is given.
 */
export function timesAsLong(bound: number, one: () => unknown, other: () => unknown): number {
  let [long, short] = [Number.POSITIVE_INFINITY, TINY_MS];
  for (let n = 0; n < MOST_TRIES && (n < LEAST_TRIES || long >= bound * short); n++) {
    long = Math.min(long, msOf(one));
    const ms = msOf(other);
    short = n === 0 ? Math.max(TINY_MS, ms) : Math.max(TINY_MS, Math.min(short, ms));
  }
  return long / short;
}

function msOf(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}
