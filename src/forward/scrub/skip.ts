/**
 * What lies before a byte that ends a run can't be a part of one that is `span` bytes long: so most of a text need not be
 * read. Which bytes end a run is the same whatever is searched for.
 */
export class ShortRuns {
  readonly #span: number;
  readonly #ends: Uint8Array;
  /** Up to here no run ends. */
  #clearTo = 0;

  /** @param ends 1 for each byte that ends a run */
  constructor(span: number, ends: Uint8Array) {
    this.#span = span;
    this.#ends = ends;
  }

  /** The first place, from `at` on, from which a run may be long enough. @param base the place of the first byte */
  skip(bytes: Uint8Array, base: number, at: number, until: number): number {
    let from = at;
    while (from >= this.#clearTo) {
      const end = from + this.#span;
      if (end > until) break;
      let place = end - 1;
      while (place >= from && this.#ends[bytes[place - base]!] === 0) place--;
      if (place < from) this.#clearTo = end;
      else from = place + 1;
    }
    return from;
  }
}
