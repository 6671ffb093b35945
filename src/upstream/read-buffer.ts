const SIZE_BYTES = 64 * 1024;
/** Pieces below this size are copied, so that a small piece that is kept doesn't keep a whole buffer. */
const SMALL_BYTES = 16 * 1024;
/** Buffers of bodies that have ended are kept for the next ones. */
const MOST_SPARE = 16;

/** Where all connections read that don't carry a large body: one buffer, since a piece is copied out of it at once. */
const shared = Buffer.allocUnsafeSlow(SIZE_BYTES);
const spare: Buffer[] = [];

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
 * of its own, which is used again as soon as the kernel has taken what was in it.
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
  #reader: BufferReader | undefined;

  readBy(reader: BufferReader): void {
    this.#reader = reader;
  }

  /** Hands on a piece of what has been read. @param take false where it still needs the piece after the call */
  pass(piece: Buffer, take: (piece: Buffer) => boolean): void {
    if (this.#bytes === shared || piece.length < SMALL_BYTES) take(Buffer.from(piece));
    else if (!take(piece)) this.#kept = true;
  }

  /** Node asks after each read. */
  #next(): Buffer {
    if (this.#reader?.inBody !== true) {
      this.#giveBack();
    } else if (this.#kept || this.#bytes === shared) {
      this.#kept = false;
      this.#bytes = spare.pop() ?? Buffer.allocUnsafeSlow(SIZE_BYTES);
    }
    return this.#bytes;
  }

  #giveBack(): void {
    if (this.#bytes === shared) return;
    if (!this.#kept && spare.length < MOST_SPARE) spare.push(this.#bytes);
    this.#kept = false;
    this.#bytes = shared;
  }
}
