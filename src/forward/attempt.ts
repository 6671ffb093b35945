import type { Dispatcher } from 'undici';
import { type AccessToken, isUsable } from '../credentials/access-token.ts';
import type { ConnectionAware, UpstreamConnection } from '../upstream/connection.ts';
import type { Exchange } from './exchange.ts';
import { rawHeaders } from './raw-headers.ts';
import { REPLAY_LIMIT_BYTES } from './request-body.ts';

/**
 * One sending of a request, as undici's dispatch handler. An exchange has mostly one; it has a second one after a
 * 401 or on a stale connection. What a former one still has to say is thrown away here.
 */
export class Attempt implements Dispatcher.DispatchHandler, ConnectionAware {
  /** Set by the connection that takes the request. */
  connection?: UpstreamConnection;
  controller: Dispatcher.DispatchController | undefined;
  /** The connection had carried a request before. */
  reused = false;
  /** A first byte of the answer has come. */
  responseBegun = false;
  readonly token: AccessToken | undefined;
  readonly #exchange: Exchange;
  #discarded = 0;

  constructor(exchange: Exchange, token: AccessToken | undefined) {
    this.#exchange = exchange;
    this.token = token;
  }

  get #current(): boolean {
    return this.#exchange.attempt === this;
  }

  /** Just before the first byte leaves: the last moment at which nothing has happened yet. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (!this.#current) {
      controller.abort(new Error('the client has left'));
    } else if (this.token !== undefined && !isUsable(this.token, this.#exchange.clock)) {
      // It took long to connect, and the token is over.
      this.#exchange.restart();
      controller.abort(new Error('the token expired before the request was sent'));
    } else {
      if (this.connection !== undefined) this.reused = this.connection.requests++ > 0;
      this.#exchange.requestStarted();
    }
  }

  onResponseStarted(): void {
    this.responseBegun = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage?: string,
  ): void {
    if (!this.#current) return;
    if (status < 100 || status === 101) {
      // A 101 that nobody asked for is no interim answer (RFC 9110 §15.2.2): nothing that follows it is HTTP.
      this.#exchange.responseInvalid(status);
    } else if (status >= 200) {
      const reason = statusMessage === undefined ? '' : asBytes(statusMessage);
      this.#exchange.responseStarted(this, status, reason, rawHeaders(controller));
    }
    // 1xx are dropped: `Expect` is answered on this side, and a client that asked for nothing expects nothing.
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#current) {
      this.#exchange.responseData(controller, chunk);
      return;
    }
    // The rest of an answer that nobody gets: read while it is short, for the connection's sake.
    this.#discarded += chunk.length;
    if (this.#discarded > REPLAY_LIMIT_BYTES) controller.abort(new Error('the answer is not wanted'));
  }

  onResponseEnd(): void {
    if (this.#current) this.#exchange.responseEnded(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#current) this.#exchange.failed(this, error);
  }
}

/** undici reads the reason phrase as UTF-8: bytes that were none are lost, and the phrase with them. */
function asBytes(text: string): string {
  if (text.includes('\ufffd')) return '';
  return /[^\x00-\x7f]/.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text;
}
