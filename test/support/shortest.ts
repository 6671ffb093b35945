/**
 * How long something takes on a machine that has nothing else to do: the shortest of some tries, in ms. A busy machine
 * makes some longer, and none shorter; the first below the bound is the last.
 */
export async function shortest(boundMs: number, play: () => Promise<unknown>, tries = 4): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < tries && least >= boundMs; n++) {
    const begun = performance.now();
    await play();
    least = Math.min(least, performance.now() - begun);
  }
  return least;
}
