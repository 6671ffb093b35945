import { type Automaton, ROOT } from './automaton.ts';
import { escapeAt, INTRODUCERS, lengthIn, NONE, NOTHING, valueIn } from './escapes.ts';
import { type Detour, detour, startOf } from './history.ts';
import type { Reading, Strike, Text } from './reading.ts';
import type { Searcher } from './searcher.ts';
import { ShortRuns } from './skip.ts';

/** What six bits a character stands for, in either alphabet (RFC 4648 §4 and §5); else how to go on. */
const OTHER = -1;
const LINE_BREAK = -2;
const INDENT = -3;
const SEXTETS = new Int8Array(256).fill(OTHER);
for (const alphabet of ['+/', '-_']) {
  const characters = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (let value = 0; value < 64; value++) SEXTETS[characters.charCodeAt(value)] = value;
}
const LINE_FEED = 0x0a;
SEXTETS[LINE_FEED] = LINE_BREAK;
SEXTETS[0x0d] = LINE_BREAK;
SEXTETS[0x20] = INDENT;
SEXTETS[0x09] = INDENT;

/** Around base64 the last two of its characters are escaped, and line breaks are; all others stand for themselves. */
function escapedSextet(value: number): number {
  if (value === NOTHING) return LINE_BREAK;
  const sextet = SEXTETS[value] ?? OTHER;
  return sextet >= 62 || sextet === LINE_BREAK ? sextet : OTHER;
}

/** What no run goes on behind, however it is broken into lines and escaped. */
const ENDS = Uint8Array.from(SEXTETS, (kind, byte) => (kind === OTHER && INTRODUCERS[byte] === 0 ? 1 : 0));
// Behind a line's end they don't, but that is no matter where a run is yet to begin.
for (const indent of ' \t') ENDS[indent.charCodeAt(0)] = 1;

/** As encoders break lines: 60, 64 or 76 characters, or a few less where a name stands before the first. */
const SHORTEST_LINE = 60;
const LONGEST_LINE = 76;

/**
 * What an answer holds in base64: each run of its characters is decoded as four texts, one for each place at which a
 * group may begin. Line breaks (and blanks behind them) within a run are passed over, and single characters may be
 * escaped. What is read as an escape may also be the end of one run and the beginning of another (`k=2Bx…`): the characters
 * behind its first are read as they stand, too.
 */
export class Base64Reading implements Reading {
  /** Where the first of several whole lines begins, the last of which may go on: a run over lines. */
  linesFrom = Number.POSITIVE_INFINITY;
  readonly #automaton: Automaton;
  readonly #searcher: Searcher;
  readonly #short: ShortRuns;
  #at: number;
  /** By what place the next character has: those of which it begins, continues, continues, and ends a group. */
  #states: [number, number, number, number] = [ROOT, ROOT, ROOT, ROOT];
  /** The six bits before; undefined at a run's beginning. */
  #before: number | undefined;
  #detours: Detour | undefined;
  /** Line ends since the last character, a lone CR for none yet; -1 where there is none. */
  #breaks = -1;
  #lineFrom: number;
  /** The characters of an escape, and the run behind it, as they stand. One is enough: it ends at the next escape. */
  #asItStands: Base64Reading | undefined;
  readonly #decodes: boolean;

  /** @param decodes false for a reading that takes no escape for one */
  constructor(searcher: Searcher, at: number, decodes = true) {
    const { automaton, leastBytes } = searcher;
    this.#searcher = searcher;
    this.#short = new ShortRuns(Math.min(SHORTEST_LINE, Math.ceil((leastBytes * 8) / 6)), ENDS);
    this.#automaton = automaton;
    this.#at = at;
    this.#lineFrom = at;
    this.#decodes = decodes;
  }

