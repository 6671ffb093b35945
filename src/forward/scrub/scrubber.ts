import { Base64Reading } from './base64-reading.ts';
import { unfinishedFrom } from './escapes.ts';
import { HexReading } from './hex-reading.ts';
import { PlainReading } from './plain-reading.ts';
import type { Reading, Text } from './reading.ts';
import { lastBreak } from './runs.ts';
import type { Searcher } from './searcher.ts';

const STAR = 0x2a;
const NOTHING = Buffer.alloc(0);
/** How long a run is held for what may still come of it. */
export const HOLD_MS = 240;
const SAME_MOMENT_MS = 10;
/** Up to this length what goes on is joined to one piece: a second write costs more than the copy. */
const JOINED_BYTES = 16 * 1024;

/** What was held at a time, up to a place. */
interface Mark {
  readonly end: number;
  readonly untilMonoMs: number;
}

/**
 * One text in pieces, in which each byte of a match becomes `*`. What is held back, for how long, and how the rest is cut
 * depends on no secret: at a piece's end each run that an encoded credential might be a part of, whatever its
 * characters.
 */
export class Scrubber {
  /** Something was found. */
  found = false;
  readonly searcher: Searcher;
  readonly #plain: PlainReading;
  readonly #base64: Base64Reading;
  readonly #hex: HexReading;
  /** The place behind all that has come. */
  #end: number;
  /** Where the run begins that the text ends with. */
  #runFrom: number;
  /** An escape that the text's end has cut: not read yet, whether or not it is held. */
  #tail: Buffer = NOTHING;
  /** What is held of what came before; ends at `#end`, or where the piece at hand begins. */
  #held: Buffer = NOTHING;
  /** What will go on of the piece at hand: itself, until a match is found in it. */
  #out: Buffer = NOTHING;
  #owned = false;
  #marks: Mark[] = [];

  /** @param at the place of the first byte that will come */
  constructor(searcher: Searcher, at = 0) {
    this.searcher = searcher;
    this.#end = at;
    this.#runFrom = at;
    this.#plain = new PlainReading(searcher, at);
    this.#base64 = new Base64Reading(searcher, at);
    this.#hex = new HexReading(searcher, at);
  }

