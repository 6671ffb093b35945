import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { connectionName, endedConnections } from './kernel-connections.ts';

/** A connection that is paused at two checks is probed, so that a departure is noticed within a second. */
const CHECK_MS = 400;
/** The pause after a check is at least this many times as long as the check: the kernel's list may be long. */
const PAUSE_FACTOR = 5;

interface Paused {
  readonly socket: Socket;
  /** It was paused at the last check, too; a shorter pause is not probed. */
  pausedBefore: boolean;
}

/**
 * Detects clients that leave while their connection is not read: their FIN waits in the kernel after the bytes that they
 * sent, and Node reports a reset only to a reader. Reading on would only move the bytes into our memory. So paused
 * connections are checked every 400 ms; while none is paused, this costs nothing.
 */
export class Departures {
  /** By the paused stream: the body of a request, or a connection. */
  readonly #paused = new Map<Readable, Paused>();
  #timer: NodeJS.Timeout | undefined;

  /** Watches the connection whenever `reader`, which reads it, is paused. */
  watchWhenPaused(reader: Readable, socket: Socket): void {
    reader
      .on('pause', () => this.watch(reader, socket))
      .on('resume', () => {
        // The event comes a moment later, when the reader may be paused again.
        if (!reader.isPaused()) this.forget(reader);
      });
  }

  watch(reader: Readable, socket: Socket): void {
    if (this.#paused.has(reader)) return;
    this.#paused.set(reader, { socket, pausedBefore: false });
    this.#checkIn(CHECK_MS);
  }

  forget(reader: Readable): void {
    this.#paused.delete(reader);
  }

  /** Probes the client of `reader` at once. @returns false if it has left; the connection is then destroyed */
  async isConnected(reader: Readable): Promise<boolean> {
    const paused = this.#paused.get(reader);
    if (paused === undefined) return true;
    await this.#probe([paused]);
    return !paused.socket.destroyed;
  }

  #checkIn(ms: number): void {
    this.#timer ??= setTimeout(() => void this.#check(), ms).unref();
  }

  async #check(): Promise<void> {
    const begun = performance.now();
    const suspects: Paused[] = [];
    for (const [reader, paused] of this.#paused) {
      if (paused.socket.destroyed) this.#paused.delete(reader);
      else if (paused.pausedBefore) suspects.push(paused);
      else paused.pausedBefore = true;
    }
    await this.#probe(suspects);
    this.#timer = undefined;
    if (this.#paused.size > 0) this.#checkIn(Math.max(CHECK_MS, PAUSE_FACTOR * (performance.now() - begun)));
  }

  async #probe(suspects: readonly Paused[]): Promise<void> {
    // An empty write sends nothing, but fails on a reset connection, which then closes by itself.
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
