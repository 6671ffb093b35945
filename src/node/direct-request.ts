import { IncomingMessage } from 'node:http';

/** What takes a body, piece by piece. */
export interface BodySink {
  take(piece: Buffer): void;
  end(): void;
}

/**
 * A request that gives its body to one taker in the same call in which Node's parser finds it. A stream would keep a
 * queue and schedule events for each piece, which for a small body is more than all else that it costs. Until it has
 * a taker, it is the stream that Node makes of a request.
 *
 * Node's parser calls `push` and stops reading where that says false; its server looks at `readableEnded`, and reads and
 * drops a body whose reading hasn't begun.
 */
export class DirectRequest extends IncomingMessage {
  #taker: BodySink | undefined;
  #held = false;
  /** What came while it was held. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #whole = false;
  #told = false;

  /** @returns false where some of the body is with the stream already: its events tell of all */
  giveBodyTo(taker: BodySink): boolean {
    if (this.readableLength > 0 || this.complete || this.destroyed) return false;
    this.#taker = taker;
    this._read(0); // Node notes that it is read.
    return true;
  }

  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    const taker = this.#taker;
    if (taker === undefined) return super.push(piece, encoding);
    if (piece === null) this.#whole = true;
    if (this.destroyed) return false;
    if (this.#held || this.#waiting.length > 0) {
      if (piece !== null) this.#wait(piece);
    } else if (piece === null) {
      this.#tellEnd(taker);
    } else {
      taker.take(piece);
    }
    return this.#waitingBytes < this.readableHighWaterMark;
  }

  override pause(): this {
    if (this.#taker === undefined) return super.pause();
    this.#held = true;
    return this;
  }

  override resume(): this {
    if (this.#taker === undefined) return super.resume();
    if (!this.#held) return this;
    this.#held = false;
    // Later, as with a stream: the caller of `resume` may still have something to do before.
    if (this.#waiting.length > 0 || this.#whole) process.nextTick(giveOn, this);
    this._read(0);
    return this;
  }

  override isPaused(): boolean {
    return this.#taker === undefined ? super.isPaused() : this.#held;
  }

  #wait(piece: Buffer): void {
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
  }

  /** What waits. */
  giveOn(): void {
    const taker = this.#taker!;
    while (!this.#held && !this.destroyed && this.#waiting.length > 0) {
      const piece = this.#waiting.shift()!;
      this.#waitingBytes -= piece.length;
      taker.take(piece);
    }
    if (!this.#held && !this.destroyed && this.#whole) this.#tellEnd(taker);
  }

  #tellEnd(taker: BodySink): void {
    if (this.#told) return;
    this.#told = true;
    taker.end();
    this.emit('end'); // Node's server lets go of the request by it, where its answer was over before.
  }

  static {
    const { get } = Object.getOwnPropertyDescriptor(
      Object.getPrototypeOf(IncomingMessage.prototype),
      'readableEnded',
    )!;
    Object.defineProperty(DirectRequest.prototype, 'readableEnded', {
      configurable: true,
      get(this: DirectRequest) {
        return this.#taker === undefined ? get!.call(this) : this.#told;
      },
    });
  }
}

function giveOn(request: DirectRequest): void {
  request.giveOn();
}
