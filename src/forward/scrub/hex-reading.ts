import { type Automaton, ROOT } from './automaton.ts';
import { HEX } from './escapes.ts';
import { type Detour, detour, startOf } from './history.ts';
import type { Reading, Strike, Text } from './reading.ts';
import type { Searcher } from './searcher.ts';
import { ShortRuns } from './skip.ts';

/** What stands between two bytes of a dump: a colon, a dash, a blank, a line's end. */
const SEPARATORS = new Uint8Array(256);
for (const separator of ':- \t\r\n') SEPARATORS[separator.charCodeAt(0)] = 1;

const ENDS = Uint8Array.from(HEX, (digit, byte) => (digit < 0 && SEPARATORS[byte] === 0 ? 1 : 0));

const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

/** What an answer holds in hexadecimal: each run of digits is decoded as two texts, for a byte may begin with either. */
export class HexReading implements Reading {
  /** Where the first of several bytes between blanks begins, the last of which may go on. */
  pairsFrom = Number.POSITIVE_INFINITY;
  readonly #automaton: Automaton;
  readonly #searcher: Searcher;
  readonly #short: ShortRuns;
  #at: number;
  /** Of the text of which the next digit ends a byte, and of the other. */
  #ends = ROOT;
  #begins = ROOT;
  /** The digit before; undefined where none belongs to the next one. */
  #before: number | undefined;
  #detours: Detour | undefined;
  /** Digits since the last separator. */
  #digits = 0;
  #behindLetter = false;

  constructor(searcher: Searcher, at: number) {
    const { automaton, leastBytes } = searcher;
    this.#searcher = searcher;
    this.#short = new ShortRuns(2 * leastBytes, ENDS);
    this.#automaton = automaton;
    this.#at = at;
  }

  read({ bytes, base, until }: Text, strike: Strike): void {
    while (this.#at < until) {
      if (this.#idle) this.#skip(bytes, base, until);
      if (this.#at === until) break;
      const byte = bytes[this.#at++ - base]!;
      const digit = HEX[byte]!;
      if (digit >= 0) this.#digit(digit, strike);
      else if (SEPARATORS[byte] === 1) this.#separator();
      else this.#other(byte);
    }
  }

  copy(): HexReading {
    const copy = new HexReading(this.#searcher, this.#at);
    copy.#ends = this.#ends;
    copy.#begins = this.#begins;
    copy.#before = this.#before;
    copy.#detours = this.#detours;
    return copy;
  }

  get #idle(): boolean {
    return this.#before === undefined && this.#begins === ROOT && this.#digits === 0;
  }

  /** Past what ends a run, and what is too short to be one. */
  #skip(bytes: Uint8Array, base: number, until: number): void {
    let at = this.#short.skip(bytes, base, this.#at, until);
    while (at < until && HEX[bytes[at - base]!]! < 0) at++;
    this.#detours = undefined;
    if (at === this.#at) return;
    this.#behindLetter = isLetter(bytes[at - 1 - base]!);
    this.pairsFrom = Number.POSITIVE_INFINITY;
    this.#at = at;
  }

  #digit(digit: number, strike: Strike): void {
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
        strike(startOf(digits, this.#at, this.#detours), this.#at);
      }
    }
    this.#ends = this.#begins;
    this.#begins = state;
  }

  /** It may stand between two bytes, and in none. */
  #separator(): void {
    if (this.#digits !== 2 || this.#behindLetter) this.pairsFrom = Number.POSITIVE_INFINITY;
    else if (this.pairsFrom === Number.POSITIVE_INFINITY) this.pairsFrom = this.#at - 3;
    const here = { at: this.#at - 1, to: this.#at, symbols: 0 };
    this.#detours = detour(this.#detours, here, this.#searcher.mostDetours);
    this.#digits = 0;
    this.#behindLetter = false;
    this.#ends = ROOT;
    this.#before = undefined;
  }

  #other(byte: number): void {
    this.#ends = ROOT;
    this.#begins = ROOT;
    this.#before = undefined;
    this.#digits = 0;
    this.#behindLetter = isLetter(byte);
    this.pairsFrom = Number.POSITIVE_INFINITY;
  }
}
