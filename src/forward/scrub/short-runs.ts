/**
 * Skips runs of less than `span` bytes, which can't hold a match: so most of a text need not be read. Which bytes end a run
 * doesn't depend on the secrets.
 */
export class ShortRuns {
  readonly #span: number;
  readonly #ends: Uint8Array;
  /** No run ends before this position. */
  #clearTo = 0;

  /** @param ends 1 for each byte that ends a run */
  constructor(span: number, ends: Uint8Array) {
    this.#span = span;
    this.#ends = ends;
  }

  /** The first position from `at` on where a run may be long enough. @param base the position of the first byte */
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
