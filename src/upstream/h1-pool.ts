import type { Socket } from 'node:net';
import { ConnectionTimes } from '../base/journey.ts';
import { Members } from '../base/members.ts';
import type { Receiver, SendOptions } from './carrier.ts';
import type { Connector } from './connector.ts';
import { Http1Connection, type Http1ConnectionOwner } from './h1-connection.ts';
import { IdleConnections, isFit, REST_MS } from './idle-connections.ts';
import { ReadBuffer } from './read-buffer.ts';
import { connectProblem, upstreamFailure } from './upstream-error.ts';

interface Http1PoolOptions {
  /** The value of `Host`. */
  readonly host: string;
  readonly headerSizeBytes: number;
  readonly open: Connector;
  /** Connections use neither TLS nor an outbound proxy, so they can read into a given buffer. */
  readonly plain: boolean;
}

/** How often connections that have been idle for too long are closed. */
const SWEEP_MS = 1_000;
/** After bytes that belong to no response, no connection to the origin is reused for this long. */
const DISTRUST_MS = 60_000;

interface Waiting {
  readonly receiver: Receiver;
  readonly once: boolean;
}

/** If no new connection can be made, how often an idle one is looked for. */
const IDLE_TRIES = 4;

/** An attempt to connect that failed. */
interface Failed {
  readonly error: Error;
  readonly times: ConnectionTimes;
  /** How many more times an idle connection may be looked for. */
  readonly tries: number;
}

/**
 * The HTTP/1.1 connections to one origin, each with one request at a time.
 *
 * A request gets an idle connection at the end of the event loop's turn. By then all data that came before the request
 * has been read, so the pool knows which idle connections were closed or got bytes that belong to no response.
 */
export class Http1Pool implements Http1ConnectionOwner {
  readonly host: string;
  readonly headerSizeBytes: number;
  readonly #open: Connector;
  readonly #plain: boolean;
  readonly #all = new Members<Http1Connection>();
  readonly #idle = new IdleConnections();
  #waiting: Waiting[] = [];
  #turnScheduled = false;
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
      this.#sendOnNew(receiver, { upgrade, mayUseIdle: false });
    } else {
      this.#waiting.push({ receiver, once });
      this.#turnSoon();
    }
  }

  /** @param mayUseIdle whether an idle connection may serve if no new one can be made, e.g. while the name can't be resolved */
  #sendOnNew(receiver: Receiver, { upgrade, mayUseIdle }: { upgrade: boolean; mayUseIdle: boolean }): void {
    // The receiver of an upgrade reads from the socket itself.
    const buffer = this.#plain && !upgrade ? new ReadBuffer() : undefined;
    const times = new ConnectionTimes();
    this.#open(
      (error, socket) => {
        if (error !== null) {
          this.#sendOnIdle(receiver, { error, times, tries: mayUseIdle ? IDLE_TRIES : 0 });
          return;
        }
        receiver.opened(times);
        if (socket.destroyed) {
          receiver.failed(upstreamFailure('closed-connecting'), 'no');
        } else {
          const connection = new Http1Connection(this, socket, buffer);
          this.#all.add(connection);
          connection.carry(receiver);
        }
      },
      { buffer, times },
    );
  }

  /** No new connection could be made: sends the request on an idle one, once that has rested. */
  #sendOnIdle(receiver: Receiver, failed: Failed): void {
    const { error, times, tries } = failed;
    const now = performance.now();
    this.#idle.findRested(now);
    const idle = tries > 0 ? this.#idle.take(true, now) : undefined;
    if (idle !== undefined) {
      idle.carry(receiver);
    } else if (tries > 0 && this.#idle.size > 0) {
      setTimeout(() => this.#sendOnIdle(receiver, { ...failed, tries: tries - 1 }), REST_MS);
    } else {
      receiver.opened(times);
      receiver.failed(connectProblem(error), 'no');
    }
  }

  #turnSoon(): void {
    if (this.#turnScheduled) return;
    this.#turnScheduled = true;
    setImmediate(this.#turn);
  }

  #endOfTurn(): void {
    this.#turnScheduled = false;
    const now = performance.now();
    const waiting = this.#waiting;
    const next: Waiting[] = [];
    this.#waiting = next;
    this.#idle.findRested(now);
    for (const one of waiting) {
      const connection = this.#idle.take(one.once, now);
      if (connection !== undefined) connection.carry(one.receiver);
      // A connection that has just been freed can be taken a turn later, which is sooner than a new one is made.
      else if (!one.once && next.length < this.#idle.freed) next.push(one);
      else this.#sendOnNew(one.receiver, { upgrade: false, mayUseIdle: true });
    }
    this.#idle.endTurn();
    if (next.length > 0) this.#turnSoon();
  }

  /** Takes over an open connection, for the next request. */
  adopt(socket: Socket, times: ConnectionTimes): void {
    if (socket.destroyed) return;
    const connection = new Http1Connection(this, socket);
    connection.times = times;
    this.#all.add(connection);
    if (this.#closed) connection.destroy();
    else this.#idle.addUnused(connection);
    this.#sweepSoon();
  }

  /** Closes idle connections now, and the others when their requests end. A request that begins later gets a new one. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#sweep);
    this.#idle.destroy();
  }

  destroy(): void {
    this.close();
    for (const { receiver } of this.#waiting.splice(0))
      receiver.failed(upstreamFailure('closed-connecting'), 'no');
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
