import type { Socket } from 'node:net';
import type { Problem } from '../base/errors.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { Carrier, Receiver, Repeatable } from '../upstream/carrier.ts';
import type { ResponseHead } from '../upstream/response-reader.ts';
import { REPLAY_LIMIT_BYTES } from './client/request-body.ts';
import type { Exchange } from './exchange.ts';
import type { SendingTrace } from './trace.ts';

/**
 * One sending of a request. An exchange has mostly one; it has another after a 401 or on a stale connection. All that
 * the upstream does comes to an exchange through here, so that what a former attempt still has to say is dropped,
 * and a fault of ours ends one request and no more.
 */
export class Attempt implements Receiver {
  /** Undefined until there is a connection, and when the request is over. */
  carrier: Carrier | undefined;
  /** No more of the response is wanted for now. */
  paused = false;
  readonly token: AccessToken | undefined;
  readonly trace: SendingTrace | undefined;
  readonly #exchange: Exchange;
  #discarded = 0;

  constructor(exchange: Exchange, token: AccessToken | undefined, trace: SendingTrace | undefined) {
    this.#exchange = exchange;
    this.token = token;
    this.trace = trace;
  }

  get #current(): boolean {
    return this.#exchange.attempt === this;
  }

  ready(carrier: Carrier): void {
    this.carrier = carrier;
    if (this.#current) this.#guard(() => this.#exchange.connected(this, carrier));
    else this.abort();
  }

  responded(head: ResponseHead): void {
    this.trace?.responded(head.status);
    if (this.#current) this.#guard(() => this.#exchange.responded(this, head));
  }

  received(piece: Buffer): boolean {
    if (!this.#current) {
      this.#discard(piece);
      return true;
    }
    try {
      return this.#exchange.received(this, piece);
    } catch (cause) {
      this.#exchange.crash(cause);
      return false;
    }
  }

  ended(): void {
    this.carrier = undefined;
    this.trace?.ended();
    if (this.#current) this.#guard(() => this.#exchange.ended());
  }

  switched(head: ResponseHead, socket: Socket, early: Buffer): void {
    this.carrier = undefined;
    this.trace?.responded(head.status);
    if (this.#current) this.#guard(() => this.#exchange.switched(this, head, socket, early));
    else socket.on('error', () => {}).destroy();
  }

  failed(problem: Problem, repeatable: Repeatable): void {
    this.carrier = undefined;
    this.trace?.failed(problem);
    if (this.#current) this.#guard(() => this.#exchange.failed(this, problem, repeatable));
  }

  drained(): void {
    if (this.#current) this.#guard(() => this.#exchange.drained());
  }

  pause(): void {
    this.paused = true;
    this.carrier?.pause();
  }

  resume(): void {
    this.paused = false;
    this.carrier?.resume();
  }

  abort(): void {
    const { carrier } = this;
    this.carrier = undefined;
    carrier?.abort();
  }

  /** The rest of an answer that nobody gets: read while it is short, for the connection's sake. */
  #discard(piece: Buffer): void {
    this.#discarded += piece.length;
    if (this.#discarded > REPLAY_LIMIT_BYTES) this.abort();
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (cause) {
      this.#exchange.crash(cause);
    }
  }
}
