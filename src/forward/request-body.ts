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
  readonly #chunked: boolean;
  readonly #touched: () => void;
  /** From the first byte on; undefined once an attempt has taken more than is kept. */
  #kept: Buffer[] | undefined = [];
  #stream: Readable | undefined;
  /** An attempt has begun to send it. */
  #taken = false;
  #wanted = true;

  /** @param touched called with each piece, and at the end */
  constructor(request: IncomingMessage, chunked: boolean, touched: () => void) {
    this.#request = request;
    this.#chunked = chunked;
    this.#touched = touched;
  }

  /** It can be sent again: the whole is here, and small. */
  get replayable(): boolean {
    return this.complete && this.#kept !== undefined && this.bytes <= REPLAY_LIMIT_BYTES;
  }

  /** The upstream takes nothing at present: who stands still is not the client. */
  get heldUp(): boolean {
    return this.#request.isPaused();
  }

  /**
   * Calls back once the body is whole, or at the turn of the event loop after its first piece. A small body mostly
   * arrives at once; it then goes up in one write, and without a stream. And a request leaves with its first piece:
   * what it takes along, a token, has to be chosen then and not when the client began.
   */
  prefetch(ready: () => void): void {
    let called = false;
    const once = () => {
      if (called) return;
      called = true;
      if (!this.complete) this.#request.pause();
      ready();
    };
    this.#request
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => this.#end())
      .on('close', () => {
        // Without a terminator: the upstream must not take a part for the whole.
        if (!this.complete) this.#stream?.destroy(new Error('the client broke off its request'));
      })
      .on('error', () => {})
      .once('data', () => setImmediate(once))
      .once('end', once);
  }

  /** What undici is given for one attempt; a second time only when `replayable`, or before `begin`. */
  open(): Buffer | Readable {
    const kept = this.#kept ?? [];
    // In chunks, it goes up in chunks: undici gives a buffer a length.
    if (this.complete && this.#chunked) return Readable.from(kept, { objectMode: false });
    if (this.complete) return kept.length === 1 ? kept[0]! : Buffer.concat(kept);
    const stream = new Readable({
      read: () => this.#request.resume(),
      destroy: (error, callback) => {
        this.#close(stream);
        callback(error);
      },
    });
    // Its end is told to the attempt by other ways; an event without a listener would end the process.
    stream.on('error', () => {});
    for (const chunk of kept) stream.push(chunk);
    this.#stream = stream;
    return stream;
  }

  /** The attempt has a connection, and takes the body. */
  begin(): void {
    this.#taken = true;
  }

  /** Nobody wants it any more: the rest is read and forgotten, so that the connection can be used further. */
  discard(): void {
    this.#wanted = false;
    this.#stream = undefined;
    this.#kept = undefined;
    this.#request.resume();
  }

  #close(stream: Readable): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    if (!this.complete) this.#request.pause();
  }

  #take(chunk: Buffer): void {
    if (!this.#wanted) return;
    this.bytes += chunk.length;
    const large = this.bytes > REPLAY_LIMIT_BYTES;
    // Until an attempt takes it, nothing may get lost.
    if (this.#taken && large) this.#kept = undefined;
    else this.#kept?.push(chunk);
    const more = this.#stream === undefined ? !large : this.#stream.push(chunk);
    if (!more) this.#request.pause();
    this.#touched();
  }

  #end(): void {
    this.complete = true;
    this.#stream?.push(null);
    this.#touched();
  }
}
