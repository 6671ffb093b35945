/** When a fault begins and how long it lasts. */
export interface Appointment<Kind> {
  readonly kind: Kind;
  readonly atMs: number;
  readonly lastsMs: number;
}

/** From the start of one fault to the start of the next. */
export const PERIOD_MS = 10_000;
const SHORTEST_MS = 500;
/** The rest of the period is for the recovery. */
export const LONGEST_MS = 4_000;

/**
 * One fault at the start of each period. Each kind comes once before any comes again, so that every kind comes within
 * an hour.
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
