import { Automaton } from './automaton.ts';
import { breaksFor } from './runs.ts';

/** Of the usual encodings, a reference of HTML with six digits makes most of a byte; a match may be so long. */
const MOST_FOR_A_BYTE = 12;
/** So much of a run is held at least, so that short secrets are not told from one another by it. */
const LEAST_HELD_BYTES = 16 * 1024;

/** What to look for: made once for a set of values, and used by all answers that may hold one of them. */
export class Searcher {
  readonly automaton: Automaton;
  /** What no run goes on behind. */
  readonly breaks: Uint8Array;
  /** No value is shorter; in powers of two. */
  readonly leastBytes: number;
  /** How many detours a match may have in a reading: one for each digit, and one between two. */
  readonly mostDetours: number;
  /** How much of a run is held: as much as the longest match has, in powers of two, which tell little of it. */
  readonly mostHeldBytes: number;

  /** @param values as they are sent, in UTF-8: each character a byte */
  constructor(values: readonly string[]) {
    const words = values.flatMap(variants).filter((word) => word !== '');
    this.automaton = new Automaton(words);
    this.leastBytes = 2 ** Math.floor(Math.log2(Math.min(...words.map(({ length }) => length), 64)));
    this.breaks = breaksFor((byte) => this.automaton.holds(byte));
    const { longestWord } = this.automaton;
    this.mostDetours = 4 * longestWord + 2;
    this.mostHeldBytes = powerOfTwo(Math.max(LEAST_HELD_BYTES, MOST_FOR_A_BYTE * longestWord));
  }
}

const powerOfTwo = (least: number): number => 2 ** Math.ceil(Math.log2(least));

/**
 * A program that takes a header for Latin-1, as Node does, sees a character in each byte, and writes that as UTF-8; one
 * that takes it for UTF-8 may write Latin-1.
 */
function variants(value: string): readonly string[] {
  if (!/[\x80-\xff]/.test(value)) return [value];
  const text = Buffer.from(value, 'latin1').toString('utf8');
  const asLatin1 = /^[\0-\xff]*$/.test(text) ? [text] : [];
  return [value, Buffer.from(value, 'utf8').toString('latin1'), ...asLatin1];
}
