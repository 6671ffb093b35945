import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ConnectionTimes } from '../base/journey.ts';
import type { Receiver } from './carrier.ts';
import type { Connected, Connector } from './connector.ts';
import { Http2Connection, type Http2ConnectionOwner } from './h2-connection.ts';
import { connectProblem } from './upstream-error.ts';

interface Http2PoolOptions {
  readonly origin: string;
  readonly headerSizeBytes: number;
  readonly connectTimeoutMs: number;
  /** Opens a connection that offers HTTP/2. */
  readonly open: Connector;
  /** The upstream chose HTTP/1.1: passes the connection and the waiting receivers. Called at most once. */
  readonly http1: (socket: Socket, times: ConnectionTimes, waiting: readonly Receiver[]) => void;
  /** The upstream speaks HTTP/2 but requires HTTP/1.1: passes the receivers that wait for a connection. */
  readonly http1Required: (waiting: readonly Receiver[]) => void;
  /** The upstream closes connections that are in use. */
  readonly retiredEarly: () => void;
}

/**
 * The HTTP/2 connections to one origin: mostly one, and another when that is full. docs/decisions/wire.md says why
 * undici's HTTP/2 client is not used.
 */
export class Http2Pool implements Http2ConnectionOwner {
  readonly origin: string;
  readonly headerSizeBytes: number;
  readonly connectTimeoutMs: number;
  readonly #options: Http2PoolOptions;
  readonly #connections = new Set<Http2Connection>();
  #waiting: Receiver[] = [];
  #opening = false;
  #closed = false;

  constructor(options: Http2PoolOptions) {
    this.#options = options;
    this.origin = options.origin;
    this.headerSizeBytes = options.headerSizeBytes;
    this.connectTimeoutMs = options.connectTimeoutMs;
  }

  send(receiver: Receiver): void {
    this.#waiting.push(receiver);
    this.sendWaiting();
  }

  /** Closes each connection when all requests that `send` was given have ended. */
  close(): void {
    this.#closed = true;
    this.#closeWhenDone();
  }

  destroy(): void {
    this.#closed = true;
    this.#failWaiting(new Error('stopped'));
    for (const connection of [...this.#connections]) connection.destroy();
  }

  sendWaiting(): void {
    while (this.#waiting.length > 0) {
      const connection = this.#withRoom();
      if (connection === undefined) {
        this.#grow();
        return;
      }
      connection.send(this.#waiting.shift()!);
    }
    this.#closeWhenDone();
  }

  http1Required(): void {
    this.#options.http1Required(this.#waiting.splice(0));
  }

  retiredEarly(): void {
    this.#options.retiredEarly();
  }

  gone(connection: Http2Connection, error: Error): void {
    // It failed before its SETTINGS: another connection would fail in the same way, so the waiting requests fail, too.
    if (!connection.settled) this.#failWaiting(error);
    else this.sendWaiting();
  }

  closed(connection: Http2Connection): void {
    this.#connections.delete(connection);
  }

  #withRoom(): Http2Connection | undefined {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    return undefined;
  }

  #grow(): void {
    if (this.#opening || [...this.#connections].some(({ settling }) => settling)) return;
    this.#opening = true;
    const times = new ConnectionTimes();
    const opened: Connected = (error, socket) => {
      this.#opening = false;
      if (error !== null) {
        for (const receiver of this.#waiting) receiver.opened(times);
        this.#failWaiting(error);
      } else if ((socket as TLSSocket).alpnProtocol !== 'h2') {
        this.#options.http1(socket, times, this.#waiting.splice(0));
        this.close();
      } else {
        this.#waiting[0]?.opened(times);
        this.#connections.add(new Http2Connection(this, socket));
        this.sendWaiting();
      }
    };
    this.#options.open(opened, { times });
  }

  #failWaiting(error: Error): void {
    for (const receiver of this.#waiting.splice(0)) receiver.failed(connectProblem(error), 'no');
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (!this.#closed || this.#waiting.length > 0) return;
    for (const connection of [...this.#connections]) connection.retire();
  }
}
