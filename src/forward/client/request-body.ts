import type { IncomingMessage } from 'node:http';
import { type BodyConsumer, DirectRequest } from '../../node/direct-request.ts';
import type { Departures } from './departures.ts';
import type { RequestHead } from './request-head.ts';

/** A body up to this size is kept until the answer is known to be none of our business any more (a 401 is). */
export const REPLAY_LIMIT_BYTES = 64 * 1024;
/** Of small pieces that are kept, so many are put together. */
const MOST_KEPT_PIECES = 64;

/** Where a body goes. */
export interface BodyTaker {
  /** False when it takes no more at present; `drained` tells when it does. */
  write(piece: Buffer): boolean;
  end(): void;
}

/** A request with a body. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly head: Pick<RequestHead, 'contentLength'>;
}

/** A client's request body on its way up: what has come is kept for another attempt while it is small. */
export class RequestBody implements BodyConsumer {
  /** Bytes that have come from the client. */
  bytes = 0;
  /** All of it has come. */
  complete = false;
  readonly #request: IncomingMessage;
  /** By `Content-Length`; -1 for chunks. */
  readonly #length: number;
  readonly #departures: Departures;
  readonly #moved: () => void;
  /** From the first byte on; undefined once an attempt has taken more than is kept. */
  #kept: Buffer[] | undefined = [];
  #taker: BodyTaker | undefined;
  /** An attempt has begun to send it. */
  #taken = false;
  #wanted = true;
  #ready: (() => void) | undefined;
  #completed: (() => void) | undefined;

  /** @param moved called with each piece that comes, and at the end */
  constructor({ request, head }: Incoming, departures: Departures, moved: () => void) {
    this.#request = request;
    this.#length = head.contentLength;
    this.#departures = departures;
    this.#moved = moved;
  }

  /** It can be sent again: the whole is here, and small; or nothing of it has been given away. */
  get replayable(): boolean {
    return this.#kept !== undefined && (!this.#taken || this.whole);
  }

  /** All of it is here, and kept. */
  get whole(): boolean {
    return this.complete && this.bytes <= REPLAY_LIMIT_BYTES;
  }

  /** The upstream takes nothing at present: it isn't the client that is slow. */
  get heldUp(): boolean {
    return this.#request.isPaused();
  }

  /**
   * Calls back once the body is whole, or at the turn of the event loop after its first piece. A small body mostly
   * arrives at once; it then goes up in one write. And a request leaves with its first piece: what it takes along, a
   * token, has to be chosen then and not when the client began.
   */
  prefetch(ready: () => void): void {
    const request = this.#request;
    this.#ready = ready;
    if (request instanceof DirectRequest && request.passBodyTo(this)) return;
    request
      .on('data', (piece: Buffer) => this.take(piece))
      .on('end', () => this.end())
      .on('error', () => {});
  }

  #readyNow(): void {
    const ready = this.#ready;
    if (ready === undefined) return;
    this.#ready = undefined;
    if (!this.complete) this.#pause();
    ready();
  }

  /**
   * An attempt sends it: gives what has come, and from then on passes what comes. A second time only when
   * `replayable`.
   */
  begin(taker: BodyTaker): readonly Buffer[] {
    this.#taken = true;
    const kept = this.#kept ?? [];
    if (this.bytes > REPLAY_LIMIT_BYTES) this.#kept = undefined;
    if (!this.complete) {
      this.#taker = taker;
      this.#resume();
    }
    return kept;
  }

  /** To be called once all of it has come, and has been given on. */
  whenComplete(act: () => void): void {
    this.#completed = act;
  }

  /** The carrier takes more. */
  drained(): void {
    if (this.#wanted && this.#taker !== undefined) this.#resume();
  }

  /** The carrier is gone. */
  leave(): void {
    this.#taker = undefined;
    if (this.#wanted && !this.complete) this.#pause();
  }

  /** It isn't needed any more: the rest is read and dropped, so that the connection can be used again. */
  discard(): void {
    this.#wanted = false;
    this.#taker = undefined;
    this.#kept = undefined;
    if (!this.complete) this.#resume();
  }

  #pause(): void {
    this.#request.pause();
    this.#departures.watch(this.#request, this.#request.socket);
  }

  #resume(): void {
    this.#departures.forget(this.#request);
    this.#request.resume();
  }

  /** The request's own call, as is `end`. */
  take(piece: Buffer): void {
    if (!this.#wanted) return;
    const first = this.bytes === 0;
    this.bytes += piece.length;
    // Where it is whole with that, its end is told in this turn.
    if (first && this.bytes !== this.#length) setImmediate(() => this.#readyNow());
    const large = this.bytes > REPLAY_LIMIT_BYTES;
    // Until an attempt takes it, nothing may get lost.
    if (this.#taken && large) this.#kept = undefined;
    else this.#keep(piece);
    const more = this.#taker === undefined ? !large : this.#taker.write(piece);
    if (!more) this.#pause();
    this.#moved();
  }

  #keep(piece: Buffer): void {
    const kept = this.#kept;
    if (kept === undefined) return;
    kept.push(piece);
    if (kept.length === MOST_KEPT_PIECES) this.#kept = [Buffer.concat(kept)];
  }

  end(): void {
    this.complete = true;
    this.#taker?.end();
    this.#taker = undefined;
    this.#moved();
    this.#readyNow();
    // By then the connection has been given away, where it becomes a tunnel.
    if (this.#completed !== undefined) process.nextTick(this.#completed);
  }
}
