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

/** Reads from the bytes on that were held when values were added. It is dropped behind the longest match. */
interface LateReading {
  readonly reading: Reading;
  readonly until: number;
}

/**
 * Masks each byte of a match by `*` in a text that comes in pieces. What is held back, for how long, and where the rest is
 * cut doesn't depend on a secret: at the end of a piece, a run is held if an encoded credential could be part of it,
 * whatever its characters are.
 */
export class Scrubber {
  /** A match was found. */
  found = false;
  #searcher: Searcher;
  #plain: PlainReading;
  #base64: Base64Reading;
  #hex: HexReading;
  /** Readings of the matches that began in held bytes, of values that were added after that. */
  #late: readonly LateReading[] = [];
  /** The position after the last byte that has come. */
  #end = 0;
  /** Where the last run of the text begins. */
  #runFrom = 0;
  /** An escape that the end of the text cuts. It has not been read yet, whether or not it is held. */
  #tail: Buffer = NOTHING;
  /** Bytes that are held from earlier pieces; they end at `#end`, or where the present piece begins. */
  #held: Buffer = NOTHING;
  /** What is passed on of the present piece: the piece itself, or a copy if a match was found in it. */
  #out: Buffer = NOTHING;
  #copied = false;
  #marks: Mark[] = [];

  constructor(searcher: Searcher) {
    this.#searcher = searcher;
    this.#plain = new PlainReading(searcher, 0);
    this.#base64 = new Base64Reading(searcher, 0);
    this.#hex = new HexReading(searcher, 0);
  }

  /**
   * Searches for these values from here on, and in the held bytes. A match of a value that stays may have begun in bytes
   * that were passed on: its rest is masked all the same.
   */
  use(searcher: Searcher): void {
    if (searcher === this.#searcher) return;
    this.#searcher = searcher;
    this.#plain = this.#plain.copy(searcher);
    this.#base64 = this.#base64.copy(searcher);
    this.#hex = this.#hex.copy(searcher);
    this.#late = this.#late.map(({ reading, until }) => ({ reading: reading.copy(searcher), until }));
    if (this.#held.length > 0) this.#readHeld();
  }

  /** Searches the held bytes for new values. */
  #readHeld(): void {
    const [held, searcher] = [this.#held, this.#searcher];
    const base = this.#end - held.length;
    const readings = [
      new PlainReading(searcher, base),
      new Base64Reading(searcher, base),
      new HexReading(searcher, base),
    ];
    this.#read({ bytes: held, base, until: this.#end - this.#tail.length, final: false }, readings);
    const until = this.#end + searcher.maxHeldBytes;
    this.#late = [...this.#late, ...readings.map((reading) => ({ reading, until }))];
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
    if (this.#late.length > 0) this.#late = this.#late.filter(({ until }) => until > this.#end);
    // A copy, because the reader may use the piece's memory again.
    this.#tail = unfinished === text.length ? NOTHING : Buffer.from(text.subarray(unfinished));
    const at = lastBreak(text, this.#searcher.breaks);
    if (at !== -1) this.#runFrom = base + at + 1;
    const { linesFrom } = this.#base64;
    const runFrom = Math.min(this.#runFrom, linesFrom, this.#hex.pairsFrom, base + unfinished);
    const passed = this.#pass(Math.max(runFrom, this.#end - this.#searcher.maxHeldBytes), piece);
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
    if (this.#tail.length > 0) this.#readTail(this.#readings.map((reading) => reading.copy(this.#searcher)));
    return this.#pass(until, NOTHING);
  }

  /** No more pieces follow. @returns the held bytes */
  end(): readonly Buffer[] {
    if (this.#tail.length > 0) this.#readTail(this.#readings);
    return this.#pass(this.#end, NOTHING);
  }

  get #readings(): readonly Reading[] {
    const readings = [this.#plain, this.#base64, this.#hex];
    return this.#late.length === 0 ? readings : [...readings, ...this.#late.map(({ reading }) => reading)];
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
