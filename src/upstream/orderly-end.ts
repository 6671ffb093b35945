import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, TLSSocket } from 'node:tls';
import { onBareEnd } from '../node/tls-end.ts';

/** How often it is checked whether a slow reader has taken all data. */
const LOOK_MS = 20;

const cutOff = new WeakSet<object>();

/**
 * True if the TCP connection ended without a `close_notify` of TLS. An attacker on the path can do that, so a body that
 * only the end delimits is not complete (RFC 9112 §9.8).
 */
export function wasCutOff(socket: Socket): boolean {
  return cutOff.has(socket);
}

/** `connect` of `node:tls` on an open connection. Records how the connection ends, for `wasCutOff`. */
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
 * The outer of two TLS connections (an `https:` proxy's tunnel to an `https:` upstream), as the inner one reads it. The
 * outer connection may end in order while the inner one is cut off: at the outer end, this class checks whether the
 * inner connection has ended. On a TCP connection `onBareEnd` finds out at a much lower cost.
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

  /** @param secure the inner connection */
  observe(secure: TLSSocket): void {
    this.#secure = secure;
  }

  /** First the data that came before the end passes through the inner connection to its reader. */
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
