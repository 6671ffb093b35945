/** One step of a search: the ways in which one thing may be written, as a tree of their bytes. */
export interface Unit {
  readonly next: ReadonlyMap<number, Unit>;
  /** A way to write it ends here; a longer one may go on. */
  readonly ends: boolean;
}

interface Draft extends Unit {
  readonly next: Map<number, Draft>;
  ends: boolean;
}

const draft = (): Draft => ({ next: new Map(), ends: false });

/** @param spellings each character a byte */
export function unitOf(spellings: Iterable<string>): Unit {
  const root = draft();
  for (const spelling of spellings) {
    let at = root;
    for (let i = 0; i < spelling.length; i++) {
      const byte = spelling.charCodeAt(i);
      let below = at.next.get(byte);
      if (below === undefined) {
        below = draft();
        at.next.set(byte, below);
      }
      at = below;
    }
    at.ends = true;
  }
  return root;
}

/** Bytes of the shortest way to write it. */
export function shortest(unit: Unit): number {
  if (unit.ends) return 0;
  return 1 + Math.min(...[...unit.next.values()].map(shortest));
}
