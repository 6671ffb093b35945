import type { Searcher, Track, Window } from './searcher.ts';
import type { Unit } from './unit.ts';

const STAR = 0x2a;
const NOTHING = Buffer.alloc(0);

/** A match under way. */
interface Thread {
  /** Where it began, in the piece at hand; below 0 in what is held back. */
  start: number;
  readonly track: Track;
  position: number;
  unit: Unit;
}

/** Counts the steps of all searches, so that a place of a pattern knows whether it was reached in this one. */
let step = 0;

/**
 * One text in pieces, in which each byte of a match becomes `*`. What may still become a match is held back until the
 * next piece; all else goes on at once, and as the same memory where nothing was found in it.
 */
export class Scrubber {
  /** Something was found. */
  found = false;
  readonly #searcher: Searcher;
  /** In the order of their starts. */
  #threads: Thread[] = [];
  /** Those of the byte before, for their memory. */
  #others: Thread[] = [];
  /** All from the start of the first thread to the end of the piece before. */
  #held: Buffer = NOTHING;
  /** What will go on of the piece at hand: itself, until a match is found in it. */
  #out: Buffer = NOTHING;

  constructor(searcher: Searcher) {
    this.#searcher = searcher;
  }

  /** What may go on of all that has come: of what was held back, and of the piece. */
  push(piece: Buffer): readonly Buffer[] {
    this.#out = piece;
    this.#search(piece);
    const [held, out] = [this.#held, this.#out];
    const until = this.#threads[0]?.start ?? piece.length;
    for (const thread of this.#threads) thread.start -= piece.length;
    this.#out = NOTHING;
    if (until < 0) {
      const from = held.length + until;
      this.#held = Buffer.concat([held.subarray(from), out]);
      return parts(held.subarray(0, from));
    }
    // A copy: the memory of a piece is its reader's, who may use it again.
    this.#held = until === piece.length ? NOTHING : Buffer.from(out.subarray(until));
    return parts(held, until === piece.length ? out : out.subarray(0, until));
  }

  /** What was held back, for nothing more comes. */
  end(): Buffer {
    const rest = this.#held;
    this.#held = NOTHING;
    this.#threads = [];
    return rest;
  }

  #search(bytes: Buffer): void {
    let window: Window = { first: 0, last: -1 };
    for (let at = 0; at < bytes.length; at++) {
      if (at > window.last) window = this.#searcher.window(bytes, at);
      if (this.#threads.length > 0) {
        this.#step(bytes, at);
      } else {
        at = this.#skip(bytes, at, window);
        step++;
      }
      if (at >= window.first && at <= window.last) this.#open(bytes, at);
    }
  }

  /** Nothing is under way: the first byte in the window that a match may begin with, or the window's last. */
  #skip(bytes: Buffer, from: number, { first, last }: Window): number {
    let at = Math.max(from, first);
    while (at < last && this.#searcher.openingsAt(bytes, at) === undefined) at++;
    return at;
  }

  /** All that is under way goes on with one byte, or ends there. */
  #step(bytes: Buffer, at: number): void {
    const byte = bytes[at]!;
    const before = this.#threads;
    this.#threads = this.#others;
    this.#others = before;
    step++;
    for (const thread of before) {
      const below = thread.unit.next.get(byte);
      if (below !== undefined) this.#advance(thread, below, bytes, at);
    }
    before.length = 0;
  }

  /** What begins with a byte. */
  #open(bytes: Buffer, at: number): void {
    for (const { track, unit } of this.#searcher.openingsAt(bytes, at) ?? []) {
      this.#advance({ start: at, track, position: 0, unit }, unit, bytes, at);
    }
  }

  #advance(thread: Thread, unit: Unit, bytes: Buffer, at: number): void {
    const { start, track, position } = thread;
    const goesOn = unit.next.size > 0;
    if (goesOn) {
      thread.unit = unit;
      this.#threads.push(thread);
    }
    if (!unit.ends) return;
    const after = track.pattern[position + 1];
    if (after === undefined) {
      this.#strike(bytes, start, at + 1);
    } else if (track.reachedAt[position + 1] !== step) {
      // Of several that have come to one place, only the first that began counts: the others lie within it.
      track.reachedAt[position + 1] = step;
      if (goesOn) {
        this.#threads.push({ start, track, position: position + 1, unit: after });
      } else {
        thread.position++;
        thread.unit = after;
        this.#threads.push(thread);
      }
    }
  }

  #strike(bytes: Buffer, start: number, end: number): void {
    this.found = true;
    const held = this.#held;
    if (start < 0) held.fill(STAR, held.length + start, Math.min(held.length, held.length + end));
    if (this.#out === bytes) this.#out = Buffer.from(bytes);
    this.#out.fill(STAR, Math.max(0, start), end);
  }
}

function parts(...all: readonly Buffer[]): readonly Buffer[] {
  return all.filter(({ length }) => length > 0);
}

/** A text that is whole; each character a byte. The same where nothing was found. */
export function scrubText(searcher: Searcher, text: string): string {
  const scrubber = new Scrubber(searcher);
  const scrubbed = [...scrubber.push(Buffer.from(text, 'latin1')), scrubber.end()];
  return scrubber.found ? Buffer.concat(scrubbed).toString('latin1') : text;
}
