const PARTS = 32;
/** If the time is proportional to the length, it is about 1; if it grows with the square, about 32. */
const MOST = 10;
const LEAST_TRIES = 3;
const MOST_TRIES = 40;
/** What takes less can't be told from nothing. */
const TINY_MS = 0.05;

/**
 * How many times as long a work takes for one input as for 32 parts of it, and whether the time is so proportional to the
 * length. Both do the same amount of work, so that Node compiles and collects equally for both. Of each the shortest of
 * some tries counts, in turn, so that what else the machine does hits both: it makes some tries longer and none shorter,
 * and the first result below the bound is given.
 *
 * @param workOn gives the work on an input of this length; it prepares the input
 * @param length of a part
 */
export function growthOf(
  workOn: (length: number) => () => unknown,
  length: number,
): { readonly isProportional: boolean; readonly words: string } {
  const [whole, part] = [workOn(PARTS * length), workOn(length)];
  const parts = () => {
    for (let n = 0; n < PARTS; n++) part();
  };
  let [wholeMs, partsMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let n = 0; n < MOST_TRIES && (n < LEAST_TRIES || wholeMs >= MOST * partsMs); n++) {
    wholeMs = Math.min(wholeMs, msOf(whole));
    partsMs = Math.min(partsMs, Math.max(TINY_MS, msOf(parts)));
  }
  const times = wholeMs / partsMs;
  return { isProportional: times < MOST, words: `${times.toFixed(1)} times as long as ${PARTS} parts of it` };
}

function msOf(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}
