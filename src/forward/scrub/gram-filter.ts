import { GRAM_BYTES, gramsOf } from './grams.ts';
import type { Pattern } from './patterns.ts';

/** Bits of the table for each entry: with two of them for each gram, one in some hundred others passes. */
const BITS_PER_GRAM = 16;

/**
 * Which four bytes may stand somewhere in a match. With it a search looks at one place in each match's length only,
 * as Wu and Manber do: a match that lies across that place has to show there. It says yes too often, and never no.
 */
export class GramFilter {
  readonly #bits: Uint32Array;
  readonly #shift: number;

  constructor(patterns: readonly Pattern[]) {
    const grams = patterns.flatMap(gramsOf);
    const log2 = Math.max(10, Math.ceil(Math.log2(grams.length * BITS_PER_GRAM)));
    this.#shift = 32 - log2;
    this.#bits = new Uint32Array(2 ** (log2 - 5));
    for (const gram of grams) {
      this.#set(this.#first(gram));
      this.#set(this.#second(gram));
    }
  }

  /** The first place from `at` on, in steps, that may lie in a match; the first one past the end where there is none. */
  next(bytes: Uint8Array, at: number, step: number): number {
    const last = bytes.length - GRAM_BYTES;
    let place = at;
    while (place <= last && !this.#has(gramAt(bytes, place))) place += step;
    return place;
  }

  /** True for a place whose four bytes may lie in a match, and for one near the end, where there are fewer. */
  mayLieAt(bytes: Uint8Array, at: number): boolean {
    return at > bytes.length - GRAM_BYTES || this.#has(gramAt(bytes, at));
  }

  #has(gram: number): boolean {
    const first = this.#first(gram);
    if ((this.#bits[first >>> 5]! & (1 << (first & 31))) === 0) return false;
    const second = this.#second(gram);
    return (this.#bits[second >>> 5]! & (1 << (second & 31))) !== 0;
  }

  #set(bit: number): void {
    this.#bits[bit >>> 5]! |= 1 << (bit & 31);
  }

  #first(gram: number): number {
    return Math.imul(gram, 0x9e3779b1) >>> this.#shift;
  }

  #second(gram: number): number {
    return Math.imul(gram ^ (gram >>> 15), 0x85ebca6b) >>> this.#shift;
  }
}

function gramAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}
