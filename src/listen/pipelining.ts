import type { Socket } from 'node:net';
import type { Departures } from '../forward/client/departures.ts';
import { answering, holdReading } from '../node/server-socket.ts';

/** So many pipelined requests may wait for their turn before the connection is read no further, and again read. */
const MOST_WAITING = 64;
const FEW_WAITING = 16;
const waiting = new WeakMap<Socket, number>();
const held = new WeakMap<Socket, () => void>();

/**
 * Counts a request that waits for its turn; the result takes it off again. A client that sends on without reading an
 * answer is held up by TCP, and not by our memory.
 */
export function holdBack(socket: Socket, departures: Departures): () => void {
  const count = (change: number) => {
    const now = (waiting.get(socket) ?? 0) + change;
    waiting.set(socket, now);
    return now;
  };
  if (count(1) === MOST_WAITING) {
    held.set(socket, holdReading(socket));
    departures.watch(socket, socket);
  }
  return () => {
    const release = count(-1) === FEW_WAITING ? held.get(socket) : undefined;
    if (release === undefined) return;
    held.delete(socket);
    departures.forget(socket);
    release();
  };
}

/** Acts once the answers to all requests that came before have been given. */
export function whenQuiet(socket: Socket, act: () => void): void {
  const current = answering(socket);
  if (current === undefined) act();
  else current.once('close', () => whenQuiet(socket, act));
}
