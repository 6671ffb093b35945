import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connectionName, endedConnections } from './kernel-connections.ts';

/** A connection that is paused at two checks is probed, so that a departure is noticed within a second. */
const LOOK_MS = 400;
/** A look rests five times as long as it took: the kernel's list is long where the machine has many connections. */
const REST = 5;

interface Held {
  readonly socket: Socket;
  /** It was paused at the last check, too: a connection that is merely slow is not probed. */
  stood: boolean;
}

/**
 * Notices clients that leave while nothing is read from them. Their FIN stands in the kernel behind what they sent, a
 * reset isn't told to anyone who doesn't read, and to read on would only move the bytes into our memory. So while
 * a connection is paused, it is checked twice a second; else this costs nothing.
 */
export class Departures {
  /** By what has been paused: the body of a request, or a connection as a whole. */
  readonly #held = new Map<Readable, Held>();
  #timer: NodeJS.Timeout | undefined;

  /** Watches over a connection whenever `reader`, by which it is read, is paused. */
  attend(reader: Readable, socket: Socket): void {
    reader
      .on('pause', () => this.watch(reader, socket))
      .on('resume', () => {
        // It is told a moment later, when it may have been paused again.
        if (!reader.isPaused()) this.forget(reader);
      });
  }

  watch(reader: Readable, socket: Socket): void {
    if (this.#held.has(reader)) return;
    this.#held.set(reader, { socket, stood: false });
    this.#lookIn(LOOK_MS);
  }

  forget(reader: Readable): void {
    this.#held.delete(reader);
  }

  /** Probes the client that `reader` reads from at once; if it is gone, the connection is destroyed. */
  async isHere(reader: Readable): Promise<boolean> {
    const held = this.#held.get(reader);
    if (held === undefined) return true;
    await this.#ask([held]);
    return !held.socket.destroyed;
  }

  #lookIn(ms: number): void {
    this.#timer ??= setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    const begun = performance.now();
    const suspects: Held[] = [];
    for (const [reader, held] of this.#held) {
      if (held.socket.destroyed) this.#held.delete(reader);
      else if (held.stood) suspects.push(held);
      else held.stood = true;
    }
    await this.#ask(suspects);
    this.#timer = undefined;
    if (this.#held.size > 0) this.#lookIn(Math.max(LOOK_MS, REST * (performance.now() - begun)));
  }

  async #ask(suspects: readonly Held[]): Promise<void> {
    // An empty write sends nothing, and fails where the connection is gone: it then ends by itself.
    for (const { socket } of suspects) {
      if (socket.writable && socket.writableLength === 0) socket.write('');
    }
    const overTcp = suspects.filter(({ socket }) => socket.remotePort !== undefined);
    if (overTcp.length === 0) return;
    const ended = await endedConnections();
    for (const { socket } of overTcp) {
      if (!socket.destroyed && ended.has(connectionName(socket))) socket.destroy();
    }
  }
}
