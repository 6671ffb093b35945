import { type Automaton, ROOT } from './automaton.ts';
import { escapedSextet, INDENT, LINE_BREAK, LINE_FEED, RUN_ENDS, SEXTETS } from './base64-alphabet.ts';
import { escapeAt, INTRODUCERS, lengthIn, NONE, valueIn } from './escapes.ts';
import type { OnMatch, Reading, TextPart } from './reading.ts';
import { type Replacement, startOf, withReplacement } from './replacements.ts';
import type { Searcher } from './searcher.ts';
import { ShortRuns } from './short-runs.ts';

/** Encoders break lines after 60, 64 or 76 characters, or a few less in the first one if a name comes before it. */
const SHORTEST_LINE = 60;
const LONGEST_LINE = 76;

/**
 * Reads base64: decodes each run of its characters as four texts, since a group may begin at any of four places. Line breaks
 * within a run, with an indent or without, are skipped, and single characters may be escaped. Characters that form an
 * escape may also end one run and begin another (`k=2Bx…`): so they are also read literally, from the second one on.
 */
export class Base64Reading implements Reading {
  /** Where the first of several whole lines begins, if the run may go on after the last one; else infinity. */
  linesFrom = Number.POSITIVE_INFINITY;
  readonly #automaton: Automaton;
  readonly #searcher: Searcher;
  readonly #short: ShortRuns;
  #at: number;
  /** The states of the four texts, by where the next character is in a group: first, second, third, fourth. */
  #states: [number, number, number, number] = [ROOT, ROOT, ROOT, ROOT];
  /** The six bits of the last character; undefined before a run. */
  #before: number | undefined;
  #replacements: Replacement | undefined;
  /** Line feeds since the last character, not counting escaped ones; -1 if there was no line break at all. */
  #breaks = -1;
  #lineFrom: number;
  /** Reads the characters of an escape, and the run after it, literally. One is enough: it ends at the next escape. */
  #literal: Base64Reading | undefined;
  readonly #decodes: boolean;

  /** @param decodes false to read escapes literally */
  constructor(searcher: Searcher, at: number, decodes = true) {
    const { automaton, minBytes } = searcher;
    this.#searcher = searcher;
    this.#short = new ShortRuns(Math.min(SHORTEST_LINE, Math.ceil((minBytes * 8) / 6)), RUN_ENDS);
    this.#automaton = automaton;
    this.#at = at;
    this.#lineFrom = at;
    this.#decodes = decodes;
  }

  read(text: TextPart, onMatch: OnMatch): void {
    if (this.#literal?.readRun(text, onMatch) === false) this.#literal = undefined;
    while (this.#at < text.until) {
      if (this.#before === undefined) this.#skipShort(text);
      this.#run(text, onMatch);
      if (this.#at < text.until) this.#other(text, onMatch);
    }
  }

  /** Reads up to the end of a run. @returns true if the run may go on after the text */
  readRun(text: TextPart, onMatch: OnMatch): boolean {
    do {
      this.#run(text, onMatch);
      if (this.#at >= text.until) return true;
      this.#other(text, onMatch);
    } while (this.#before !== undefined);
    return false;
  }

  #skipShort({ bytes, base, until }: TextPart): void {
    const at = this.#short.skip(bytes, base, this.#at, until);
    if (at > this.#at) this.linesFrom = Number.POSITIVE_INFINITY;
    this.#at = at;
  }

  copy(searcher: Searcher): Base64Reading {
    const copy = new Base64Reading(searcher, this.#at, this.#decodes);
    const moved = (state: number) => searcher.automaton.stateFor(this.#automaton, state);
    const [first, second, third, fourth] = this.#states;
    copy.#states = [moved(first), moved(second), moved(third), moved(fourth)];
    copy.#before = this.#before;
    copy.#replacements = this.#replacements;
    copy.#breaks = this.#breaks;
    copy.#lineFrom = this.#lineFrom;
    copy.linesFrom = this.linesFrom;
    copy.#literal = this.#literal?.copy(searcher);
    return copy;
  }

  /** Reads up to the next character that is not base64. */
  #run({ bytes, base, until }: TextPart, onMatch: OnMatch): void {
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
        ended = this.#state(ended, 2, place, onMatch);
        continued = this.#state(continued, 4, place, onMatch);
        whole = this.#state(whole, 6, place, onMatch);
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

  /** The state in an entry of the table; reports a match if the entry is negative. */
  #state(entry: number, used: number, end: number, onMatch: OnMatch): number {
    if (entry >= 0) return entry;
    this.#matched(~entry, used, end, onMatch);
    return ~entry;
  }

  /** @param used how many of the last character's six bits belong to the match */
  #matched(state: number, used: number, end: number, onMatch: OnMatch): void {
    const bits = 8 * this.#automaton.longestEnd(state) - used;
    onMatch(startOf(1 + Math.ceil(bits / 6), end, this.#replacements), end);
  }

  /** Reads one character that is not base64: it is an escape, or interrupts the run, or ends it. */
  #other(text: TextPart, onMatch: OnMatch): void {
    const { bytes, base, final } = text;
    const at = this.#at - base;
    const byte = bytes[at]!;
    const kind = SEXTETS[byte]!;
    const found = this.#decodes && INTRODUCERS[byte] === 1 ? escapeAt(bytes, at, final) : NONE;
    if (found > NONE) this.#escaped(found, text, onMatch);
    else if (this.#before === undefined) this.#end();
    else if (kind === LINE_BREAK) this.#break(byte);
    else if (kind === INDENT && this.#breaks >= 0) this.#indent();
    else this.#end();
  }

  #escaped(found: number, text: TextPart, onMatch: OnMatch): void {
    const length = lengthIn(found);
    const sextet = escapedSextet(valueIn(found));
    const begins = this.#before === undefined;
    if (sextet < 0 && (sextet !== LINE_BREAK || begins)) {
      this.#end();
      return;
    }
    this.#readLiterally(length, text, onMatch);
    if (sextet === LINE_BREAK) {
      this.#breaks = Math.max(this.#breaks, 0);
      this.#replace(length, 0);
    } else {
      this.#breaks = -1;
      if (begins) this.#begin(this.#at);
      this.#replace(length, 1);
      if (begins) this.#before = sextet;
      else this.#step(sextet, onMatch);
    }
  }

  /** Reads the base64 characters of an escape literally, and the run after it. */
  #readLiterally(length: number, text: TextPart, onMatch: OnMatch): void {
    const end = this.#at + length;
    let from = this.#at + 1;
    while (from < end && SEXTETS[text.bytes[from - text.base]!]! < 0) from++;
    if (from === end) return;
    const reading = new Base64Reading(this.#searcher, from, false);
    if (reading.readRun(text, onMatch)) this.#literal = reading;
  }

  #begin(at: number): void {
    this.#replacements = undefined;
    this.#lineFrom = at;
  }

  #step(sextet: number, onMatch: OnMatch): void {
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
      if (automaton.longestEnd(state) > 0) this.#matched(state, used, this.#at, onMatch);
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
    if (this.#breaks > 1) this.linesFrom = Number.POSITIVE_INFINITY; // An empty line ends the run of lines.
    this.#replace(1, 0);
    this.#lineFrom = this.#at;
  }

  /** An indent doesn't count towards the length of a line. */
  #indent(): void {
    this.#replace(1, 0);
    this.#lineFrom = this.#at;
  }

  #replace(length: number, symbols: number): void {
    const [at, to] = [this.#at, this.#at + length];
    this.#replacements = withReplacement(
      this.#replacements,
      { at, to, symbols },
      this.#searcher.maxReplacements,
    );
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
