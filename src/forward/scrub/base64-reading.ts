import { type Automaton, ROOT } from './automaton.ts';
import { escapedSextet, INDENT, LINE_BREAK, RUN_ENDS, SEXTETS } from './base64-alphabet.ts';
import { Base64Lines, SHORTEST_LINE } from './base64-lines.ts';
import { escapeAt, INTRODUCERS, lengthIn, NONE, valueIn } from './escapes.ts';
import type { OnMatch, Reading, TextPart } from './reading.ts';
import { type Replacement, startOf, withReplacement } from './replacements.ts';
import type { Searcher } from './searcher.ts';
import { ShortRuns } from './short-runs.ts';

/** Two readings of an escape mostly become one again after so many characters. */
const BESIDE_BYTES = 6;
/** Further readings are dropped. */
const MAX_OTHERS = 3;

/**
 * Reads base64: decodes each run of its characters as four texts, since a group may begin at any of four places. Line breaks
 * within a run, with an indent or without, are skipped, and single characters may be escaped. Characters that form an
 * escape may also end one run and begin another (`k=2Bx…`): so another reading takes them literally. Behind the escape both
 * read the same; a reading ends as soon as all that it may find is found by the other.
 */
export class Base64Reading implements Reading {
  readonly #automaton: Automaton;
  readonly #searcher: Searcher;
  readonly #short: ShortRuns;
  #at: number;
  /** The states of the four texts, by where the next character is in a group: first, second, third, fourth. */
  #states: [number, number, number, number] = [ROOT, ROOT, ROOT, ROOT];
  /** The six bits of the last character; undefined before a run. */
  #before: number | undefined;
  #replacements: Replacement | undefined;
  #lines: Base64Lines;
  /** Each has read an escape of this run literally. */
  #others: Base64Reading[] = [];
  /** False for one of these: it needs no others, because an escape that is read literally ends the run before it. */
  readonly #branches: boolean;

  constructor(searcher: Searcher, at: number, branches = true) {
    const { automaton, minBytes } = searcher;
    this.#searcher = searcher;
    this.#short = new ShortRuns(Math.min(SHORTEST_LINE, Math.ceil((minBytes * 8) / 6)), RUN_ENDS);
    this.#automaton = automaton;
    this.#at = at;
    this.#lines = new Base64Lines(at);
    this.#branches = branches;
  }

  /** Where the first of several whole lines begins, if the run may go on after the last one; else infinity. */
  get linesFrom(): number {
    return this.#lines.wholeFrom;
  }

  read(text: TextPart, onMatch: OnMatch): void {
    while (this.#at < text.until) {
      if (this.#others.length > 0) this.#readBeside(text, onMatch);
      else this.#readOn(text, onMatch);
    }
  }

  #readOn(text: TextPart, onMatch: OnMatch): void {
    if (this.#before === undefined) this.#skipShort(text);
    this.#run(text, onMatch);
    if (this.#at < text.until) this.#other(text, onMatch);
  }

  /** Reads a few characters with all readings, and compares them. */
  #readBeside(text: TextPart, onMatch: OnMatch): void {
    const part = { ...text, until: Math.min(text.until, this.#at + BESIDE_BYTES) };
    while (this.#at < part.until) this.#readOn(part, onMatch);
    this.#others = this.#others
      .filter((other) => other.#readRun(part, onMatch) && this.#goesOn(other))
      .slice(0, MAX_OTHERS);
  }

  /** Reads up to the end of a run. @returns true if the run may go on after the text */
  #readRun(text: TextPart, onMatch: OnMatch): boolean {
    while (this.#at < text.until) {
      this.#run(text, onMatch);
      if (this.#at < text.until) this.#other(text, onMatch);
      if (this.#before === undefined) return false;
    }
    return true;
  }

  /** False if one of the two readings is enough. It is this one then. */
  #goesOn(other: Base64Reading): boolean {
    if (this.#before === undefined) return false;
    if (other.#at !== this.#at || other.#before !== this.#before) return true;
    if (this.#covers(other)) return false;
    if (!other.#covers(this)) return true;
    this.#states = other.#states;
    this.#replacements = other.#replacements;
    return false;
  }

  #covers(other: Base64Reading): boolean {
    return this.#states.every((state, i) => this.#automaton.covers(state, other.#states[i]!));
  }

  #skipShort({ bytes, base, until }: TextPart): void {
    const at = this.#short.skip(bytes, base, this.#at, until);
    if (at > this.#at) this.#lines.end();
    this.#at = at;
  }

  copy(searcher: Searcher): Base64Reading {
    const copy = new Base64Reading(searcher, this.#at, this.#branches);
    const moved = (state: number) => searcher.automaton.stateFor(this.#automaton, state);
    const [first, second, third, fourth] = this.#states;
    copy.#states = [moved(first), moved(second), moved(third), moved(fourth)];
    copy.#before = this.#before;
    copy.#replacements = this.#replacements;
    copy.#lines = this.#lines.copy();
    copy.#others = this.#others.map((other) => other.copy(searcher));
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
      this.#lines.goOn();
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
    const found = INTRODUCERS[byte] === 1 ? escapeAt(bytes, at, final) : NONE;
    if (found > NONE) this.#escaped(found, text, onMatch);
    else if (this.#before === undefined) this.#end();
    else if (kind === LINE_BREAK) this.#break(byte);
    else if (kind === INDENT && this.#lines.atStart) this.#indent();
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
      this.#lines.escapedBreak();
      this.#replace(length, 0);
    } else {
      this.#lines.goOn();
      if (begins) this.#begin(this.#at);
      this.#replace(length, 1);
      if (begins) this.#before = sextet;
      else this.#step(sextet, onMatch);
    }
  }

  /** Begins a reading that takes the base64 characters of an escape literally. */
  #readLiterally(length: number, text: TextPart, onMatch: OnMatch): void {
    if (!this.#branches) return;
    const until = this.#at + length;
    let from = this.#at + 1;
    while (from < until && SEXTETS[text.bytes[from - text.base]!]! < 0) from++;
    if (from === until) return;
    const other = new Base64Reading(this.#searcher, from, false);
    if (other.#readRun({ ...text, until }, onMatch)) this.#others.push(other);
  }

  #begin(at: number): void {
    this.#replacements = undefined;
    this.#lines.begin(at);
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
    this.#lines.break(byte, this.#at);
    this.#replace(1, 0);
  }

  #indent(): void {
    this.#lines.indent(this.#at);
    this.#replace(1, 0);
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
    this.#lines.end();
    this.#at++;
  }
}
