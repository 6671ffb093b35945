import { GramFilter } from './gram-filter.ts';
import { GRAM_BYTES } from './grams.ts';
import { type Pattern, patternsOf } from './patterns.ts';
import { shortest, type Unit } from './unit.ts';

/** A match that has begun with a byte. */
export interface Opening {
  readonly track: Track;
  readonly unit: Unit;
}

/** A pattern, and the last step in which a match came to each of its places. */
export interface Track {
  readonly pattern: Pattern;
  readonly reachedAt: Float64Array;
}

/** From the first to the last of these places there may be a match; before the first there is none. */
export interface Window {
  readonly first: number;
  readonly last: number;
}

/** What to look for: made once for a value, and used by all answers that may hold it. */
export class Searcher {
  /** By first byte. */
  readonly #openings: readonly (readonly Opening[] | undefined)[];
  readonly #values: readonly string[];
  readonly #filter: GramFilter | undefined;
  /** Of two places that are looked at, a match lies across one. */
  readonly #stride: number;
  readonly #joined = new WeakMap<Searcher, Searcher>();

  /** @param values what was sent, each character a byte */
  constructor(values: readonly string[]) {
    this.#values = [...new Set(values)].filter((value) => value !== '');
    const patterns = this.#values.flatMap(patternsOf);
    this.#openings = openingsOf(patterns);
    const least = Math.min(...patterns.map(shortestMatch));
    this.#stride = least - GRAM_BYTES + 1;
    if (patterns.length > 0 && this.#stride > 0) this.#filter = new GramFilter(patterns);
  }

  /** One that looks for the values of both; made once for the two. */
  with(other: Searcher): Searcher {
    if (other === this) return this;
    let both = this.#joined.get(other);
    if (both === undefined) {
      both = new Searcher([...this.#values, ...other.#values]);
      this.#joined.set(other, both);
    }
    return both;
  }

  /** What may begin at a place: nothing at most of them, which is told by the next bytes as well. */
  openingsAt(bytes: Uint8Array, at: number): readonly Opening[] | undefined {
    const openings = this.#openings[bytes[at]!];
    if (openings === undefined || this.#filter?.mayLieAt(bytes, at) === false) return undefined;
    return openings;
  }

  /** The places, from `at` on, in which the next match may begin. */
  window(bytes: Uint8Array, at: number): Window {
    const filter = this.#filter;
    if (filter === undefined) return { first: at, last: bytes.length };
    const stride = this.#stride;
    const half = stride >> 1;
    // The match that begins at `at` shows at its last four bytes at the latest.
    let place = at + stride - 1;
    const end = bytes.length - GRAM_BYTES;
    for (;;) {
      place = filter.next(bytes, place, stride);
      const first = place - stride + 1;
      if (place > end) {
        // Whatever begins here goes on behind the end, so that it lies across the last four bytes, or begins in them.
        const none = first <= end && !filter.mayLieAt(bytes, end);
        return { first: none ? end + 1 : first, last: bytes.length };
      }
      // It lies across one more place, half a stride before or behind: which tells most of what only looks like one.
      const before = filter.mayLieAt(bytes, place - half);
      const behind = filter.mayLieAt(bytes, place + half);
      if (before || behind) {
        return { first: before ? first : place - half + 1, last: behind ? place : place - half };
      }
      place += stride;
    }
  }
}

function openingsOf(patterns: readonly Pattern[]): Opening[][] {
  const openings: Opening[][] = new Array(256).fill(undefined);
  for (const pattern of patterns) {
    const track = { pattern, reachedAt: new Float64Array(pattern.length) };
    for (const [byte, unit] of pattern[0]!.next) {
      openings[byte] ??= [];
      openings[byte].push({ track, unit });
    }
  }
  return openings;
}

function shortestMatch(pattern: Pattern): number {
  return pattern.reduce((bytes, unit) => bytes + shortest(unit), 0);
}
