import { escapeAt, INTRODUCERS, lengthIn, NONE, valueIn } from './escapes.ts';

/** The byte ends a run. */
export const ENDS = 1;
/** The byte ends a run unless it indents a line: then only such bytes are between it and a line break. */
export const ENDS_WITHIN_LINE = 2;

const LF = 0x0a;
const CR = 0x0d;
/** An escape of a line break is usually no longer than `&#x0000000A;`. */
const LONGEST_LINE_BREAK = 12;

/**
 * Skips runs of less than `span` bytes, which can't hold a match: so most of a text need not be read. Which bytes end a run
 * doesn't depend on the secrets.
 */
export class ShortRuns {
  readonly #span: number;
  readonly #kinds: Uint8Array;
  /** No run ends before this position. */
  #clearTo = 0;

  /** @param kinds `ENDS`, `ENDS_WITHIN_LINE` or 0 for each byte */
  constructor(span: number, kinds: Uint8Array) {
    this.#span = span;
    this.#kinds = kinds;
  }

  /** The first position from `at` on where a run may be long enough. @param base the position of the first byte */
  skip(bytes: Uint8Array, base: number, at: number, until: number): number {
    let from = this.#begin(bytes, base, at, until);
    while (from >= this.#clearTo) {
      const end = from + this.#span;
      if (end > until) break;
      const last = this.#lastEnd(bytes, from - base, end - base);
      if (last === -1) this.#clearTo = end;
      else from = this.#begin(bytes, base, base + last + 1, until);
    }
    return from;
  }

  /** The first position from `at` on where a run may begin: no line break or indent begins one. */
  #begin(bytes: Uint8Array, base: number, at: number, until: number): number {
    const kinds = this.#kinds;
    let from = at;
    while (from < until && (kinds[bytes[from - base]!] !== 0 || isLineBreak(bytes[from - base]!))) from++;
    return from;
  }

  /** The index of the last byte in a range that ends a run; -1 if there is none. */
  #lastEnd(bytes: Uint8Array, from: number, end: number): number {
    const kinds = this.#kinds;
    for (let at = end - 1; at >= from; at--) {
      const kind = kinds[bytes[at]!]!;
      if (kind === 0) continue;
      if (kind === ENDS) return at;
      let before = at - 1;
      while (before >= from && kinds[bytes[before]!] === ENDS_WITHIN_LINE) before--;
      if (!endsWithLineBreak(bytes, from, before + 1)) return at;
      at = before;
    }
    return -1;
  }
}

/** True if the last of the bytes, up to `end`, are a line break or an escape of one. */
function endsWithLineBreak(bytes: Uint8Array, from: number, end: number): boolean {
  if (end === from) return false;
  if (isLineBreak(bytes[end - 1]!)) return true;
  for (let at = end - 2; at >= Math.max(from, end - LONGEST_LINE_BREAK); at--) {
    if (INTRODUCERS[bytes[at]!] === 0) continue;
    const found = escapeAt(bytes, at, false);
    return found > NONE && at + lengthIn(found) === end && isLineBreak(valueIn(found));
  }
  return false;
}

function isLineBreak(value: number): boolean {
  return value === LF || value === CR;
}
