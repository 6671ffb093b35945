import type { IncomingMessage } from 'node:http';
import { type RequestHead, readRequestHead } from '../forward/client/request-head.ts';
import { DirectRequest } from '../node/direct-request.ts';

/** Pieces up to this size are joined: a larger one costs more to copy than to pass on. */
const SMALL_BYTES = 4 * 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * A request whose body comes in no smaller pieces than need be. Each chunk of a chunked body is a piece to Node's
 * parser, if it is of one byte; it takes some 300 bytes of memory, of which only one counts against the limit up to
 * which Node reads, and costs as much to pass on as a large one. So small pieces are joined: those of one turn of the
 * event loop, or, while there is no reader, as many as make a block.
 */
export class JoinedRequest extends DirectRequest {
  /** The only piece so far, as it came; or the block into which several are copied. */
  #joined: Buffer | undefined;
  #bytes = 0;
  #scheduled = false;
  /** Of the body, by its `Content-Length`; negative for chunks. */
  #left = 0;
  #head: RequestHead | undefined;

  /** Read once, at the first use. */
  get head(): RequestHead {
    if (this.#head === undefined) {
      this.#head = readRequestHead(this.rawHeaders);
      this.#left = this.#head.contentLength;
    }
    return this.#head;
  }

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (piece !== null) this.#left -= piece.length;
    // The last one, as far as its length tells, waits for none.
    if (piece === null || piece.length > SMALL_BYTES || this.#left === 0) {
      this.#passOn();
      return super.push(piece, encoding);
    }
    this.#join(piece);
    if (!this.isPaused()) this.#passOnSoon();
    return this.readableLength + this.#bytes < this.readableHighWaterMark;
  }

  override resume(): this {
    if (this.#bytes > 0) this.#passOnSoon();
    return super.resume();
  }

  #join(piece: Buffer): void {
    if (this.#bytes + piece.length > BLOCK_BYTES) this.#passOn();
    if (this.#joined === undefined) {
      this.#joined = piece;
    } else {
      if (this.#joined.length === this.#bytes) this.#joined = intoBlock(this.#joined);
      piece.copy(this.#joined, this.#bytes);
    }
    this.#bytes += piece.length;
  }

  #passOnSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.isPaused()) this.#passOn();
    });
  }

  #passOn(): void {
    const joined = this.#joined;
    if (joined === undefined) return;
    const bytes = this.#bytes;
    this.#joined = undefined;
    this.#bytes = 0;
    if (this.destroyed) return;
    const filled = bytes === joined.length ? joined : joined.subarray(0, bytes);
    // A block that is hardly filled must not stand in memory whole.
    super.push(bytes > joined.length / 2 ? filled : Buffer.from(filled));
  }
}

function intoBlock(piece: Buffer): Buffer {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  piece.copy(block);
  return block;
}

/** A request's head; that of one which came in on a server of the host program, too. */
export function headOf(request: IncomingMessage): RequestHead {
  return request instanceof JoinedRequest ? request.head : readRequestHead(request.rawHeaders);
}

/**
 * Acts once all has been read that came in one piece with the head. Then it is seen whether the request is whole: where
 * it isn't, its answer is the last on its connection.
 */
export function onceRead(request: IncomingMessage, act: () => void): void {
  if (headOf(request).hasBody && !request.complete) process.nextTick(act);
  else act();
}
