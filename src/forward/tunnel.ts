import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { type Deadline, untilMs } from '../base/deadline.ts';
import { endAbruptly } from './client/abrupt-end.ts';
import type { ForwardContext } from './forwardable.ts';
import { deadline, type Watched } from './watchdog.ts';

/** When one side ends, the other has this long to read what was sent to it before. */
const FLUSH_MS = 500;
/** The monotonic clock stops while the machine sleeps; so the expiry is checked at intervals. */
const LOOK_MS = 30_000;

/** What limits a tunnel that neither side ends. */
export interface TunnelLimits {
  /** 0 for none. */
  readonly idleMs: number;
  /** Undefined for none. */
  readonly expires: Deadline | undefined;
}

/** Bytes both ways between two connections, until one of them ends. */
export class Tunnel implements Watched {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  memberAt = -1;
  /** Bytes from the client and to it. */
  bytesIn = 0;
  bytesOut = 0;
  /** The tunnel was closed because its token expired. */
  expired = false;
  readonly #clock: Clock;
  readonly #passed: (bytes: number) => void;
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #limits: TunnelLimits;
  #idleUntilMonoMs = Number.POSITIVE_INFINITY;
  #lookMonoMs = Number.POSITIVE_INFINITY;

  constructor(context: ForwardContext, client: Socket, upstream: Socket, limits: TunnelLimits) {
    this.#clock = context.clock;
    this.#passed = context.bytesPassed;
    this.#client = client;
    this.#upstream = upstream;
    this.#limits = limits;
  }

  open(): void {
    endTogether(this.#client, this.#upstream);
    endTogether(this.#upstream, this.#client);
    this.#client.on('data', (chunk: Buffer) => {
      this.bytesIn += chunk.length;
      this.#touch();
      this.#passed(chunk.length);
    });
    this.#upstream.on('data', (chunk: Buffer) => {
      this.bytesOut += chunk.length;
      this.#touch();
      this.#passed(chunk.length);
    });
    this.#client.pipe(this.#upstream).pipe(this.#client);
    this.#lookLater();
    this.#touch();
  }

  /** The watchdog's call: the tunnel was idle for too long, or its token has expired, or it is time to check that. */
  expire(nowMonoMs: number): void {
    const { expires } = this.#limits;
    if (expires !== undefined && untilMs(expires, this.#clock) <= 0) {
      this.expired = true;
      leave(this.#client);
      leave(this.#upstream);
      this.deadlineMonoMs = Number.POSITIVE_INFINITY;
    } else if (nowMonoMs >= this.#idleUntilMonoMs) {
      this.#client.destroy();
      this.#upstream.destroy();
    } else {
      this.#lookLater();
    }
  }

  #touch(): void {
    if (this.expired) return;
    this.#idleUntilMonoMs = deadline(this.#clock, this.#limits.idleMs);
    this.deadlineMonoMs = Math.min(this.#idleUntilMonoMs, this.#lookMonoMs);
  }

  #lookLater(): void {
    const { expires } = this.#limits;
    if (expires === undefined) return;
    this.#lookMonoMs = this.#clock.monoMs() + Math.min(untilMs(expires, this.#clock), LOOK_MS);
    this.deadlineMonoMs = Math.min(this.#idleUntilMonoMs, this.#lookMonoMs);
  }
}

/** When one ends, the other ends too, after it has read what was sent to it; when one is reset, the other is reset. */
function endTogether(one: Socket, other: Socket): void {
  one.on('error', () => {}); // `close` tells of it.
  one.on('end', () => {
    leave(one);
    leave(other);
  });
  one.on('close', (hadError: boolean) => {
    if (hadError && other.writable) other.write('', () => setImmediate(() => endAbruptly(other)));
    else other.destroySoon();
    destroyLater(other);
  });
}

function leave(socket: Socket): void {
  socket.destroySoon();
  destroyLater(socket);
}

function destroyLater(socket: Socket): void {
  if (!socket.destroyed) setTimeout(() => socket.destroy(), FLUSH_MS).unref();
}
