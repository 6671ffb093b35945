import type { Socket } from 'node:net';
import { Problem } from '../errors.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { lingerAtEnd } from './linger.ts';
import { responseHead } from './response-headers.ts';

/** An answer that is whole by now, and no longer than this, is written in one piece with its head. */
const ONE_PIECE_BYTES = 8 * 1024;

const REASON = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What the client gets: the upstream's answer on its way, or a problem of ours. */
export class Reply {
  /** The upstream said how its body ends; without that, only the end of its connection tells. */
  framed = true;
  /** All that there is to say has been said; the client may still have to take it. */
  over = false;
  readonly #context: ForwardContext;
  readonly #f: Forwardable;
  /** The client can tell the end of the body from a break of the connection. */
  #delimited = true;
  /** The first piece of the body, while the rest may come in the same moment. */
  #first: Buffer | undefined;
  /** The head has left, or is about to, with what has come of the body. */
  #flushed = false;
  #unsent = -1;

  constructor(context: ForwardContext, forwardable: Forwardable) {
    this.#context = context;
    this.#f = forwardable;
  }

  get begun(): boolean {
    return this.#f.response.headersSent;
  }

  /**
   * Writes the head. Gives a Problem, and has written nothing, where no valid answer can be made of it.
   *
   * @param reason each character a byte; one that no status line may hold (RFC 9112 §4) is left out
   */
  begin(status: number, reason: string, raw: readonly string[]): Problem | undefined {
    const { response, request, event } = this.#f;
    const head = status > 599 ? undefined : responseHead(raw, status, this.#f);
    if (head === undefined) return new Problem('upstream-invalid', { cause: new Error(`status ${status}`) });
    // RFC 9112 §6.1: no chunks for an HTTP/1.0 client, whatever its TE says.
    if (request.httpVersion === '1.0') response.useChunkedEncodingByDefault = false;
    // An answer that doesn't wait for the whole request mostly ends before it, and the connection with it.
    if (this.#context.draining() || !request.complete) response.shouldKeepAlive = false;
    try {
      response.writeHead(status, REASON.test(reason) ? reason : '', head.headers);
    } catch (cause) {
      return new Problem('upstream-invalid', { cause });
    }
    event.status = status;
    const bodyless = request.method === 'HEAD' || status === 204 || status === 304;
    this.framed = head.framed || bodyless;
    this.#delimited = head.hasLength || bodyless || response.chunkedEncoding;
    // The head must not wait for a body that may be long in coming (events, a long poll).
    process.nextTick(flush, this);
    return undefined;
  }

  /** Sends what has been held back to be sent in one piece. */
  flush(): void {
    if (this.#flushed) return;
    this.#flushed = true;
    const { response } = this.#f;
    if (response.writableEnded || response.destroyed) return;
    // An empty string of this encoding; `flushHeaders` would write the header bytes as UTF-8.
    if (this.#first === undefined) response.write('', 'latin1');
    else response.write(this.#first);
  }

  /** False when the client takes no more at present. */
  write(chunk: Buffer): boolean {
    if (this.over) return true;
    this.#f.event.bytesOut += chunk.length;
    if (!this.#flushed) {
      if (this.#first === undefined && chunk.length <= ONE_PIECE_BYTES) {
        this.#first = chunk;
        return true;
      }
      if (this.#first !== undefined) this.flush();
      this.#flushed = true;
    }
    return this.#f.response.write(chunk);
  }

  end(): void {
    if (this.over) return;
    this.over = true;
    const { request, response } = this.#f;
    if (!request.complete) lingerAtEnd(request.socket); // An answer that didn't wait for the whole request.
    // As text of this encoding it is one string with the head, and one write; a buffer would be a second one.
    if (this.#flushed || this.#first === undefined) response.end();
    else response.end(this.#first.toString('latin1'), 'latin1');
  }

  /** A problem as the answer; where one has begun, the client has to see that it is not whole. */
  fail(problem: Problem): void {
    if (this.over) return;
    const { response, event, corsOrigin } = this.#f;
    if (this.begun) {
      event.code = problem.code;
      this.breakOff();
    } else {
      this.over = true;
      this.#context.explain(response, problem, corsOrigin, event);
    }
  }

  /** The client's connection ends where the body broke off. */
  breakOff(): void {
    if (this.over) return;
    this.flush();
    this.over = true;
    // Later, because what has just been written may still be held back to be written together.
    setImmediate(() => this.#cut(this.#f.request.socket));
  }

  #cut(socket: Socket): void {
    if (this.#delimited) socket.destroySoon();
    // Where only the end of the connection ends the body, an orderly end would be a lie. First what came before.
    else socket.write('', () => setImmediate(() => socket.resetAndDestroy()));
  }

  /** The client has taken nothing since this was asked before. */
  standsStill(): boolean {
    const before = this.#unsent;
    this.#unsent = this.#f.response.writableLength;
    return before === this.#unsent;
  }
}

function flush(reply: Reply): void {
  if (!reply.over) reply.flush();
}
