import type { ClientHttp2Stream } from 'node:http2';

/** Smaller pieces are joined. */
const SMALL_BYTES = 4 * 1024;
/** Joined pieces are passed on when there are this many, or this many bytes. */
const MOST_PIECES = 256;
const JOINED_BYTES = 16 * 1024;

/**
 * Joins the small DATA frames of one stream. Node makes an object and an event for each frame, and each keeps the whole
 * piece of the connection in which it came: a window of a megabyte could become a million of them. Frames that come in
 * one turn of the event loop are joined, and so are frames that come while nothing reads the stream. The first frame is
 * passed on at once, because mostly it is the only one.
 */
export class SmallFrames {
  readonly #stream: ClientHttp2Stream;
  readonly #push: ClientHttp2Stream['push'];
  #pieces: Buffer[] = [];
  #bytes = 0;
  #begun = false;
  #turnScheduled = false;

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    this.#push = stream.push.bind(stream);
    stream.push = (piece, encoding) => this.#take(piece as Buffer | null, encoding);
  }

  /** Passes on the joined pieces. Call it before the stream is read again. */
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
    if (!this.#turnScheduled) {
      this.#turnScheduled = true;
      setImmediate(() => this.#endTurn());
    }
    return this.#wanted;
  }

  /** What `push` would return. After false, Node stops the peer once its window is full. */
  get #wanted(): boolean {
    const { readableLength, readableHighWaterMark } = this.#stream;
    return !this.#stream.isPaused() && readableLength < readableHighWaterMark;
  }

  #endTurn(): void {
    this.#turnScheduled = false;
    if (!this.#stream.isPaused() && !this.#stream.destroyed) this.flush();
  }
}
