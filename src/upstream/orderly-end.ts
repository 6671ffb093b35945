import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, TLSSocket } from 'node:tls';
import { onBareEnd } from '../node/tls-end.ts';

/** A client that reads slowly is looked at this often. */
const LOOK_MS = 20;

const cutOff = new WeakSet<object>();

/**
 * True where TLS ended without a word: the TCP connection was ended, and no `close_notify` had come before. Anybody on
 * the way can do that, so a body that only the end delimits is not whole (RFC 9112 §9.8).
 */
export function wasCutOff(socket: Socket): boolean {
  return cutOff.has(socket);
}

/** `connect` of `node:tls`, on a connection, with a note of how it will have ended. */
export function connectObserved(socket: Socket, options: ConnectionOptions): TLSSocket {
  if (!(socket instanceof TLSSocket)) {
    const secure = connect({ ...options, socket });
    onBareEnd(secure, socket, () => cutOff.add(secure));
    return secure;
  }
  const observed = new ObservedConnection(socket);
  const secure = connect({ ...options, socket: observed });
  observed.observe(secure);
  return secure;
}

/**
 * A tunnel through TLS as the TLS within it reads it: the outer one may end in good order where the inner one doesn't.
 * Its end passes by here, and it is seen whether the inner one has come before. It costs much more than what is seen
 * on a TCP connection.
 */
class ObservedConnection extends Duplex {
  readonly #raw: TLSSocket;
  #secure: TLSSocket | undefined;

  constructor(raw: TLSSocket) {
    super({ allowHalfOpen: true });
    this.#raw = raw;
    raw
      .on('data', (piece: Buffer) => {
        if (!this.push(piece)) raw.pause();
      })
      .on('end', () => setImmediate(() => this.#ended()))
      .on('error', (error) => this.destroy(error))
      .on('close', () => this.destroy());
  }

  /** @param secure reads from here */
  observe(secure: TLSSocket): void {
    this.#secure = secure;
  }

  /** What came before has to get through TLS first, and to the reader. */
  #ended(): void {
    const secure = this.#secure;
    if (this.destroyed || secure === undefined || secure.readableEnded) {
      this.push(null);
    } else if (this.readableLength > 0 || secure.readableLength > 0) {
      setTimeout(() => this.#ended(), LOOK_MS).unref();
    } else {
      cutOff.add(secure);
      this.push(null);
    }
  }

  override _read(): void {
    this.#raw.resume();
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#raw.write(piece, done);
  }

  override _writev(pieces: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#raw.cork();
    pieces.forEach(({ chunk }, i) => {
      this.#raw.write(chunk, i === pieces.length - 1 ? done : undefined);
    });
    this.#raw.uncork();
  }

  override _final(done: () => void): void {
    this.#raw.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#raw.destroy();
    done(error);
  }
}
