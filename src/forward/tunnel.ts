import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { deadline, type Watched } from './watchdog.ts';

/** A side that has been left has this long to take what was sent to it before. */
const FLUSH_MS = 500;

/** Bytes both ways between two connections, until one of them ends. */
export class Tunnel implements Watched {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  /** Bytes from the client and to it. */
  bytesIn = 0;
  bytesOut = 0;
  readonly #clock: Clock;
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #idleMs: number;

  constructor(clock: Clock, client: Socket, upstream: Socket, idleMs: number) {
    this.#clock = clock;
    this.#client = client;
    this.#upstream = upstream;
    this.#idleMs = idleMs;
  }

  open(): void {
    endTogether(this.#client, this.#upstream);
    endTogether(this.#upstream, this.#client);
    this.#client.on('data', (chunk: Buffer) => {
      this.bytesIn += chunk.length;
      this.#touch();
    });
    this.#upstream.on('data', (chunk: Buffer) => {
      this.bytesOut += chunk.length;
      this.#touch();
    });
    this.#client.pipe(this.#upstream).pipe(this.#client);
    this.#touch();
  }

  /** The watchdog's call: nothing has moved for too long. */
  expire(): void {
    this.#client.destroy();
    this.#upstream.destroy();
  }

  #touch(): void {
    this.deadlineMonoMs = deadline(this.#clock, this.#idleMs);
  }
}

/** When one ends, so does the other, after it has got what was sent to it; when one is reset, so is the other. */
function endTogether(one: Socket, other: Socket): void {
  one.on('error', () => {}); // `close` tells of it.
  one.on('end', () => {
    leave(one);
    leave(other);
  });
  one.on('close', (hadError: boolean) => {
    if (hadError && other.writable) other.write('', () => setImmediate(() => other.resetAndDestroy()));
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
