import type { Socket } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { type Deadline, untilMs } from '../base/deadline.ts';
import { endAbruptly } from './client/abrupt-end.ts';
import type { ForwardContext } from './forwardable.ts';
import { deadline, type Watched } from './watchdog.ts';

/** When one side ends, the other has this long to read what was sent to it. */
const FLUSH_MS = 500;
/** The monotonic clock stops while the machine sleeps; so the expiry is checked this often. */
const CHECK_MS = 30_000;

/** When a tunnel is closed, though neither side has ended it. */
interface TunnelLimits {
  /** 0 for no limit. */
  readonly idleMs: number;
  /** Undefined for no limit. */
  readonly expires: Deadline | undefined;
}

/** Passes bytes both ways between two connections until one of them ends. */
export class Tunnel implements Watched {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  memberAt = -1;
  /** Bytes from the client, and to the client. */
  bytesIn = 0;
  bytesOut = 0;
  /** The tunnel was closed because its token expired. */
  expired = false;
  readonly #clock: Clock;
  readonly #bytesPassed: (bytes: number) => void;
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #limits: TunnelLimits;
  #idleUntilMonoMs = Number.POSITIVE_INFINITY;
  #checkMonoMs = Number.POSITIVE_INFINITY;

  constructor(context: ForwardContext, client: Socket, upstream: Socket, limits: TunnelLimits) {
    this.#clock = context.clock;
    this.#bytesPassed = context.bytesPassed;
    this.#client = client;
    this.#upstream = upstream;
    this.#limits = limits;
  }

  open(): void {
    endTogether(this.#client, this.#upstream);
    endTogether(this.#upstream, this.#client);
    this.#client.on('data', (chunk: Buffer) => {
      this.bytesIn += chunk.length;
      this.#progressed();
      this.#bytesPassed(chunk.length);
    });
    this.#upstream.on('data', (chunk: Buffer) => {
      this.bytesOut += chunk.length;
      this.#progressed();
      this.#bytesPassed(chunk.length);
    });
    // What waited has been taken: a side that was held up may now need a while to send.
    this.#client.on('drain', () => this.#progressed());
    this.#upstream.on('drain', () => this.#progressed());
    this.#client.pipe(this.#upstream).pipe(this.#client);
    this.#scheduleCheck();
    this.#progressed();
  }

  /** The watchdog calls this: the token has expired, or the tunnel was idle for too long, or the expiry is to be checked. */
  expire(nowMonoMs: number): void {
    const { expires } = this.#limits;
    if (expires !== undefined && untilMs(expires, this.#clock) <= 0) {
      this.expired = true;
      endSoon(this.#client);
      endSoon(this.#upstream);
      this.deadlineMonoMs = Number.POSITIVE_INFINITY;
    } else if (nowMonoMs >= this.#idleUntilMonoMs) {
      this.#client.destroy();
      this.#upstream.destroy();
    } else {
      this.#scheduleCheck();
    }
  }

  #progressed(): void {
    if (this.expired) return;
    this.#idleUntilMonoMs = deadline(this.#clock, this.#limits.idleMs);
    this.deadlineMonoMs = Math.min(this.#idleUntilMonoMs, this.#checkMonoMs);
  }

  #scheduleCheck(): void {
    const { expires } = this.#limits;
    if (expires === undefined) return;
    this.#checkMonoMs = this.#clock.monoMs() + Math.min(untilMs(expires, this.#clock), CHECK_MS);
    this.deadlineMonoMs = Math.min(this.#idleUntilMonoMs, this.#checkMonoMs);
  }
}

/** Ends `other` after `one`: once it has read what was sent to it, or by a reset if `one` was reset. */
function endTogether(one: Socket, other: Socket): void {
  one.on('error', () => {}); // `close` follows.
  one.on('end', () => {
    endSoon(one);
    endSoon(other);
  });
  one.on('close', (hadError: boolean) => {
    if (hadError && other.writable) other.write('', () => setImmediate(() => endAbruptly(other)));
    else other.destroySoon();
    destroyLater(other);
  });
}

function endSoon(socket: Socket): void {
  socket.destroySoon();
  destroyLater(socket);
}

function destroyLater(socket: Socket): void {
  if (!socket.destroyed) setTimeout(() => socket.destroy(), FLUSH_MS).unref();
}
