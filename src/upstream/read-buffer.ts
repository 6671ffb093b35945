const SIZE_BYTES = 64 * 1024;
/** Pieces below this size are copied, so that a small piece that is kept doesn't keep a whole buffer. */
const SMALL_BYTES = 16 * 1024;
/** Buffers of bodies that have ended are kept for the next ones. */
const MOST_SPARE = 16;
/** Most connections that may each keep a buffer while they are idle. */
const MOST_IDLE = 64;

/** All connections without a large body read into this one buffer: each piece is copied out of it at once. */
const shared = Buffer.allocUnsafeSlow(SIZE_BYTES);
const spare: Buffer[] = [];
let idle = 0;

/** What a connection does with what it reads. */
export interface BufferReader {
  /** @param bytes valid until the call returns, but for what `body` is given */
  read(bytes: Buffer): void;
  /** More of a body follows. */
  readonly inBody: boolean;
}

/**
 * The memory that one plain connection reads into. Node would make 64 KiB anew for each read: with a large body that is
 * half of the work, because each is cold, and garbage a moment later. While a body passes, the connection has a buffer
 * of its own, which is used again as soon as the kernel has taken what was in it. It has it for the next answer, too,
 * which may begin with as much: what comes in the shared one has to be copied.
 */
export class ReadBuffer {
  /** For `net.connect`. */
  readonly onread = {
    buffer: (): Buffer => this.#next(),
    callback: (length: number): boolean => {
      this.#reader?.read(this.#bytes.subarray(0, length));
      return true;
    },
  };
  #bytes: Buffer = shared;
  #kept = false;
  /** A large piece of the present answer has come. */
  #large = false;
  /** The connection keeps a buffer of its own, though it carries no body. */
  #idle = false;
  #reader: BufferReader | undefined;

  readBy(reader: BufferReader): void {
    this.#reader = reader;
  }

  /** Passes a piece of what has been read. @param take returns false where it needs the piece after the call */
  pass(piece: Buffer, take: (piece: Buffer) => boolean): void {
    const large = piece.length >= SMALL_BYTES;
    if (large) this.#large = true;
    if (!large || this.#bytes === shared) take(Buffer.from(piece));
    else if (!take(piece)) this.#kept = true;
  }

  /** The connection has ended. Its own buffer is not used again: a reader may still need what is in it. */
  end(): void {
    this.#reader = undefined;
    this.#countIdle(false);
  }

  /** Node asks after each read. */
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
