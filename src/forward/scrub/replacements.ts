/** A part of a text that a reading took for another number of symbols than it has bytes: an escape, or a separator. */
export interface Replacement {
  readonly at: number;
  /** The position after it. */
  readonly to: number;
  readonly symbols: number;
  readonly before: Replacement | undefined;
  /** How many there are, including this one. */
  readonly count: number;
}

/**
 * Adds to a list, which may be shared by several paths of a reading. No more than twice `most` are kept, since a match can't
 * have more than `most`.
 */
export function withReplacement(
  before: Replacement | undefined,
  { at, to, symbols }: Pick<Replacement, 'at' | 'to' | 'symbols'>,
  most: number,
): Replacement {
  if (before === undefined) return { at, to, symbols, before, count: 1 };
  if (symbols === 0 && before.symbols === 0 && before.to === at) return { ...before, to };
  if (before.count < 2 * most) return { at, to, symbols, before, count: before.count + 1 };
  const kept: Replacement[] = [];
  for (let one: Replacement | undefined = before; one !== undefined && kept.length < most; one = one.before)
    kept.push(one);
  let shorter: Replacement | undefined;
  for (const one of kept.reverse()) shorter = { ...one, before: shorter, count: (shorter?.count ?? 0) + 1 };
  return { at, to, symbols, before: shorter, count: most + 1 };
}

/** Where the last `symbols` of a reading begin: each is one byte of the text, except in the parts of the list. */
export function startOf(symbols: number, end: number, last: Replacement | undefined): number {
  let left = symbols;
  let place = end;
  for (let one = last; one !== undefined; one = one.before) {
    const plain = place - one.to;
    if (left <= plain) break;
    left -= plain + one.symbols;
    place = one.at;
    if (left <= 0) return place;
  }
  return place - left;
}
