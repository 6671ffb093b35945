import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Problem } from '../../base/problem.ts';
import { endAbruptly } from './abrupt-end.ts';
import type { ClientSide } from './client-side.ts';
import { lingerAtEnd } from './linger.ts';
import { answerProblem, recordProblem } from './problem.ts';

/** The header lines of a response as the client gets them. */
export interface ReplyHead {
  /** Names and values in turn, as `writeHead` takes them; each character is a byte. */
  readonly headers: string[];
  /** They have a `Content-Length`. */
  readonly hasLength: boolean;
  /** They have an `Upgrade`: the answer requires another protocol. */
  readonly hasUpgrade: boolean;
}

/** A body that is complete at once, and no longer than this, is written together with the head. */
const ONE_PIECE_BYTES = 8 * 1024;
/** Memory that a waiting piece takes beside its bytes. */
const PIECE_COST_BYTES = 1024;
/** More than this doesn't wait for a slow client. */
const MAX_WAITING_BYTES = 128 * 1024;

const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

/** True if the answer has no body, whatever its headers say (RFC 9112 §6.3). */
export function hasNoBody({ method }: IncomingMessage, status: number): boolean {
  return method === 'HEAD' || status === 204 || status === 304;
}

/** Writes the answer to the client: the upstream's, or a problem. */
export class Reply {
  /** The answer is complete or broken off; the client may not have read all of it. */
  over = false;
  /** The client reads too slowly: write no more until `drained`. */
  full = false;
  readonly #client: ClientSide;
  readonly #drained: () => void;
  /** The client can tell the end of the body from a broken connection. */
  #delimited = true;
  /** The first piece of the body, held back in case the rest comes in the same turn of the event loop. */
  #first: Buffer | undefined;
  /** The head has been sent, or is sent with the next write. */
  #flushed = false;
  #hearsDrain = false;
  /** What waits for the client, with `PIECE_COST_BYTES` for each piece. */
  #waitingBytes = 0;
  #unsent = -1;

  /** @param drained called when the client reads again, after it was `full` */
  constructor(client: ClientSide, drained: () => void) {
    this.#client = client;
    this.#drained = drained;
  }

  get begun(): boolean {
    return this.#client.response.headersSent;
  }

  /**
   * Writes the head. @returns a Problem, and writes nothing, if the head makes no valid answer
   *
   * @param reason each character is a byte; left out if a status line may not hold it (RFC 9112 §4)
   * @param keepsAlive false if the connection closes after this answer
   */
  begin(status: number, reason: string, head: ReplyHead, keepsAlive: boolean): Problem | undefined {
    const { response, request, event } = this.#client;
    // RFC 9112 §6.1: no chunks to an HTTP/1.0 client, whatever its TE says.
    if (request.httpVersionMinor === 0) response.useChunkedEncodingByDefault = false;
    // An answer that comes before the end of the request mostly ends before it, too, and then closes the connection.
    if (!keepsAlive || !request.complete) response.shouldKeepAlive = false;
    // `Connection` must name it (RFC 9110 §7.8). Beside this line Node writes none of its own.
    if (head.hasUpgrade)
      head.headers.push('connection', response.shouldKeepAlive ? 'upgrade' : 'close, upgrade');
    try {
      response.writeHead(status, reason === 'OK' || REASON.test(reason) ? reason : '', head.headers);
    } catch (cause) {
      return new Problem('upstream-invalid', { cause });
    }
    event.status = status;
    this.#delimited = head.hasLength || hasNoBody(request, status) || response.chunkedEncoding;
    // The head may not wait for a body that may come much later (events, a long poll).
    process.nextTick(flush, this);
    return undefined;
  }

  /** Sends the head, and the first piece of the body if there is one. */
  flush(): void {
    if (this.#flushed) return;
    this.#flushed = true;
    const { response } = this.#client;
    if (response.writableEnded || response.destroyed) return;
    // An empty string, because `flushHeaders` would write the header bytes as UTF-8.
    if (this.#first === undefined) response.write('', 'latin1');
    else this.#write(this.#first);
  }

  /** @returns false if the piece's memory is still needed after the call */
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
    // Node corks the socket until the end of this turn. A large piece goes to the kernel at once.
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
    } else if (this.#waitingBytes > MAX_WAITING_BYTES) {
      // Node counts only the bytes, and so would keep far too many small pieces.
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
    if (!request.complete) lingerAtEnd(request.socket); // The upstream has answered before the end of the request.
    // Node joins a latin1 string to the head, for one write; a buffer would be a second write.
    if (this.#flushed || this.#first === undefined) response.end();
    else response.end(this.#first.toString('latin1'), 'latin1');
  }

  /** Answers with a problem, or breaks the answer off if it has begun, so that the client sees that it is incomplete. */
  fail(problem: Problem): void {
    if (this.over) return;
    const { response, event, corsOrigin } = this.#client;
    if (this.begun) {
      event.brokeOff = true;
      recordProblem(event, problem);
      this.#breakOff();
    } else {
      this.over = true;
      answerProblem(response, problem, corsOrigin, event);
    }
  }

  /** Closes the client's connection within the answer. */
  #breakOff(): void {
    if (this.over) return;
    this.flush();
    this.over = true;
    // Later, because what was written in this turn may still be corked.
    setImmediate(() => this.#cut(this.#client.request.socket));
  }

  #cut(socket: Socket): void {
    if (this.#delimited) socket.destroySoon();
    // If only the connection's end ends the body, a clean end would make it look complete. First sends what was written.
    else socket.write('', () => setImmediate(() => endAbruptly(socket)));
  }

  /** True if the client has read nothing since the last call. */
  hasStalled(): boolean {
    const before = this.#unsent;
    this.#unsent = this.#client.response.writableLength;
    return before === this.#unsent;
  }
}

function flush(reply: Reply): void {
  if (!reply.over) reply.flush();
}
