import type { IncomingMessage } from 'node:http';
import { type RequestHead, readRequestHead } from '../forward/client/request-head.ts';
import { DirectRequest } from '../node/direct-request.ts';

/** Pieces up to this size are joined: a larger one costs more to copy than to pass on. */
const SMALL_BYTES = 4 * 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * A request that joins the small pieces of its body. Node's parser makes a piece of each chunk, even of one byte. Such a piece
 * takes 300 bytes of memory, of which Node counts one against its read limit, and costs as much to pass on as a large piece.
 * Joined are the pieces of one turn of the event loop; or, while the request is paused, as many as fit into a block.
 */
export class JoinedRequest extends DirectRequest {
  // Node's server always sets both.
  declare method: string;
  declare url: string;
  /** The only piece so far, as it came; or the block that several were copied into. */
  #joined: Buffer | undefined;
  #bytes = 0;
  #scheduled = false;
  /** Bytes of the body still to come, by its `Content-Length`; negative for chunks. */
  #left = 0;
  #head: RequestHead | undefined;

  /** Read at the first use, and only once. */
  get head(): RequestHead {
    if (this.#head === undefined) {
      this.#head = readRequestHead(this.rawHeaders);
      this.#left = this.#head.contentLength;
    }
    return this.#head;
  }

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    if (piece !== null) this.#left -= piece.length;
    // The last piece by `Content-Length` waits for no other.
    if (piece === null || piece.length > SMALL_BYTES || this.#left === 0) {
      this.#passOn();
      return super.push(piece, encoding);
    }
    this.#join(piece);
    if (!this.isPaused()) this.#passOnSoon();
    return this.unreadBytes + this.#bytes < this.readableHighWaterMark;
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
    // A copy, if the block is mostly empty: else its whole memory would stay in use.
    super.push(bytes > joined.length / 2 ? filled : Buffer.from(filled));
  }
}

function intoBlock(piece: Buffer): Buffer {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  piece.copy(block);
  return block;
}

/** The head of a request, even of one that came to a server of the host program. */
export function headOf(request: IncomingMessage): RequestHead {
  return request instanceof JoinedRequest ? request.head : readRequestHead(request.rawHeaders);
}

/**
 * Acts once everything has been read that came with the head. By then `request.complete` is right: if the request is
 * incomplete, its answer is the last one on the connection.
 */
export function onceRead(request: IncomingMessage, act: () => void): void {
  if (headOf(request).hasBody && !request.complete) process.nextTick(act);
  else act();
}
