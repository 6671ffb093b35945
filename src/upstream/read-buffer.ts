const SIZE_BYTES = 64 * 1024;
/** Smaller pieces are copied, so that a small piece that is kept does not keep a whole buffer. */
const SMALL_BYTES = 16 * 1024;
/** How many buffers of ended bodies are kept for later bodies. */
const MOST_SPARE = 16;
/** How many idle connections may keep a buffer. */
const MOST_IDLE = 64;

/** All connections without a large body read into this one buffer: each piece is copied out of it at once. */
const shared = Buffer.allocUnsafeSlow(SIZE_BYTES);
const spare: Buffer[] = [];
let idle = 0;

/** Reads what comes into a `ReadBuffer`. */
export interface BufferReader {
  /** @param bytes valid until the call returns, except for pieces that `ReadBuffer.pass` has passed on */
  read(bytes: Buffer): void;
  /** More of a body follows. */
  readonly inBody: boolean;
}

/**
 * The memory that one plain connection reads into. Node would allocate 64 KiB for each read. With a large body that is
 * half of the work, because the memory is cold, and garbage a moment later. While a body passes, the connection has its
 * own buffer, which the next read reuses unless the receiver still needs its content. The connection keeps the buffer
 * for its next response, which may begin with as much data: data in the shared buffer must be copied.
 */
export class ReadBuffer {
  /** Option of `net.connect`. */
  readonly onread = {
    buffer: (): Buffer => this.#next(),
    callback: (length: number): boolean => {
      this.#reader?.read(this.#bytes.subarray(0, length));
      return true;
    },
  };
  #bytes: Buffer = shared;
  /** A receiver still needs the content of `#bytes`. */
  #kept = false;
  /** The present response has a large piece. */
  #large = false;
  /** The connection is idle and keeps its own buffer. */
  #idle = false;
  #reader: BufferReader | undefined;

  readBy(reader: BufferReader): void {
    this.#reader = reader;
  }

  /** Passes on a piece of what was read. @param take returns false if it needs the piece after the call */
  pass(piece: Buffer, take: (piece: Buffer) => boolean): void {
    const large = piece.length >= SMALL_BYTES;
    if (large) this.#large = true;
    if (!large || this.#bytes === shared) take(Buffer.from(piece));
    else if (!take(piece)) this.#kept = true;
  }

  /** The connection has closed. Its own buffer is not reused: a receiver may still need its content. */
  end(): void {
    this.#reader = undefined;
    this.#countIdle(false);
  }

  /** Called by Node for each read. */
  #next(): Buffer {
    const inBody = this.#reader?.inBody === true;
    this.#countIdle(!inBody && this.#large && this.#reader !== undefined);
    if (!inBody) this.#large = false;
    if (!inBody && !this.#idle) {
      this.#giveBack();
    } else if (this.#kept || this.#bytes === shared) {
      this.#kept = false;
      this.#bytes = spare.pop() ?? Buffer.allocUnsafeSlow(SIZE_BYTES);
    }
    return this.#bytes;
  }

  #countIdle(wanted: boolean): void {
    if (this.#idle) idle--;
    this.#idle = wanted && idle < MOST_IDLE;
    if (this.#idle) idle++;
  }

  #giveBack(): void {
    if (this.#bytes === shared) return;
    if (!this.#kept && spare.length < MOST_SPARE) spare.push(this.#bytes);
    this.#kept = false;
    this.#bytes = shared;
  }
}
