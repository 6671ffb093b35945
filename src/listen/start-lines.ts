import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { announcesBody } from '../forward/client/upgrade-request.ts';
import { onEachPiece, pieceBeingRead } from '../node/server-socket.ts';

/** Node's parser takes these of RTSP or of ICE (Icecast), too, and says HTTP of all. */
const OF_OTHERS = new Set<string | undefined>(['GET', 'POST', 'OPTIONS', 'SOURCE']);
const ANOTHER_PROTOCOL = / (?:RTSP|ICE)\//;
/** Empty lines may come before a request (RFC 9112 §2.2); a CR alone is none. */
const LONE_CR = /^(?:\r?\n)*\r[^\n]/;
const CR = 0x0d;
const HEAD_END = '\r\n\r\n';

/**
 * The bytes of a connection in which the next request line stands. Node's parser keeps neither the line nor its
 * protocol, but the piece that it is reading can be seen. This is no second parser: where a head ends, Node says; what
 * is kept is what came since, and mostly nothing.
 */
export class StartLines {
  readonly #socket: Socket;
  readonly #limitBytes: number;
  /** Of pieces that have been read: what may be the beginning of a head. */
  #kept: Buffer | undefined;
  /** `kept`, or else the next piece, begins between two messages. */
  #fromStart = true;
  #seenBytes = 0;
  /** What was looked at last names no other protocol. */
  #clean = false;
  #last: IncomingMessage | undefined;

  constructor(socket: Socket, limitBytes: number) {
    this.#socket = socket;
    this.#limitBytes = limitBytes;
    onEachPiece(socket, () => {
      if (socket.bytesRead !== this.#seenBytes) this.#see();
    });
  }

  /**
   * To be asked when Node has found a head, before `isHttp`: has nothing been read behind it? No head ends before its
   * first empty line. So where that is the very end of all that came since the last message, it is this head's end.
   */
  nothingBehindHead(request: IncomingMessage): boolean {
    if (!this.#fromStart || announcesBody(request)) return false;
    const bytes = this.#upTo(pieceBeingRead(this.#socket));
    return bytes.indexOf(HEAD_END) === bytes.length - HEAD_END.length;
  }

  /** To be asked when Node has found a head, before it reads on: is it one of HTTP? */
  isHttp(request: IncomingMessage): boolean {
    const fromStart = this.#fromStart;
    this.#last = request;
    this.#fromStart = !announcesBody(request);
    // Of many requests in one piece, the first has looked at all of it.
    if (this.#socket.bytesRead === this.#seenBytes && this.#clean) return true;
    const piece = pieceBeingRead(this.#socket);
    const bytes = this.#upTo(piece);
    this.#seenBytes = this.#socket.bytesRead;
    this.#clean = !bytes.includes(' RTSP/') && !bytes.includes(' ICE/');
    this.#keepBehind(piece);
    if (fromStart && bytes[0] === CR && LONE_CR.test(bytes.toString('latin1'))) return false;
    if (this.#clean || !OF_OTHERS.has(request.method)) return true;
    // Also where a body before it holds this very line: that is nobody's honest body.
    const line = `${request.method} ${request.url} `;
    const isLine = (text: string) => ANOTHER_PROTOCOL.test(text) && text.replace(/ +/g, ' ').includes(line);
    return !bytes.toString('latin1').split('\n').some(isLine);
  }

  /** A piece in which no head has ended. */
  #see(): void {
    this.#seenBytes = this.#socket.bytesRead;
    this.#clean = false;
    if (this.#last?.complete === false) {
      this.#kept = undefined;
      this.#fromStart = false;
    } else {
      const piece = pieceBeingRead(this.#socket);
      this.#kept = this.#within(this.#upTo(piece));
    }
  }

  #upTo(piece: Buffer): Buffer {
    return this.#kept === undefined ? piece : Buffer.concat([this.#kept, piece]);
  }

  /** What stands behind the last end of a head is kept: before it, nothing can begin that goes on. */
  #keepBehind(piece: Buffer): void {
    const end = piece.lastIndexOf(HEAD_END);
    const from = end === -1 ? 0 : end + HEAD_END.length; // None: it has begun in a former piece.
    this.#kept = from === piece.length ? undefined : this.#within(piece.subarray(from));
  }

  /** The parser refuses a head that is longer. */
  #within(bytes: Buffer): Buffer {
    return Buffer.from(bytes.subarray(Math.max(0, bytes.length - this.#limitBytes)));
  }
}
