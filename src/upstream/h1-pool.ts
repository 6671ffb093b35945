import type { Socket } from 'node:net';
import { Members } from '../base/members.ts';
import type { Receiver, SendOptions } from './carrier.ts';
import { CONNECTION_MAX_AGE_MS } from './connection.ts';
import type { Connector } from './connector.ts';
import { type ConnectionOwner, Http1Connection } from './h1-connection.ts';
import { ReadBuffer } from './read-buffer.ts';
import { upstreamFailure, upstreamProblem } from './upstream-error.ts';

export interface Http1PoolOptions {
  /** For `Host`. */
  readonly host: string;
  readonly headerSizeBytes: number;
  /** Opens a connection that is nobody's yet; never calls back before it returns. */
  readonly open: Connector;
  /** Connections are plain, so that it can be said what they read into. */
  readonly plain: boolean;
}

/** How often connections that have been idle for too long are looked for. */
const SWEEP_MS = 1_000;

/**
 * The HTTP/1.1 connections to one origin, each with one request at a time. The one used last is taken first: it is
 * the least likely to be closed by now, and the others come to their idle time.
 */
export class Http1Pool implements ConnectionOwner {
  readonly host: string;
  readonly headerSizeBytes: number;
  readonly #open: Connector;
  readonly #plain: boolean;
  readonly #all = new Members<Http1Connection>();
  readonly #idle: Http1Connection[] = [];
  #sweep: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ host, headerSizeBytes, open, plain }: Http1PoolOptions) {
    this.host = host;
    this.headerSizeBytes = headerSizeBytes;
    this.#open = open;
    this.#plain = plain;
  }

  send(receiver: Receiver, { fresh, upgrade }: SendOptions): void {
    const idle = fresh || upgrade ? undefined : this.#takeIdle();
    if (idle !== undefined) {
      idle.carry(receiver);
      return;
    }
    // What is read from a tunnel is read by the tunnel.
    const buffer = this.#plain && !upgrade ? new ReadBuffer() : undefined;
    this.#open(
      (error, socket) => {
        if (error !== null) {
          receiver.failed(upstreamProblem(error), 'no');
        } else if (socket.destroyed) {
          receiver.failed(upstreamFailure('closed'), 'no');
        } else {
          const connection = new Http1Connection(this, socket, buffer);
          this.#all.add(connection);
          connection.carry(receiver);
        }
      },
      { buffer },
    );
  }

  /** Takes a connection that is open already, for the next request. */
  adopt(socket: Socket): void {
    if (socket.destroyed) return;
    const connection = new Http1Connection(this, socket);
    this.#all.add(connection);
    this.free(connection);
  }

  /** Lets the requests under way end, then closes. What begins now gets a connection of its own. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#sweep);
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  destroy(): void {
    this.close();
    for (const connection of this.#all) connection.destroy();
  }

  free(connection: Http1Connection): void {
    if (this.#closed || !fit(connection, performance.now())) {
      connection.destroy();
      return;
    }
    this.#idle.push(connection);
    this.#sweep ??= setTimeout(() => this.#sweepIdle(), SWEEP_MS).unref();
  }

  gone(connection: Http1Connection): void {
    if (!this.#all.delete(connection)) return;
    const index = this.#idle.lastIndexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
  }

  #takeIdle(): Http1Connection | undefined {
    const now = performance.now();
    for (;;) {
      const connection = this.#idle.pop();
      if (connection === undefined || fit(connection, now)) return connection;
      connection.destroy();
    }
  }

  #sweepIdle(): void {
    this.#sweep = undefined;
    const now = performance.now();
    for (const connection of this.#idle.filter((one) => !fit(one, now))) connection.destroy();
    if (this.#idle.length > 0) this.#sweep = setTimeout(() => this.#sweepIdle(), SWEEP_MS).unref();
  }
}

function fit({ idleUntilMonoMs, openedMonoMs }: Http1Connection, now: number): boolean {
  return idleUntilMonoMs > now && now - openedMonoMs < CONNECTION_MAX_AGE_MS;
}
