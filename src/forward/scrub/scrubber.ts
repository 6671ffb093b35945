import { Base64Reading } from './base64-reading.ts';
import { unfinishedFrom } from './escapes.ts';
import { HexReading } from './hex-reading.ts';
import { PlainReading } from './plain-reading.ts';
import type { Reading, TextPart } from './reading.ts';
import { lastBreak } from './runs.ts';
import type { Searcher } from './searcher.ts';

const STAR = 0x2a;
const NOTHING = Buffer.alloc(0);
/** How long a run is held, in case it becomes a credential. */
const HOLD_MS = 240;
const SAME_MOMENT_MS = 10;
/** Parts are joined up to this length: a second write costs more than the copy. */
const JOINED_BYTES = 16 * 1024;

/** When the held bytes before `end` are released. */
interface Mark {
  readonly end: number;
  readonly untilMonoMs: number;
}

/**
 * Masks each byte of a match by `*` in a text that comes in pieces. What is held back, for how long, and where the rest is
 * cut doesn't depend on a secret: at the end of a piece, a run is held if an encoded credential could be part of it,
 * whatever its characters are.
 */
export class Scrubber {
  /** A match was found. */
  found = false;
  readonly searcher: Searcher;
  readonly #plain: PlainReading;
  readonly #base64: Base64Reading;
  readonly #hex: HexReading;
  /** The position after the last byte that has come. */
  #end: number;
  /** Where the last run of the text begins. */
  #runFrom: number;
  /** An escape that the end of the text cuts. It has not been read yet, whether or not it is held. */
  #tail: Buffer = NOTHING;
  /** Bytes that are held from earlier pieces; they end at `#end`, or where the present piece begins. */
  #held: Buffer = NOTHING;
  /** What is passed on of the present piece: the piece itself, or a copy if a match was found in it. */
  #out: Buffer = NOTHING;
  #copied = false;
  #marks: Mark[] = [];

  /** @param at the position of the first byte that will come */
  constructor(searcher: Searcher, at = 0) {
    this.searcher = searcher;
    this.#end = at;
    this.#runFrom = at;
    this.#plain = new PlainReading(searcher, at);
    this.#base64 = new Base64Reading(searcher, at);
    this.#hex = new HexReading(searcher, at);
  }

  /** A scrubber that searches for other values from here on, and takes over the held bytes. */
  with(searcher: Searcher): Scrubber {
    const other = new Scrubber(searcher, this.#end - this.#held.length);
    other.found = this.found;
    const passed = this.#held.length === 0 ? [] : other.push(this.#held, 0);
    other.#held = Buffer.concat([...passed, other.#held]);
    other.#runFrom = Math.min(this.#runFrom, other.#runFrom);
    other.#marks = this.#marks;
    return other;
  }

  /** @returns what may be passed on of the held bytes and the piece; the last part may share the piece's memory */
  push(piece: Buffer, nowMonoMs: number): readonly Buffer[] {
    this.#out = piece;
    this.#copied = false;
    this.#end += piece.length;
    const text = this.#tail.length === 0 ? piece : Buffer.concat([this.#tail, piece]);
    const base = this.#end - text.length;
    const unfinished = unfinishedFrom(text);
    this.#read({ bytes: text, base, until: base + unfinished, final: false }, this.#readings);
    // A copy, because the reader may use the piece's memory again.
    this.#tail = unfinished === text.length ? NOTHING : Buffer.from(text.subarray(unfinished));
    const at = lastBreak(text, this.searcher.breaks);
    if (at !== -1) this.#runFrom = base + at + 1;
    const { linesFrom } = this.#base64;
    const runFrom = Math.min(this.#runFrom, linesFrom, this.#hex.pairsFrom, base + unfinished);
    const passed = this.#pass(Math.max(runFrom, this.#end - this.searcher.maxHeldBytes), piece);
    if (this.#held.length > 0) this.#mark(nowMonoMs);
    return passed;
  }

  /** Bytes of the same moment are released together: a mark for each small piece would cost more than the piece. */
  #mark(nowMonoMs: number): void {
    const untilMonoMs = (Math.floor(nowMonoMs / SAME_MOMENT_MS) + 1) * SAME_MOMENT_MS + HOLD_MS;
    if (this.#marks.at(-1)?.untilMonoMs === untilMonoMs) this.#marks.pop();
    this.#marks.push({ end: this.#end, untilMonoMs });
  }

  /** When the first held bytes are released, on the monotonic clock; undefined if nothing is held. */
  get dueMonoMs(): number | undefined {
    return this.#marks[0]?.untilMonoMs;
  }

  /** @returns the bytes that were held long enough; a match that they begin is masked only after them */
  release(nowMonoMs: number): readonly Buffer[] {
    let until = 0;
    for (const { end, untilMonoMs } of this.#marks) if (untilMonoMs <= nowMonoMs) until = end;
    if (until === 0) return [];
    if (this.#tail.length > 0) this.#readTail(this.#readings.map((reading) => reading.copy()));
    return this.#pass(until, NOTHING);
  }

  /** No more pieces follow. @returns the held bytes */
  end(): readonly Buffer[] {
    if (this.#tail.length > 0) this.#readTail(this.#readings);
    return this.#pass(this.#end, NOTHING);
  }

  get #readings(): readonly Reading[] {
    return [this.#plain, this.#base64, this.#hex];
  }

  /** Reads a cut escape as if nothing followed it. */
  #readTail(readings: readonly Reading[]): void {
    const base = this.#end - this.#tail.length;
    this.#read({ bytes: this.#tail, base, until: this.#end, final: true }, readings);
  }

  #read(text: TextPart, readings: readonly Reading[]): void {
    const onMatch = (start: number, end: number) => this.#mask(start, end);
    for (const reading of readings) reading.read(text, onMatch);
  }

  /** Passes on everything up to a position, and holds the rest. */
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

  /** Masks a match. Bytes that were passed on already stay as they were. */
  #mask(start: number, end: number): void {
    this.found = true;
    const pieceAt = this.#end - this.#out.length;
    const heldAt = pieceAt - this.#held.length;
    if (start < pieceAt)
      this.#held.fill(STAR, Math.max(0, start - heldAt), Math.max(0, Math.min(end, pieceAt) - heldAt));
    if (end <= pieceAt) return;
    if (!this.#copied) {
      this.#out = Buffer.from(this.#out);
      this.#copied = true;
    }
    this.#out.fill(STAR, Math.max(0, start - pieceAt), end - pieceAt);
  }
}

function parts(held: Buffer, piece: Buffer): readonly Buffer[] {
  if (held.length === 0) return piece.length === 0 ? [] : [piece];
  if (piece.length === 0) return [held];
  return held.length + piece.length <= JOINED_BYTES ? [Buffer.concat([held, piece])] : [held, piece];
}

/** Masks all matches in a complete text, in which each character is a byte. @returns the text itself if there are none */
export function scrubText(searcher: Searcher, text: string): string {
  const scrubber = new Scrubber(searcher);
  const scrubbed = [...scrubber.push(Buffer.from(text, 'latin1'), 0), ...scrubber.end()];
  return scrubber.found ? Buffer.concat(scrubbed).toString('latin1') : text;
}
