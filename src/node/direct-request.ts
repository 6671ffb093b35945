import { IncomingMessage } from 'node:http';

/** Takes a body, piece by piece. */
export interface BodyConsumer {
  take(piece: Buffer): void;
  end(): void;
}

/**
 * A request that passes its body to one consumer, in the call in which Node's parser finds a piece. A stream would keep
 * a queue and schedule events for each piece, which for a small body costs more than everything else. Until it has a
 * consumer, it is Node's usual stream.
 *
 * It relies on three internals of Node: the parser calls `push` and stops reading when that returns false; the server
 * reads `readableEnded`; and the server reads and drops a body that no reader has begun to read.
 */
export class DirectRequest extends IncomingMessage {
  #consumer: BodyConsumer | undefined;
  #paused = false;
  /** Pieces that came while it was paused. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #whole = false;
  #endPassed = false;

  /** @returns false if the stream holds a part of the body already: its events then give the whole body */
  passBodyTo(consumer: BodyConsumer): boolean {
    if (this.readableLength > 0 || this.complete || this.destroyed) return false;
    this.#consumer = consumer;
    this._read(0); // Tells Node that the body is being read.
    return true;
  }

  /** Bytes of the body that have come and were not passed on. */
  get unreadBytes(): number {
    return this.#consumer === undefined ? this.readableLength : this.#waitingBytes;
  }

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    const consumer = this.#consumer;
    if (consumer === undefined) return super.push(piece, encoding);
    if (piece === null) this.#whole = true;
    if (this.destroyed) return false;
    if (this.#paused || this.#waiting.length > 0) {
      if (piece !== null) this.#wait(piece);
    } else if (piece === null) {
      this.#passEnd(consumer);
    } else {
      consumer.take(piece);
    }
    return this.#waitingBytes < this.readableHighWaterMark;
  }

  override pause(): this {
    if (this.#consumer === undefined) return super.pause();
    this.#paused = true;
    return this;
  }

  override resume(): this {
    if (this.#consumer === undefined) return super.resume();
    if (!this.#paused) return this;
    this.#paused = false;
    // Later, as in a stream: the caller of `resume` may not have finished.
    if (this.#waiting.length > 0 || this.#whole) process.nextTick(passWaiting, this);
    this._read(0);
    return this;
  }

  override isPaused(): boolean {
    return this.#consumer === undefined ? super.isPaused() : this.#paused;
  }

  #wait(piece: Buffer): void {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
  }

  /** Passes on the waiting pieces. */
  passWaiting(): void {
    const consumer = this.#consumer!;
    while (!this.#paused && !this.destroyed && this.#waiting.length > 0) {
      const piece = this.#waiting.shift()!;
      this.#waitingBytes -= piece.length;
      consumer.take(piece);
    }
    if (!this.#paused && !this.destroyed && this.#whole) this.#passEnd(consumer);
  }

  #passEnd(consumer: BodyConsumer): void {
    if (this.#endPassed) return;
    this.#endPassed = true;
    consumer.end();
    this.emit('end'); // If the answer was complete before, this event makes Node's server finish the request.
  }

  static {
    const { get } = Object.getOwnPropertyDescriptor(
      Object.getPrototypeOf(IncomingMessage.prototype),
      'readableEnded',
    )!;
    Object.defineProperty(DirectRequest.prototype, 'readableEnded', {
      configurable: true,
      get(this: DirectRequest) {
        return this.#consumer === undefined ? get!.call(this) : this.#endPassed;
      },
    });
  }
}

function passWaiting(request: DirectRequest): void {
  request.passWaiting();
}
