/** A part of a text that a reading took for more, or fewer, symbols than it has bytes. */
export interface Detour {
  readonly at: number;
  /** Where the text goes on behind it. */
  readonly to: number;
  readonly symbols: number;
  readonly before: Detour | undefined;
  /** How many there are, with this one. */
  readonly count: number;
}

/**
 * A reading's detours with one more. They are shared by readings that part, and no more are kept than twice what a
 * match may have.
 */
export function detour(
  before: Detour | undefined,
  { at, to, symbols }: Pick<Detour, 'at' | 'to' | 'symbols'>,
  most: number,
): Detour {
  if (before === undefined) return { at, to, symbols, before, count: 1 };
  if (symbols === 0 && before.symbols === 0 && before.to === at) return { ...before, to };
  if (before.count < 2 * most) return { at, to, symbols, before, count: before.count + 1 };
  const kept: Detour[] = [];
  for (let one: Detour | undefined = before; kept.length < most; one = one?.before) kept.push(one!);
  let shorter: Detour | undefined;
  for (const one of kept.reverse()) shorter = { ...one, before: shorter, count: (shorter?.count ?? 0) + 1 };
  return { at, to, symbols, before: shorter, count: most + 1 };
}

/** Where the last `symbols` of a reading begin: each is a byte of its own, but for the detours. */
export function startOf(symbols: number, end: number, last: Detour | undefined): number {
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
