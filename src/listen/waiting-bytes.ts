import type { Socket } from 'node:net';
import type { Departures } from '../forward/client/departures.ts';

/** When more than this waits, the connection is paused. */
const MAX_WAITING_BYTES = 64 * 1024;
/** All connections read into this buffer, so bytes that are kept are copied. */
export const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * The bytes after the request that is being answered. A client that keeps sending without reading its answers is stopped by
 * TCP, and doesn't fill our memory.
 */
export class WaitingBytes {
  readonly #socket: Socket;
  readonly #departures: Departures;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #paused = false;

  constructor(socket: Socket, departures: Departures) {
    this.#socket = socket;
    this.#departures = departures;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  add(piece: Buffer): void {
    this.#pieces.push(ownMemory(piece));
    this.#grow(piece.length);
  }

  putBack(piece: Buffer): void {
    this.#pieces.unshift(ownMemory(piece));
    this.#grow(piece.length);
  }

  /** Removes the first piece. */
  take(): Buffer {
    const piece = this.#pieces.shift()!;
    this.#bytes -= piece.length;
    if (this.#bytes <= MAX_WAITING_BYTES) this.#resume();
    return piece;
  }

  /** Removes all pieces. */
  takeAll(): readonly Buffer[] {
    this.#bytes = 0;
    this.#resume();
    return this.#pieces.splice(0);
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= MAX_WAITING_BYTES) return;
    this.#socket.pause(); // Each time, because Node resumes a connection with each body that it drops.
    if (this.#paused) return;
    this.#paused = true;
    this.#departures.watch(this.#socket, this.#socket);
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#departures.forget(this.#socket);
    this.#socket.resume();
  }
}

function ownMemory(bytes: Buffer): Buffer {
  return bytes.buffer === READ_BUFFER.buffer ? Buffer.from(bytes) : bytes;
}
