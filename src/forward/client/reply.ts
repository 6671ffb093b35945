import type { Socket } from 'node:net';
import { Problem } from '../../base/problem.ts';
import { endAbruptly } from './abrupt-end.ts';
import type { ClientSide } from './client-side.ts';
import { lingerAtEnd } from './linger.ts';
import { answerProblem, noteProblem } from './problem.ts';

/** A response's header lines as the client gets them. */
export interface ReplyHead {
  /** Flat pairs for `writeHead`, each character a byte. */
  readonly headers: string[];
  /** A `Content-Length` passes. */
  readonly hasLength: boolean;
}

/** An answer that is whole by now, and no longer than this, is written in one piece with its head. */
const ONE_PIECE_BYTES = 8 * 1024;
/** What a piece that waits for a slow client costs beside its bytes. */
const PIECE_COST_BYTES = 1024;
/** So much may wait for a slow client. */
const MOST_WAITING_BYTES = 128 * 1024;

const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What the client gets: the upstream's answer on its way, or a problem of ours. */
export class Reply {
  /** All that there is to say has been said; the client may still have to take it. */
  over = false;
  /** The client takes nothing more at present. */
  full = false;
  readonly #client: ClientSide;
  readonly #drained: () => void;
  /** The client can tell the end of the body from a break of the connection. */
  #delimited = true;
  /** The first piece of the body, while the rest may come in the same moment. */
  #first: Buffer | undefined;
  /** The head has left, or is about to, with what has come of the body. */
  #flushed = false;
  #hearsDrain = false;
  /** What waits for the client, with the cost of each piece. */
  #waitingBytes = 0;
  #unsent = -1;

  /** @param drained called when the client takes more, after it was `full` */
  constructor(client: ClientSide, drained: () => void) {
    this.#client = client;
    this.#drained = drained;
  }

  get begun(): boolean {
    return this.#client.response.headersSent;
  }

  /**
   * Writes the head. Gives a Problem, and has written nothing, where no valid answer can be made of it.
   *
   * @param reason each character a byte; one that no status line may hold (RFC 9112 §4) is left out
   * @param keepsAlive false where this is to be the last answer on its connection
   */
  begin(status: number, reason: string, head: ReplyHead, keepsAlive: boolean): Problem | undefined {
    const { response, request, event } = this.#client;
    // RFC 9112 §6.1: no chunks for an HTTP/1.0 client, whatever its TE says.
    if (request.httpVersionMinor === 0) response.useChunkedEncodingByDefault = false;
    // An answer that doesn't wait for the whole request mostly ends before it, and the connection with it.
    if (!keepsAlive || !request.complete) response.shouldKeepAlive = false;
    try {
      response.writeHead(status, reason === 'OK' || REASON.test(reason) ? reason : '', head.headers);
    } catch (cause) {
      return new Problem('upstream-invalid', { cause });
    }
    event.status = status;
    const bodyless = request.method === 'HEAD' || status === 204 || status === 304;
    this.#delimited = head.hasLength || bodyless || response.chunkedEncoding;
    // The head must not wait for a body that may be long in coming (events, a long poll).
    process.nextTick(flush, this);
    return undefined;
  }

  /** Sends what has been held back to be sent in one piece. */
  flush(): void {
    if (this.#flushed) return;
    this.#flushed = true;
    const { response } = this.#client;
    if (response.writableEnded || response.destroyed) return;
    // An empty string of this encoding; `flushHeaders` would write the header bytes as UTF-8.
    if (this.#first === undefined) response.write('', 'latin1');
    else this.#write(this.#first);
  }

  /** @returns false where the piece is still needed after the call */
  write(piece: Buffer): boolean {
    if (this.over) return true;
    this.#client.event.bytesOut += piece.length;
    if (!this.#flushed) {
      if (this.#first === undefined && piece.length <= ONE_PIECE_BYTES) {
        this.#first = piece;
        return false;
      }
      if (this.#first !== undefined) this.flush();
      this.#flushed = true;
    }
    return this.#write(piece);
  }

  #write(piece: Buffer): boolean {
    const { response } = this.#client;
    const more = response.write(piece);
    // Node holds it back for what may come in the same moment. A large one goes at once, so that the kernel has it.
    if (piece.length > ONE_PIECE_BYTES) response.socket?.uncork();
    if (response.writableLength === 0) {
      this.#waitingBytes = 0;
      return true;
    }
    this.#waitingBytes += piece.length + PIECE_COST_BYTES;
    if (!more) {
      this.full = true;
      if (this.#hearsDrain) return false;
      this.#hearsDrain = true;
      response.on('drain', () => this.#taken());
    } else if (this.#waitingBytes > MOST_WAITING_BYTES) {
      // Many small pieces: Node counts their bytes alone, and so takes far too many of them.
      this.full = true;
      response.write('', 'latin1', () => this.#taken());
    }
    return false;
  }

  #taken(): void {
    if (!this.full) return;
    this.full = false;
    this.#waitingBytes = 0;
    if (!this.over) this.#drained();
  }

  end(): void {
    if (this.over) return;
    this.over = true;
    const { request, response } = this.#client;
    if (!request.complete) lingerAtEnd(request.socket); // An answer that didn't wait for the whole request.
    // As text of this encoding it is one string with the head, and one write; a buffer would be a second one.
    if (this.#flushed || this.#first === undefined) response.end();
    else response.end(this.#first.toString('latin1'), 'latin1');
  }

  /** A problem as the answer; where one has begun, the client has to see that it is not whole. */
  fail(problem: Problem): void {
    if (this.over) return;
    const { response, event, corsOrigin } = this.#client;
    if (this.begun) {
      event.brokeOff = true;
      noteProblem(event, problem);
      this.breakOff();
    } else {
      this.over = true;
      answerProblem(response, problem, corsOrigin, event);
    }
  }

  /** The client's connection ends where the body broke off. */
  breakOff(): void {
    if (this.over) return;
    this.flush();
    this.over = true;
    // Later, because what has just been written may still be held back to be written together.
    setImmediate(() => this.#cut(this.#client.request.socket));
  }

  #cut(socket: Socket): void {
    if (this.#delimited) socket.destroySoon();
    // Where only the end of the connection ends the body, an orderly end would be a lie. First what came before.
    else socket.write('', () => setImmediate(() => endAbruptly(socket)));
  }

  /** The client has taken nothing since this was asked before. */
  standsStill(): boolean {
    const before = this.#unsent;
    this.#unsent = this.#client.response.writableLength;
    return before === this.#unsent;
  }
}

function flush(reply: Reply): void {
  if (!reply.over) reply.flush();
}