  /** Takes what is held over to one that looks for something else from there on. */
  with(searcher: Searcher): Scrubber {
    const other = new Scrubber(searcher, this.#end - this.#held.length);
    other.found = this.found;
    const passed = this.#held.length === 0 ? [] : other.push(this.#held, 0);
    other.#held = Buffer.concat([...passed, other.#held]);
    other.#runFrom = Math.min(this.#runFrom, other.#runFrom);
    other.#marks = this.#marks;
    return other;
  }

  /** What may go on of all that has come: of what was held back, and of the piece. The last may be its own memory. */
  push(piece: Buffer, nowMonoMs: number): readonly Buffer[] {
    this.#out = piece;
    this.#owned = false;
    this.#end += piece.length;
    const text = this.#tail.length === 0 ? piece : Buffer.concat([this.#tail, piece]);
    const base = this.#end - text.length;
    const unfinished = unfinishedFrom(text);
    this.#read({ bytes: text, base, until: base + unfinished, final: false }, this.#readings);
    // A copy: the memory of a piece is its reader's, who may use it again.
    this.#tail = unfinished === text.length ? NOTHING : Buffer.from(text.subarray(unfinished));
    const at = lastBreak(text, this.searcher.breaks);
    if (at !== -1) this.#runFrom = base + at + 1;
    const { linesFrom } = this.#base64;
    const runFrom = Math.min(this.#runFrom, linesFrom, this.#hex.pairsFrom, base + unfinished);
    const passed = this.#pass(Math.max(runFrom, this.#end - this.searcher.mostHeldBytes), piece);
    if (this.#held.length > 0) this.#mark(nowMonoMs);
    return passed;
  }

  /** Pieces of the same moment go on together: a mark for each of many small ones would cost more than they do. */
  #mark(nowMonoMs: number): void {
    const untilMonoMs = (Math.floor(nowMonoMs / SAME_MOMENT_MS) + 1) * SAME_MOMENT_MS + HOLD_MS;
    if (this.#marks.at(-1)?.untilMonoMs === untilMonoMs) this.#marks.pop();
    this.#marks.push({ end: this.#end, untilMonoMs });
  }

  /** When the first of what is held has to go on, on the monotonic clock; undefined where nothing is held. */
  get dueMonoMs(): number | undefined {
    return this.#marks[0]?.untilMonoMs;
  }

  /** What has been held for long enough: it goes on, and a match that it began is struck out from here on. */
  release(nowMonoMs: number): readonly Buffer[] {
    let until = 0;
    for (const { end, untilMonoMs } of this.#marks) if (untilMonoMs <= nowMonoMs) until = end;
    if (until === 0) return [];
    if (this.#tail.length > 0) this.#readTail(this.#readings.map((reading) => reading.copy()));
    return this.#pass(until, NOTHING);
  }

  /** What was held back, for nothing more comes. */
  end(): readonly Buffer[] {
    if (this.#tail.length > 0) this.#readTail(this.#readings);
    return this.#pass(this.#end, NOTHING);
  }

  get #readings(): readonly Reading[] {
    return [this.#plain, this.#base64, this.#hex];
  }

  /** Reads a cut escape as if nothing came behind it. */
  #readTail(readings: readonly Reading[]): void {
    const base = this.#end - this.#tail.length;
    this.#read({ bytes: this.#tail, base, until: this.#end, final: true }, readings);
  }

  #read(text: Text, readings: readonly Reading[]): void {
    const strike = (start: number, end: number) => this.#strike(start, end);
    for (const reading of readings) reading.read(text, strike);
  }

  /** All up to a place goes on; the rest of what was held, and of the piece, is held. */
  #pass(until: number, piece: Buffer): readonly Buffer[] {
    const [held, out] = [this.#held, this.#out];
    this.#out = NOTHING;
    const pieceAt = this.#end - piece.length;
    this.#marks = this.#marks.filter(({ end }) => end > until);
    if (until < pieceAt) {
      const kept = Math.max(0, held.length - (pieceAt - until));
      this.#held = Buffer.concat([held.subarray(kept), out]);
      return parts(held.subarray(0, kept), NOTHING);
    }
    const split = until - pieceAt;
    this.#held = split === out.length ? NOTHING : Buffer.from(out.subarray(split));
    return parts(held, split === out.length ? out : out.subarray(0, split));
  }

  /** Places that have gone on already stay as they were. */
  #strike(start: number, end: number): void {
    this.found = true;
    const pieceAt = this.#end - this.#out.length;
    const heldAt = pieceAt - this.#held.length;
    if (start < pieceAt)
      this.#held.fill(STAR, Math.max(0, start - heldAt), Math.max(0, Math.min(end, pieceAt) - heldAt));
    if (end <= pieceAt) return;
    if (!this.#owned) {
      this.#out = Buffer.from(this.#out);
      this.#owned = true;
    }
    this.#out.fill(STAR, Math.max(0, start - pieceAt), end - pieceAt);
  }
}

function parts(held: Buffer, piece: Buffer): readonly Buffer[] {
  if (held.length === 0) return piece.length === 0 ? [] : [piece];
  if (piece.length === 0) return [held];
  return held.length + piece.length <= JOINED_BYTES ? [Buffer.concat([held, piece])] : [held, piece];
}

/** A text that is whole; each character a byte. The same where nothing was found. */
export function scrubText(searcher: Searcher, text: string): string {
  const scrubber = new Scrubber(searcher);
  const scrubbed = [...scrubber.push(Buffer.from(text, 'latin1'), 0), ...scrubber.end()];
  return scrubber.found ? Buffer.concat(scrubbed).toString('latin1') : text;
}
