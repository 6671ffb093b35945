import type { ClientHttp2Stream } from 'node:http2';

/** Pieces below this size are joined. */
const SMALL_BYTES = 4 * 1024;
/** So many, or so many bytes of them, become one piece. */
const MOST_PIECES = 256;
const JOINED_BYTES = 16 * 1024;

/**
 * Joins small DATA frames of one stream. Node makes an object and an event of each, and so may a window of a megabyte become
 * a million of them, each with the whole piece of the connection in which it came. Those that come in one turn
 * of the event loop go on together; those that come without a reader wait together. The first goes on at once: mostly
 * it is the only one.
 */
export class SmallFrames {
  readonly #stream: ClientHttp2Stream;
  readonly #push: ClientHttp2Stream['push'];
  #pieces: Buffer[] = [];
  #bytes = 0;
  #begun = false;
  #turns = false;

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    this.#push = stream.push.bind(stream);
    stream.push = (piece, encoding) => this.#take(piece as Buffer | null, encoding);
  }

  /** To be called before the stream is read on. */
  flush(): boolean {
    const pieces = this.#pieces;
    if (pieces.length === 0) return this.#wanted;
    this.#pieces = [];
    this.#bytes = 0;
    return this.#push(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  }

  #take(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    const small = piece !== null && piece.length < SMALL_BYTES;
    if (!small || !this.#begun) {
      this.#begun = true;
      this.flush();
      return this.#push(piece, encoding);
    }
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#pieces.length === MOST_PIECES || this.#bytes >= JOINED_BYTES) return this.flush();
    if (!this.#turns) {
      this.#turns = true;
      setImmediate(() => this.#endTurn());
    }
    return this.#wanted;
  }

  /** What `push` would say: false stops the peer once its window is full. */
  get #wanted(): boolean {
    const { readableLength, readableHighWaterMark } = this.#stream;
    return !this.#stream.isPaused() && readableLength < readableHighWaterMark;
  }

  #endTurn(): void {
    this.#turns = false;
    if (!this.#stream.isPaused() && !this.#stream.destroyed) this.flush();
  }
}
