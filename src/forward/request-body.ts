import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

/** A body up to this size is kept until the answer is known to be none of our business any more (a 401 is). */
export const REPLAY_LIMIT_BYTES = 64 * 1024;

/**
 * A client's request body on its way up.
 *
 * undici destroys the stream that it is given when an attempt ends, and destroying the request itself would cut
 * the client's connection. So each attempt gets a stream or a buffer of its own, and the request stays ours.
 */
export class RequestBody {
  /** Bytes that have come from the client. */
  bytes = 0;
  /** All of it has come. */
  complete = false;
  readonly #request: IncomingMessage;
  readonly #length: number;
  readonly #touched: () => void;
  #kept: Buffer[] | undefined = [];
  #stream: Readable | undefined;

  /**
   * @param length Content-Length, -1 for chunked
   * @param touched called with each piece, and at the end
   */
  constructor(request: IncomingMessage, length: number, touched: () => void) {
    this.#request = request;
    this.#length = length;
    this.#touched = touched;
  }

  /** It can be sent again: the whole is here, and small. */
  get replayable(): boolean {
    return this.complete && this.#kept !== undefined;
  }

  /** The upstream takes nothing at present: who stands still is not the client. */
  get heldUp(): boolean {
    return this.#request.isPaused();
  }

  /**
   * Calls back once the body is whole, or at the next turn of the event loop. A small body mostly arrives with
   * its head; it then goes up in one write, and without a stream.
   */
  prefetch(ready: () => void): void {
    if (this.#length < 0 || this.#length > REPLAY_LIMIT_BYTES) return ready();
    let called = false;
    const once = () => {
      if (called) return;
      called = true;
      if (!this.complete) this.#request.pause();
      ready();
    };
    this.#listen();
    this.#request.once('end', once);
    setImmediate(once);
  }

  /** What undici is given for one attempt; a second time only when `replayable`. */
  open(): Buffer | Readable {
    const kept = this.#kept ?? [];
    if (this.complete && this.#length >= 0) return kept.length === 1 ? kept[0]! : Buffer.concat(kept);
    if (this.complete) return Readable.from(kept, { objectMode: false });
    const stream = new Readable({
      read: () => this.#request.resume(),
      destroy: (error, callback) => {
        if (this.#stream === stream) this.#stream = undefined;
        callback(error);
      },
    });
    for (const chunk of kept) stream.push(chunk);
    this.#stream = stream;
    this.#listen();
    return stream;
  }

  #listening = false;
  #listen(): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#request
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => this.#end())
      .on('close', () => {
        // Without a terminator: the upstream must not take a part for the whole.
        if (!this.complete) this.#stream?.destroy(new Error('the client broke off its request'));
      })
      .on('error', () => {});
  }

  #take(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > REPLAY_LIMIT_BYTES) this.#kept = undefined;
    else this.#kept?.push(chunk);
    if (this.#stream?.push(chunk) === false) this.#request.pause();
    this.#touched();
  }

  #end(): void {
    this.complete = true;
    this.#stream?.push(null);
    this.#touched();
  }
}
