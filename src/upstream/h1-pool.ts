import type { Socket } from 'node:net';
import { ConnectionTimes } from '../base/journey.ts';
import { Members } from '../base/members.ts';
import type { Receiver, SendOptions } from './carrier.ts';
import type { Connector } from './connector.ts';
import { type ConnectionOwner, Http1Connection } from './h1-connection.ts';
import { IdleConnections, isFit, REST_MS } from './idle-connections.ts';
import { ReadBuffer } from './read-buffer.ts';
import { connectProblem, upstreamFailure } from './upstream-error.ts';

export interface Http1PoolOptions {
  /** For `Host`. */
  readonly host: string;
  readonly headerSizeBytes: number;
  /** Opens a connection outside of the pool; never calls back before it returns. */
  readonly open: Connector;
  /** Connections use no TLS and no proxy, so they can read into a given buffer. */
  readonly plain: boolean;
}

/** How often connections that have been idle for too long are looked for. */
const SWEEP_MS = 1_000;
/** After bytes that belong to no request, each request to the origin gets a new connection for this long. */
const DISTRUST_MS = 60_000;

interface Waiting {
  readonly receiver: Receiver;
  readonly once: boolean;
}

/** Looks for an idle connection that has rested, where no new one can be made. */
const KEPT_TRIES = 4;

/** A connection that could not be made. */
interface Failed {
  readonly error: Error;
  readonly times: ConnectionTimes;
  /** How often an idle connection may still be looked for. */
  readonly tries: number;
}

/**
 * The HTTP/1.1 connections to one origin, each with one request at a time.
 *
 * A request takes an idle one at the end of the event loop's turn: by then all has been read that had come before
 * it. What came on an idle connection, its end or bytes that belong to no request, is so seen in time.
 */
export class Http1Pool implements ConnectionOwner {
  readonly host: string;
  readonly headerSizeBytes: number;
  readonly #open: Connector;
  readonly #plain: boolean;
  readonly #all = new Members<Http1Connection>();
  readonly #idle = new IdleConnections();
  #waiting: Waiting[] = [];
  #turns = false;
  readonly #turn = () => this.#endOfTurn();
  #sweep: NodeJS.Timeout | undefined;
  #distrustUntilMonoMs = 0;
  #closed = false;

  constructor({ host, headerSizeBytes, open, plain }: Http1PoolOptions) {
    this.host = host;
    this.headerSizeBytes = headerSizeBytes;
    this.#open = open;
    this.#plain = plain;
  }

  send(receiver: Receiver, { fresh, upgrade, once }: SendOptions): void {
    if (fresh || upgrade || this.#idle.size === 0) {
      this.#sendAlone(receiver, { upgrade, kept: false });
    } else {
      this.#waiting.push({ receiver, once });
      this.#turnSoon();
    }
  }

  /** @param kept an idle connection serves where no new one can be made: while the name can't be resolved, say */
  #sendAlone(receiver: Receiver, { upgrade, kept }: { upgrade: boolean; kept: boolean }): void {
    // A tunnel reads its bytes itself.
    const buffer = this.#plain && !upgrade ? new ReadBuffer() : undefined;
    const times = new ConnectionTimes();
    this.#open(
      (error, socket) => {
        if (error !== null) {
          this.#sendOnKept(receiver, { error, times, tries: kept ? KEPT_TRIES : 0 });
          return;
        }
        receiver.opened(times);
        if (socket.destroyed) {
          receiver.failed(upstreamFailure('closed'), 'no');
        } else {
          const connection = new Http1Connection(this, socket, buffer);
          this.#all.add(connection);
          connection.carry(receiver);
        }
      },
      { buffer, times },
    );
  }

  /** No new connection could be made: an idle one serves, once it has rested. */
  #sendOnKept(receiver: Receiver, failed: Failed): void {
    const { error, times, tries } = failed;
    const now = performance.now();
    this.#idle.rest(now);
    const idle = tries > 0 ? this.#idle.take(true, now) : undefined;
    if (idle !== undefined) {
      idle.carry(receiver);
    } else if (tries > 0 && this.#idle.size > 0) {
      setTimeout(() => this.#sendOnKept(receiver, { ...failed, tries: tries - 1 }), REST_MS);
    } else {
      receiver.opened(times);
      receiver.failed(connectProblem(error), 'no');
    }
  }

  #turnSoon(): void {
    if (this.#turns) return;
    this.#turns = true;
    setImmediate(this.#turn);
  }

  #endOfTurn(): void {
    this.#turns = false;
    const now = performance.now();
    const waiting = this.#waiting;
    const next: Waiting[] = [];
    this.#waiting = next;
    this.#idle.rest(now);
    for (const one of waiting) {
      const connection = this.#idle.take(one.once, now);
      if (connection !== undefined) connection.carry(one.receiver);
      // One that has just been freed is there a turn later, which is sooner than a new one.
      else if (!one.once && next.length < this.#idle.freed) next.push(one);
      else this.#sendAlone(one.receiver, { upgrade: false, kept: true });
    }
    this.#idle.endTurn();
    if (next.length > 0) this.#turnSoon();
  }

  /** Takes a connection that is open already, for the next request. */
  adopt(socket: Socket, times: ConnectionTimes): void {
    if (socket.destroyed) return;
    const connection = new Http1Connection(this, socket);
    connection.times = times;
    this.#all.add(connection);
    if (this.#closed) connection.destroy();
    else this.#idle.addUnused(connection);
    this.#sweepSoon();
  }

  /** Lets the requests under way end, then closes. What begins now gets a connection of its own. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#sweep);
    this.#idle.destroy();
  }

  destroy(): void {
    this.close();
    for (const { receiver } of this.#waiting.splice(0)) receiver.failed(upstreamFailure('closed'), 'no');
    for (const connection of this.#all) connection.destroy();
  }

  free(connection: Http1Connection): void {
    const now = connection.freeSinceMonoMs;
    if (this.#closed || now < this.#distrustUntilMonoMs || !isFit(connection, now)) {
      connection.destroy();
      return;
    }
    this.#idle.add(connection);
    this.#sweepSoon();
  }

  gone(connection: Http1Connection): void {
    if (this.#all.delete(connection)) this.#idle.remove(connection);
  }

  surplus(): void {
    this.#distrustUntilMonoMs = performance.now() + DISTRUST_MS;
    this.#idle.destroy();
  }

  #sweepSoon(): void {
    this.#sweep ??= setTimeout(() => this.#sweepIdle(), SWEEP_MS).unref();
  }

  #sweepIdle(): void {
    this.#sweep = undefined;
    for (const connection of this.#idle.unfit(performance.now())) connection.destroy();
    if (this.#idle.size > 0) this.#sweepSoon();
  }
}
