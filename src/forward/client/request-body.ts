import type { IncomingMessage } from 'node:http';
import { type BodyConsumer, DirectRequest } from '../../node/direct-request.ts';
import type { Carrier } from '../../upstream/carrier.ts';
import type { Departures } from './departures.ts';
import type { RequestHead } from './request-head.ts';

/** A body up to this size is kept, so that it can be sent again. */
export const REPLAY_LIMIT_BYTES = 64 * 1024;
/** So many kept pieces are joined into one. */
const MAX_KEPT_PIECES = 64;

/** Where a body is sent. */
type BodyCarrier = Pick<Carrier, 'write' | 'end'>;

/** What a body is read from. */
interface Incoming {
  readonly request: IncomingMessage;
  readonly head: Pick<RequestHead, 'contentLength'>;
}

/** Passes a client's request body to the upstream, and keeps a small one for another attempt. */
export class RequestBody implements BodyConsumer {
  /** Bytes that have come from the client. */
  bytes = 0;
  /** The whole body has come. */
  complete = false;
  readonly #request: IncomingMessage;
  /** `Content-Length`; -1 for chunks. */
  readonly #length: number;
  readonly #departures: Departures;
  readonly #progressed: (bytes: number) => void;
  /** The body from its first byte on; undefined once an attempt has begun to send one that is too large to keep. */
  #kept: Buffer[] | undefined = [];
  #carrier: BodyCarrier | undefined;
  /** An attempt has begun to send the body. */
  #begun = false;
  #wanted = true;
  #ready: (() => void) | undefined;
  #completed: (() => void) | undefined;

  /** @param progressed called with the bytes so far after each piece, at the end, and when the client may send more */
  constructor({ request, head }: Incoming, departures: Departures, progressed: (bytes: number) => void) {
    this.#request = request;
    this.#length = head.contentLength;
    this.#departures = departures;
    this.#progressed = progressed;
  }

  /** The body can be sent again: it is complete and kept, or no attempt has begun to send it. */
  get replayable(): boolean {
    return this.#kept !== undefined && (!this.#begun || this.keptWhole);
  }

  /** The whole body has come, and is kept. */
  get keptWhole(): boolean {
    return this.complete && this.bytes <= REPLAY_LIMIT_BYTES;
  }

  /** The upstream takes no more at present: the client is not the one that is slow. */
  get isPaused(): boolean {
    return this.#request.isPaused();
  }

  /**
   * Calls `ready` once the body is complete, or at the next turn of the event loop after its first piece. A small body
   * mostly comes at once, and is then sent in one write. Waiting for the first piece also chooses the token when the
   * request can be sent, rather than when a slow client began it.
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
   * An attempt begins to send the body: gives what has come, and then writes to the carrier what comes. May be called again
   * if `replayable`.
   */
  begin(carrier: BodyCarrier): readonly Buffer[] {
    this.#begun = true;
    const kept = this.#kept ?? [];
    if (this.bytes > REPLAY_LIMIT_BYTES) this.#kept = undefined;
    if (!this.complete) {
      this.#carrier = carrier;
      this.#resume();
    }
    return kept;
  }

  /** `act` is called once the whole body has come and has been passed on. */
  whenComplete(act: () => void): void {
    this.#completed = act;
  }

  /** The carrier takes more. */
  drained(): void {
    if (!this.#wanted || this.#carrier === undefined) return;
    this.#progressed(this.bytes); // The client's time limit begins now: it could send nothing before.
    this.#resume();
  }

  /** No attempt takes the body any more: pauses the client. */
  detach(): void {
    this.#carrier = undefined;
    if (this.#wanted && !this.complete) this.#pause();
  }

  /** The body isn't needed any more. Reads and drops the rest, so that the connection can be used again. */
  discard(): void {
    this.#wanted = false;
    this.#carrier = undefined;
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

  /** The request calls this with each piece, and `end` after the last one. */
  take(piece: Buffer): void {
    if (!this.#wanted) return;
    const first = this.bytes === 0;
    this.bytes += piece.length;
    // If this piece completes the body, `end` follows in this turn and calls `#readyNow`.
    if (first && this.bytes !== this.#length) setImmediate(() => this.#readyNow());
    const large = this.bytes > REPLAY_LIMIT_BYTES;
    // Before an attempt begins, every piece is kept.
    if (this.#begun && large) this.#kept = undefined;
    else this.#keep(piece);
    const more = this.#carrier === undefined ? !large : this.#carrier.write(piece);
    if (!more) this.#pause();
    this.#progressed(this.bytes);
  }

  #keep(piece: Buffer): void {
    const kept = this.#kept;
    if (kept === undefined) return;
    kept.push(piece);
    if (kept.length === MAX_KEPT_PIECES) this.#kept = [Buffer.concat(kept)];
  }

  end(): void {
    this.complete = true;
    this.#carrier?.end();
    this.#carrier = undefined;
    this.#progressed(this.bytes);
    this.#readyNow();
    // Deferred, because a tunnel gets the connection later in this turn.
    if (this.#completed !== undefined) process.nextTick(this.#completed);
  }
}
