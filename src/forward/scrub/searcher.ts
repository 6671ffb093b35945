import { Automaton } from './automaton.ts';
import { breaksFor } from './runs.ts';

/** Room for the longest usual encoding of a byte, an HTML reference with eight digits (`&#x00000041;`). */
const MAX_PER_BYTE = 12;
/** At least this much of a run is held, so that it tells nothing about the length of shorter secrets. */
const MIN_HELD_BYTES = 16 * 1024;

/** What is searched for: made once for a set of values, and shared by all answers. */
export class Searcher {
  readonly automaton: Automaton;
  /** Bytes that end a run. */
  readonly breaks: Uint8Array;
  /** No value is shorter than this power of two. */
  readonly minBytes: number;
  /** How many replacements a match may have: for each of the two digits of a byte, the digit and what follows it. */
  readonly maxReplacements: number;
  /** At most this much of a run is held: room for the longest match, as a power of two, which tells little about it. */
  readonly maxHeldBytes: number;

  /** @param values in UTF-8, as sent: each character is a byte */
  constructor(values: readonly string[]) {
    const words = values.flatMap(variants).filter((word) => word !== '');
    this.automaton = new Automaton(words);
    this.minBytes = 2 ** Math.floor(Math.log2(Math.min(...words.map(({ length }) => length), 64)));
    this.breaks = breaksFor((byte) => this.automaton.holds(byte));
    const { longestWord } = this.automaton;
    this.maxReplacements = 4 * longestWord + 2;
    this.maxHeldBytes = powerOfTwo(Math.max(MIN_HELD_BYTES, MAX_PER_BYTE * longestWord));
  }
}

const powerOfTwo = (least: number): number => 2 ** Math.ceil(Math.log2(least));

/**
 * A program that reads a header as Latin-1, as Node does, sees each byte as a character, and writes that in UTF-8. One that
 * reads it as UTF-8 may write it in Latin-1.
 */
function variants(value: string): readonly string[] {
  if (!/[\x80-\xff]/.test(value)) return [value];
  const text = Buffer.from(value, 'latin1').toString('utf8');
  const asLatin1 = /^[\0-\xff]*$/.test(text) ? [text] : [];
  return [value, Buffer.from(value, 'utf8').toString('latin1'), ...asLatin1];
}
