import { ResponseFault } from '../../src/upstream/head-scanner.ts';
import type { ResponseHead } from '../../src/upstream/response-head.ts';
import { type ResponseEvents, ResponseReader } from '../../src/upstream/response-reader.ts';

export interface Asked {
  readonly method?: string;
  /** The request's `Upgrade`. */
  readonly upgrade?: string;
  readonly limitBytes?: number;
}

/**
 * How our reader reads these pieces and the end of the connection, on one line: `200 Fine | a: 1, b: 2 | body | whole,
 * keeps`. Pieces of the body are joined, so that the cuts make no difference.
 */
export function outcome(pieces: readonly Buffer[], asked: Asked = {}): string {
  return new Reading(asked.limitBytes).outcome(pieces, asked);
}

/** One reader and its events. An event at a wrong moment, or with more bytes than have come, is an error. */
export class Reading implements ResponseEvents {
  readonly #reader: ResponseReader;
  #head: string | undefined;
  #body = '';
  #end = '';
  /** Bytes of the piece that is being read. */
  #came = 0;

  constructor(limitBytes = 1024) {
    this.#reader = new ResponseReader(this, limitBytes);
  }

  outcome(pieces: readonly Buffer[], { method = 'GET', upgrade }: Asked = {}): string {
    this.#head = undefined;
    this.#body = '';
    this.#end = '';
    this.#reader.expect(method, upgrade);
    try {
      for (const piece of pieces) this.#read(piece);
      if (this.#end === '') this.#end = this.#reader.finish() ? this.#end : 'broken off';
    } catch (error) {
      if (!(error instanceof ResponseFault)) throw error;
      this.#end = 'fault';
    }
    return [...(this.#head === undefined ? [] : [this.#head]), this.#body, this.#end].join(' | ');
  }

  #read(piece: Buffer): void {
    if (this.#end === 'switched') this.#body += piece.toString('latin1');
    else if (this.#end !== '')
      this.#end = 'whole, closes'; // More bytes than the response has.
    else {
      this.#came = piece.length;
      this.#reader.read(Buffer.from(piece)); // A copy, because chunks are decoded in place.
    }
  }

  head(head: ResponseHead): void {
    this.#check(this.#head === undefined);
    this.#head = headText(head);
  }

  body(piece: Buffer): void {
    this.#check(this.#head !== undefined && piece.length > 0 && piece.length <= this.#came);
    this.#body += piece.toString('latin1');
  }

  finished(): void {
    this.#check(this.#head !== undefined);
    this.#end = `whole, ${this.#reader.keepsAlive ? 'keeps' : 'closes'}`;
  }

  switched(head: ResponseHead, early: Buffer): void {
    this.#check(this.#head === undefined && early.length <= this.#came);
    this.#head = headText(head);
    this.#body = early.toString('latin1');
    this.#end = 'switched';
  }

  #check(good: boolean): void {
    if (!good || this.#end !== '') throw new Error(`an event that can't be: ${this.#head} ${this.#end}`);
  }
}

function headText({ status, reason, lines: { pairs } }: ResponseHead): string {
  const lines = pairs.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${pairs[i + 1]}`] : []));
  return `${status} ${reason} | ${lines.join(', ')}`;
}

/** All ways to cut bytes in two, then byte by byte. */
export function* cuts(bytes: Buffer): Generator<Buffer[]> {
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
  yield Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
}
