import { type Automaton, ROOT } from './automaton.ts';
import { bytesIn, escapeAt, INTRODUCERS, lengthIn, NONE } from './escapes.ts';
import { type Detour, detour, startOf } from './history.ts';
import type { Reading, Strike, Text } from './reading.ts';
import type { Searcher } from './searcher.ts';

const PLUS = 0x2b;
const BLANK = 0x20;
const ONE_BLANK = [BLANK];
/** A secret that itself holds escapes may be read in more than one way at once; so many count. */
const MOST_PATHS = 3;

/** One of the ways to read what has come: each escape for itself, or for what it stands for. */
interface Path {
  state: number;
  detours: Detour | undefined;
}

/** A path by way of an escape, which gets to the text behind it. */
interface Jump extends Path {
  readonly to: number;
  /** Something was read by it: a line break of the encoding is nothing. */
  readonly reads: boolean;
}

/**
 * An answer as it is, with escapes for single characters in any mixture. An escape is read both ways, as its own
 * characters and as the one that it stands for: a secret may hold either. That makes two paths, and mostly one of them
 * is at the root at once, so that the other goes on alone.
 */
export class PlainReading implements Reading {
  readonly #automaton: Automaton;
  readonly #searcher: Searcher;
  /** A form has `+` for a blank; of interest where a secret holds one. */
  readonly #blanks: boolean;
  #at = 0;
  #path: Path;
  #others: Path[] = [];
  #jumps: Jump[] = [];

  constructor(searcher: Searcher, at: number) {
    const { automaton } = searcher;
    this.#searcher = searcher;
    this.#automaton = automaton;
    this.#blanks = automaton.holds(BLANK);
    this.#at = at;
    this.#path = { state: ROOT, detours: undefined };
  }

  read(text: Text, strike: Strike): void {
    while (this.#at < text.until) {
      if (this.#jumps.length === 0 && this.#others.length === 0) this.#run(text, strike);
      if (this.#at < text.until) this.#one(text, strike);
    }
    this.#land(strike);
  }

  copy(): PlainReading {
    const copy = new PlainReading(this.#searcher, this.#at);
    copy.#path = { ...this.#path };
    copy.#others = this.#others.map((path) => ({ ...path }));
    copy.#jumps = [...this.#jumps];
    return copy;
  }

  /** Up to the next escape, or the end: nearly all that there is to do. */
  #run({ bytes, base, until, final }: Text, strike: Strike): void {
    const { table, columns } = this.#automaton;
    const blanks = this.#blanks;
    const end = until - base;
    let { state } = this.#path;
    let at = this.#at - base;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (INTRODUCERS[byte] === 1 ? escapeAt(bytes, at, final) !== NONE : blanks && byte === PLUS) break;
      state = table[state + columns[byte]!]!;
      if (state < 0) {
        state = ~state;
        this.#path.state = state;
        this.#ended(this.#path, base + at + 1, strike);
      }
    }
    this.#path.state = state;
    this.#at = base + at;
  }

  /** One byte, with all paths. */
  #one(text: Text, strike: Strike): void {
    this.#land(strike);
    const byte = text.bytes[this.#at - text.base]!;
    if (INTRODUCERS[byte] === 1) {
      const found = escapeAt(text.bytes, this.#at - text.base, text.final);
      if (found > NONE) this.#leave(lengthIn(found), bytesIn(found));
    } else if (this.#blanks && byte === PLUS) {
      this.#leave(1, ONE_BLANK);
    }
    this.#at++;
    this.#step(this.#path, byte, strike);
    if (this.#others.length === 0) return;
    for (const path of this.#others) this.#step(path, byte, strike);
    this.#others = this.#others.filter(({ state }) => state !== ROOT);
  }

  #step(path: Path, byte: number, strike: Strike): void {
    path.state = this.#automaton.step(path.state, byte);
    this.#ended(path, this.#at, strike);
  }

  #ended({ state, detours }: Path, end: number, strike: Strike): void {
    const length = this.#automaton.longestEnd(state);
    if (length > 0) strike(startOf(length, end, detours), end);
  }

  /** Begins the paths by way of an escape. */
  #leave(length: number, read: readonly number[]): void {
    this.#jump(this.#path, length, read);
    for (const path of this.#others) this.#jump(path, length, read);
  }

  #jump(path: Path, length: number, read: readonly number[]): void {
    let { state } = path;
    for (const byte of read) state = this.#automaton.step(state, byte);
    const symbols = read.length;
    const here = { at: this.#at, to: this.#at + length, symbols };
    // What was read before the root is of no interest any more.
    const before = path.state === ROOT ? undefined : path.detours;
    const detours = detour(before, here, this.#searcher.mostDetours);
    this.#jumps.push({ state, detours, to: here.to, reads: symbols > 0 });
  }

  /** Takes up the paths that have jumped to this place. */
  #land(strike: Strike): void {
    const jumps = this.#jumps;
    let kept = 0;
    for (const jump of jumps) {
      if (jump.to === this.#at) {
        if (jump.reads) this.#ended(jump, this.#at, strike);
        this.#join(jump);
      } else {
        jumps[kept++] = jump;
      }
    }
    jumps.length = kept;
  }

  #join(path: Path): void {
    if (this.#covers(path, this.#path)) {
      this.#path = path;
      if (this.#others.length > 0) this.#others = this.#others.filter((other) => !this.#covers(path, other));
    } else if (!this.#covers(this.#path, path) && !this.#others.some((other) => this.#covers(other, path))) {
      this.#others = this.#others.filter((other) => !this.#covers(path, other));
      if (this.#others.length < MOST_PATHS) this.#others.push(path);
    }
  }

  #covers(outer: Path, inner: Path): boolean {
    return this.#automaton.covers(outer.state, inner.state);
  }
}
