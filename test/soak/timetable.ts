/** When a fault begins, and how long it lasts. */
export interface Appointment<Kind> {
  readonly kind: Kind;
  readonly atMs: number;
  readonly lastsMs: number;
}

/** From one fault's begin to the next one's. */
export const PERIOD_MS = 10_000;
const SHORTEST_MS = 500;
/** What is left of a period has to do for the recovery. */
export const LONGEST_MS = 4_000;

/**
 * One fault in each period, from its first on. Each kind has its turn before one comes again, so that an hour is not a
 * matter of luck.
 */
export function timetableOf<Kind extends { readonly longestMs?: number }>(
  kinds: readonly Kind[],
  lengthMs: number,
  random: () => number,
): Appointment<Kind>[] {
  const table: Appointment<Kind>[] = [];
  let left: Kind[] = [];
  for (let atMs = PERIOD_MS; atMs + PERIOD_MS <= lengthMs; atMs += PERIOD_MS) {
    if (left.length === 0) left = [...kinds];
    const [kind] = left.splice(Math.floor(random() * left.length), 1);
    const longestMs = kind!.longestMs ?? LONGEST_MS;
    table.push({ kind: kind!, atMs, lastsMs: SHORTEST_MS + (longestMs - SHORTEST_MS) * random() });
  }
  return table;
}