  read(text: Text, strike: Strike): void {
    if (this.#asItStands?.readRun(text, strike) === false) this.#asItStands = undefined;
    while (this.#at < text.until) {
      if (this.#before === undefined) this.#skipShort(text);
      this.#run(text, strike);
      if (this.#at < text.until) this.#other(text, strike);
    }
  }

  /** Reads on to the end of one run. @returns whether it may go on behind the text */
  readRun(text: Text, strike: Strike): boolean {
    do {
      this.#run(text, strike);
      if (this.#at >= text.until) return true;
      this.#other(text, strike);
    } while (this.#before !== undefined);
    return false;
  }

  #skipShort({ bytes, base, until }: Text): void {
    const at = this.#short.skip(bytes, base, this.#at, until);
    if (at > this.#at) this.linesFrom = Number.POSITIVE_INFINITY;
    this.#at = at;
  }

  copy(): Base64Reading {
    const copy = new Base64Reading(this.#searcher, this.#at, this.#decodes);
    copy.#states = [...this.#states];
    copy.#before = this.#before;
    copy.#detours = this.#detours;
    copy.#breaks = this.#breaks;
    copy.#asItStands = this.#asItStands?.copy();
    return copy;
  }

  /** Up to the next character that is none of base64. */
  #run({ bytes, base, until }: Text, strike: Strike): void {
    const { table, columns } = this.#automaton;
    let [first, second, third, fourth] = this.#states;
    let at = this.#at - base;
    let before = this.#before;
    const end = until - base;
    if (at < end && SEXTETS[bytes[at]!]! >= 0) {
      this.#breaks = -1;
      if (before === undefined) {
        this.#begin(base + at);
        before = SEXTETS[bytes[at++]!]!;
      }
    }
    for (; at < end; at++) {
      const sextet = SEXTETS[bytes[at]!]!;
      if (sextet < 0) break;
      const bits = (before! << 6) | sextet;
      before = sextet;
      let ended = table[second + columns[(bits >> 4) & 0xff]!]!;
      let continued = table[third + columns[(bits >> 2) & 0xff]!]!;
      let whole = table[fourth + columns[bits & 0xff]!]!;
      if ((ended | continued | whole) < 0) {
        const place = base + at + 1;
        ended = this.#state(ended, 2, place, strike);
        continued = this.#state(continued, 4, place, strike);
        whole = this.#state(whole, 6, place, strike);
      }
      second = first;
      first = whole;
      fourth = continued;
      third = ended;
    }
    this.#states = [first, second, third, fourth];
    this.#before = before;
    this.#at = base + at;
  }

  /** What an entry of the table says: where it is negative, a match has ended. */
  #state(entry: number, used: number, end: number, strike: Strike): number {
    if (entry >= 0) return entry;
    this.#ended(~entry, used, end, strike);
    return ~entry;
  }

  /** @param used how many of the last character's six bits belong to it */
  #ended(state: number, used: number, end: number, strike: Strike): void {
    const bits = 8 * this.#automaton.longestEnd(state) - used;
    strike(startOf(1 + Math.ceil(bits / 6), end, this.#detours), end);
  }

  /** A character that stands for none of base64, or is written otherwise, or interrupts it, or ends it. */
  #other(text: Text, strike: Strike): void {
    const { bytes, base, final } = text;
    const at = this.#at - base;
    const byte = bytes[at]!;
    const kind = SEXTETS[byte]!;
    const found = this.#decodes && INTRODUCERS[byte] === 1 ? escapeAt(bytes, at, final) : NONE;
    if (found > NONE) this.#escaped(found, text, strike);
    else if (this.#before === undefined) this.#end();
    else if (kind === LINE_BREAK) this.#break(byte);
    else if (kind === INDENT && this.#breaks >= 0) this.#indent();
    else this.#end();
  }

  #escaped(found: number, text: Text, strike: Strike): void {
    const length = lengthIn(found);
    const sextet = escapedSextet(valueIn(found));
    const begins = this.#before === undefined;
    if (sextet < 0 && (sextet !== LINE_BREAK || begins)) {
      this.#end();
      return;
    }
    this.#readAsItStands(length, text, strike);
    if (sextet === LINE_BREAK) {
      this.#detour(length, 0);
    } else {
      if (begins) this.#begin(this.#at);
      this.#detour(length, 1);
      if (begins) this.#before = sextet;
      else this.#step(sextet, strike);
    }
  }

  /** What of an escape is base64 by itself, and the run behind it. */
  #readAsItStands(length: number, text: Text, strike: Strike): void {
    const end = this.#at + length;
    let from = this.#at + 1;
    while (from < end && SEXTETS[text.bytes[from - text.base]!]! < 0) from++;
    if (from === end) return;
    const reading = new Base64Reading(this.#searcher, from, false);
    if (reading.readRun(text, strike)) this.#asItStands = reading;
  }

  #begin(at: number): void {
    this.#detours = undefined;
    this.#lineFrom = at;
  }

  #step(sextet: number, strike: Strike): void {
    const automaton = this.#automaton;
    const [first, second, third, fourth] = this.#states;
    const bits = (this.#before! << 6) | sextet;
    const ended = automaton.step(second, (bits >> 4) & 0xff);
    const continued = automaton.step(third, (bits >> 2) & 0xff);
    const whole = automaton.step(fourth, bits & 0xff);
    for (const [state, used] of [
      [ended, 2],
      [continued, 4],
      [whole, 6],
    ] as const) {
      if (automaton.longestEnd(state) > 0) this.#ended(state, used, this.#at, strike);
    }
    this.#states = [whole, first, ended, continued];
    this.#before = sextet;
  }

  #break(byte: number): void {
    if (this.#breaks < 0) {
      const line = this.#at - this.#lineFrom;
      const whole = line >= SHORTEST_LINE && line <= LONGEST_LINE;
      if (!whole) this.linesFrom = Number.POSITIVE_INFINITY;
      else if (this.linesFrom === Number.POSITIVE_INFINITY) this.linesFrom = this.#lineFrom;
      this.#breaks = 0;
    }
    if (byte === LINE_FEED) this.#breaks++;
    if (this.#breaks > 1) this.linesFrom = Number.POSITIVE_INFINITY; // An empty line ends them.
    this.#detour(1, 0);
    this.#lineFrom = this.#at;
  }

  /** A line is as long as its characters: blanks before them are none of it. */
  #indent(): void {
    this.#detour(1, 0);
    this.#lineFrom = this.#at;
  }

  #detour(length: number, symbols: number): void {
    const [at, to] = [this.#at, this.#at + length];
    this.#detours = detour(this.#detours, { at, to, symbols }, this.#searcher.mostDetours);
    this.#at = to;
  }

  #end(): void {
    this.#states = [ROOT, ROOT, ROOT, ROOT];
    this.#before = undefined;
    this.#breaks = -1;
    this.linesFrom = Number.POSITIVE_INFINITY;
    this.#at++;
  }
}
