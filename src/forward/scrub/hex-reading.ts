import { type Automaton, ROOT } from './automaton.ts';
import { HEX, isLetter } from './escapes.ts';
import type { OnMatch, Reading, TextPart } from './reading.ts';
import { type Replacement, startOf, withReplacement } from './replacements.ts';
import type { Searcher } from './searcher.ts';
import { ENDS, ShortRuns } from './short-runs.ts';

/** Bytes that may separate the bytes of a dump: a colon, a dash, white space. */
const SEPARATORS = new Uint8Array(256);
for (const separator of ':- \t\r\n') SEPARATORS[separator.charCodeAt(0)] = 1;

const RUN_ENDS = Uint8Array.from(HEX, (digit, byte) => (digit < 0 && SEPARATORS[byte] === 0 ? ENDS : 0));

/** Reads hexadecimal: decodes each run of digits as two texts, since a byte may begin at any digit. */
export class HexReading implements Reading {
  /** Where the first of several separated bytes begins, if the run may go on after the last one; else infinity. */
  pairsFrom = Number.POSITIVE_INFINITY;
  readonly #automaton: Automaton;
  readonly #searcher: Searcher;
  readonly #short: ShortRuns;
  #at: number;
  /** The states of the two texts: the one in which the next digit ends a byte, and the other. */
  #ends = ROOT;
  #begins = ROOT;
  /** The last digit; undefined if the next digit begins a byte. */
  #before: number | undefined;
  #replacements: Replacement | undefined;
  /** Digits since the last separator. */
  #digits = 0;
  #afterLetter = false;

  constructor(searcher: Searcher, at: number) {
    const { automaton, minBytes } = searcher;
    this.#searcher = searcher;
    this.#short = new ShortRuns(2 * minBytes, RUN_ENDS);
    this.#automaton = automaton;
    this.#at = at;
  }

  read({ bytes, base, until }: TextPart, onMatch: OnMatch): void {
    while (this.#at < until) {
      if (this.#idle) this.#skip(bytes, base, until);
      if (this.#at === until) break;
      const byte = bytes[this.#at++ - base]!;
      const digit = HEX[byte]!;
      if (digit >= 0) this.#digit(digit, onMatch);
      else if (SEPARATORS[byte] === 1) this.#separator();
      else this.#other(byte);
    }
  }

  copy(searcher: Searcher): HexReading {
    const copy = new HexReading(searcher, this.#at);
    copy.#ends = searcher.automaton.stateFor(this.#automaton, this.#ends);
    copy.#begins = searcher.automaton.stateFor(this.#automaton, this.#begins);
    copy.#before = this.#before;
    copy.#replacements = this.#replacements;
    copy.#digits = this.#digits;
    copy.#afterLetter = this.#afterLetter;
    copy.pairsFrom = this.pairsFrom;
    return copy;
  }

  get #idle(): boolean {
    return this.#before === undefined && this.#begins === ROOT && this.#digits === 0;
  }

  /** Skips bytes that end a run, and runs that are too short. */
  #skip(bytes: Uint8Array, base: number, until: number): void {
    let at = this.#short.skip(bytes, base, this.#at, until);
    while (at < until && HEX[bytes[at - base]!]! < 0) at++;
    this.#replacements = undefined;
    if (at === this.#at) return;
    this.#afterLetter = isLetter(bytes[at - 1 - base]!);
    this.pairsFrom = Number.POSITIVE_INFINITY;
    this.#at = at;
  }

  #digit(digit: number, onMatch: OnMatch): void {
    const before = this.#before;
    this.#before = digit;
    this.#digits++;
    const { table, columns } = this.#automaton;
    let state = this.#ends;
    if (before !== undefined) {
      state = table[state + columns[(before << 4) | digit]!]!;
      if (state < 0) {
        state = ~state;
        const digits = 2 * this.#automaton.longestEnd(state);
        onMatch(startOf(digits, this.#at, this.#replacements), this.#at);
      }
    }
    this.#ends = this.#begins;
    this.#begins = state;
  }

  /** A separator may come between two bytes, but not within one. */
  #separator(): void {
    if (this.#digits !== 2 || this.#afterLetter) this.pairsFrom = Number.POSITIVE_INFINITY;
    else if (this.pairsFrom === Number.POSITIVE_INFINITY) this.pairsFrom = this.#at - 3;
    const here = { at: this.#at - 1, to: this.#at, symbols: 0 };
    this.#replacements = withReplacement(this.#replacements, here, this.#searcher.maxReplacements);
    this.#digits = 0;
    this.#afterLetter = false;
    this.#ends = ROOT;
    this.#before = undefined;
  }

  #other(byte: number): void {
    this.#ends = ROOT;
    this.#begins = ROOT;
    this.#before = undefined;
    this.#digits = 0;
    this.#afterLetter = isLetter(byte);
    this.pairsFrom = Number.POSITIVE_INFINITY;
  }
}
