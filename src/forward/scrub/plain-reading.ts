import { type Automaton, ROOT } from './automaton.ts';
import { bytesIn, escapeAt, hasOtherBytes, INTRODUCERS, lengthIn, NONE, otherBytesIn } from './escapes.ts';
import type { OnMatch, Reading, TextPart } from './reading.ts';
import { type Replacement, startOf, withReplacement } from './replacements.ts';
import type { Searcher } from './searcher.ts';

const PLUS = 0x2b;
const BLANK = 0x20;
const ONE_BLANK = [BLANK];
/** Paths besides the first one; further ones are dropped. Only a secret that itself holds escapes needs several. */
const MAX_PATHS = 3;

/** One way to read the text so far: each escape as itself, or as what it stands for. */
interface Path {
  state: number;
  replacements: Replacement | undefined;
}

/** A path that has read an escape, and goes on after it. */
interface Jump extends Path {
  readonly to: number;
  /** The escape stands for a byte at least; a line break of quoted-printable stands for none. */
  readonly reads: boolean;
}

/**
 * Reads an answer as it is, with escapes of single characters in any mixture. Each escape is read both literally and as the
 * character that it stands for, since a secret may hold either. That makes two paths, but one of them mostly returns to the
 * root soon, so that the other goes on alone.
 */
export class PlainReading implements Reading {
  readonly #automaton: Automaton;
  readonly #searcher: Searcher;
  /** A form writes a blank as `+`, which matters only if a secret holds a blank. */
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
    this.#path = { state: ROOT, replacements: undefined };
  }

  read(text: TextPart, onMatch: OnMatch): void {
    while (this.#at < text.until) {
      if (this.#jumps.length === 0 && this.#others.length === 0) this.#run(text, onMatch);
      if (this.#at < text.until) this.#readByte(text, onMatch);
    }
    this.#endJumps(onMatch);
  }

  copy(searcher: Searcher): PlainReading {
    const copy = new PlainReading(searcher, this.#at);
    const moved = <P extends Path>(path: P): P => {
      return { ...path, state: searcher.automaton.stateFor(this.#automaton, path.state) };
    };
    copy.#path = moved(this.#path);
    copy.#others = this.#others.map(moved);
    copy.#jumps = this.#jumps.map(moved);
    return copy;
  }

  /** Reads up to the next escape, or the end of the text: the path of nearly all bytes. */
  #run({ bytes, base, until, final }: TextPart, onMatch: OnMatch): void {
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
        this.#matched(this.#path, base + at + 1, onMatch);
      }
    }
    this.#path.state = state;
    this.#at = base + at;
  }

  /** Reads one byte, on all paths. */
  #readByte(text: TextPart, onMatch: OnMatch): void {
    this.#endJumps(onMatch);
    const byte = text.bytes[this.#at - text.base]!;
    if (INTRODUCERS[byte] === 1) {
      const found = escapeAt(text.bytes, this.#at - text.base, text.final);
      if (found > NONE) {
        this.#branch(lengthIn(found), bytesIn(found));
        if (hasOtherBytes(found)) this.#branch(lengthIn(found), otherBytesIn(found));
      }
    } else if (this.#blanks && byte === PLUS) {
      this.#branch(1, ONE_BLANK);
    }
    this.#at++;
    this.#step(this.#path, byte, onMatch);
    if (this.#others.length === 0) return;
    for (const path of this.#others) this.#step(path, byte, onMatch);
    this.#others = this.#others.filter(({ state }) => state !== ROOT);
  }

  #step(path: Path, byte: number, onMatch: OnMatch): void {
    path.state = this.#automaton.step(path.state, byte);
    this.#matched(path, this.#at, onMatch);
  }

  #matched({ state, replacements }: Path, end: number, onMatch: OnMatch): void {
    const length = this.#automaton.longestEnd(state);
    if (length > 0) onMatch(startOf(length, end, replacements), end);
  }

  /** Begins a path for an escape of `length` bytes, which stands for the bytes in `read`. */
  #branch(length: number, read: readonly number[]): void {
    this.#jump(this.#path, length, read);
    for (const path of this.#others) this.#jump(path, length, read);
  }

  #jump(path: Path, length: number, read: readonly number[]): void {
    let { state } = path;
    for (const byte of read) state = this.#automaton.step(state, byte);
    const symbols = read.length;
    const here = { at: this.#at, to: this.#at + length, symbols };
    // At the root nothing of a match has been read, so what came before doesn't matter.
    const before = path.state === ROOT ? undefined : path.replacements;
    const replacements = withReplacement(before, here, this.#searcher.maxReplacements);
    this.#jumps.push({ state, replacements, to: here.to, reads: symbols > 0 });
  }

  /** Goes on with the paths whose escape ends here. */
  #endJumps(onMatch: OnMatch): void {
    const jumps = this.#jumps;
    let kept = 0;
    for (const jump of jumps) {
      if (jump.to === this.#at) {
        if (jump.reads) this.#matched(jump, this.#at, onMatch);
        this.#addPath(jump);
      } else {
        jumps[kept++] = jump;
      }
    }
    jumps.length = kept;
  }

  #addPath(path: Path): void {
    if (this.#covers(path, this.#path)) {
      this.#path = path;
      if (this.#others.length > 0) this.#others = this.#others.filter((other) => !this.#covers(path, other));
    } else if (!this.#covers(this.#path, path) && !this.#others.some((other) => this.#covers(other, path))) {
      this.#others = this.#others.filter((other) => !this.#covers(path, other));
      if (this.#others.length < MAX_PATHS) this.#others.push(path);
    }
  }

  #covers(outer: Path, inner: Path): boolean {
    return this.#automaton.covers(outer.state, inner.state);
  }
}
