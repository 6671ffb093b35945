import type { Socket } from 'node:net';
import type { OutgoingRequest } from './carrier.ts';
import { writeAtOnce } from './one-write.ts';

const LAST_CHUNK = '0\r\n\r\n';

/** Writes the requests of one HTTP/1.1 connection, one after the other. */
export class RequestWriter {
  /** The whole request has been written to the socket. */
  whole = false;
  readonly #socket: Socket;
  readonly #host: string;
  #chunked = false;

  /** @param host the value of `Host` */
  constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
  }

  send({ method, target, headers, chunked, body, complete, upgrade }: OutgoingRequest): void {
    this.whole = complete;
    this.#chunked = chunked;
    const connection = upgrade === undefined ? 'keep-alive' : `Upgrade\r\nupgrade: ${upgrade}`;
    let head = `${method} ${target} HTTP/1.1\r\nhost: ${this.#host}\r\nconnection: ${connection}\r\n`;
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    this.#writeHead(chunked ? `${head}transfer-encoding: chunked\r\n\r\n` : `${head}\r\n`, body);
  }

  /** Writes the head and the body so far; in one write if the body is small. */
  #writeHead(head: string, body: readonly Buffer[]): void {
    const socket = this.#socket;
    const [first] = body;
    if (!this.#chunked) {
      if (first === undefined) {
        socket.write(head, 'latin1');
        return;
      }
      if (body.length === 1 && writeAtOnce(socket, head, first)) return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    for (const piece of body) this.#writePiece(piece);
    if (this.#chunked && this.whole) socket.write(LAST_CHUNK, 'latin1');
    socket.uncork();
  }

  /** Writes a piece of the body. @returns false when the socket's buffer is full */
  write(piece: Buffer): boolean {
    const socket = this.#socket;
    if (!this.#chunked) return socket.write(piece);
    socket.cork();
    this.#writePiece(piece);
    socket.uncork();
    return !socket.writableNeedDrain;
  }

  #writePiece(piece: Buffer): void {
    const socket = this.#socket;
    if (!this.#chunked) {
      socket.write(piece);
    } else if (piece.length > 0) {
      socket.write(`${piece.length.toString(16)}\r\n`, 'latin1');
      socket.write(piece);
      socket.write('\r\n', 'latin1');
    }
  }

  /** The body is complete. */
  end(): void {
    this.whole = true;
    if (this.#chunked) this.#socket.write(LAST_CHUNK, 'latin1');
  }
}
