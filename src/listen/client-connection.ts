import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { RequestEvent } from '../base/events.ts';
import type { Member } from '../base/members.ts';
import { Problem } from '../base/problem.ts';
import type { Departures } from '../forward/client/departures.ts';
import { linger } from '../forward/client/linger.ts';
import { answerOnSocket } from '../forward/client/problem.ts';
import { answering, readInto } from '../node/server-socket.ts';
import { type Arrival, arrivalAtHost } from './arrival.ts';
import type { BoundServer } from './bind.ts';
import type { JoinedRequest } from './joined-request.ts';
import { parserProblem } from './parser-problem.ts';
import { RequestBounds } from './request-bounds.ts';
import { READ_BUFFER, WaitingBytes } from './waiting-bytes.ts';

const MALFORMED = new Problem('bad-request');
const OVERLOADED = new Problem('overloaded', { retryAfterS: 1 });
const CLIENT_LEFT = new Set<string | undefined>(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

/** What a connection needs from its listener. */
export interface ClientConnectionOwner {
  readonly departures: Departures;
  /** Takes a request that may become a tunnel. */
  readonly onUpgrade: (request: JoinedRequest, socket: Socket, connection: ClientConnection) => void;
  /** The answer to CONNECT, and to TRACE. */
  readonly methodRefused: Problem;
  /** Called when a connection is answered; `request` is there if it was parsed. @returns its event */
  readonly onRefused: (problem: Problem, request?: IncomingMessage) => RequestEvent | undefined;
  /** Called when the size of an incomplete head changes. @returns false if all of them together are too large */
  readonly headBytesChanged: (bytes: number) => boolean;
}

/** Node gives only the socket of a request: so its connection is found by the socket. */
const CONNECTION = Symbol('connection');
type WithConnection = Duplex & { [CONNECTION]?: ClientConnection };

export function connectionOf(socket: Duplex): ClientConnection | undefined {
  return (socket as WithConnection)[CONNECTION];
}

/** How a client has connected, to our own server or one of the host program. */
export function arrivalOf(socket: Socket): Arrival {
  return connectionOf(socket) ?? arrivalAtHost(socket);
}

/**
 * A client's connection and its whole state, from the first byte to the last (model: hyper, proto/h1/conn.rs). It reads in
 * place of Node, and passes one request at a time to Node's parser: the next request begins after the answer to the one
 * before. So nothing is parsed before it can be served, and no bytes are lost after an upgrade.
 */
export class ClientConnection implements Member, Arrival {
  memberAt = -1;
  readonly socket: Socket;
  readonly byUnixSocket: boolean;
  readonly forRetries: boolean;
  readonly #owner: ClientConnectionOwner;
  readonly #bounds = new RequestBounds();
  /** Node's own `data` listener, which passes bytes to its parser. */
  readonly #parse: (bytes: Buffer) => void;
  /** Sets the function that gets what is read; undefined if `data` events bring it. */
  readonly #setReader: ReturnType<typeof readInto>;
  /** The last request that Node has parsed. */
  #request: JoinedRequest | undefined;
  /** The end of the last piece, which is read again with the next one. */
  #held: Buffer | undefined;
  readonly #waiting: WaitingBytes;
  /** `#readOn` will be called. */
  #readOnScheduled = false;
  /** Bytes of an incomplete head. */
  #headBytes = 0;
  /** The connection is a tunnel, or gets its last answer: later bytes are not parsed. */
  #closing = false;
  #upgrading = false;
  #takeTunnel: ((early: Buffer) => void) | undefined;

  /** @param socket Node's HTTP server listens to it already */
  constructor(socket: Socket, { byUnixSocket, forRetries }: BoundServer, owner: ClientConnectionOwner) {
    this.socket = socket;
    this.byUnixSocket = byUnixSocket;
    this.forRetries = forRetries;
    this.#owner = owner;
    this.#waiting = new WaitingBytes(socket, owner.departures);
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    this.#parse = parse!;
    const take = (bytes: Buffer) => this.#received(bytes);
    socket.on('data', take).off('data', parse!); // Takes the connection from Node's parser.
    this.#setReader = readInto(socket, READ_BUFFER, take);
    if (this.#setReader !== undefined) socket.off('data', take);
    socket.once('close', () => this.#setHeadBytes(0));
    (socket as WithConnection)[CONNECTION] = this;
  }

  get address(): string | undefined {
    return this.socket.localAddress;
  }

  get byTls(): boolean {
    return this.socket instanceof TLSSocket;
  }

  /** Node has parsed the head of a request. */
  begin(request: JoinedRequest): void {
    this.#request = request;
  }

  /** Node has parsed a request that may become a tunnel. @param stream Node's; it begins after the body */
  upgrade(request: JoinedRequest, stream: Duplex): void {
    this.#request = request;
    this.#upgrading = true;
    // Node has detached the socket, and removed its own listeners.
    this.socket.on('error', () => {});
    if (stream !== this.socket) stream.on('error', () => {});
    if (this.socket.writable) this.#owner.onUpgrade(request, this.socket, this);
    else this.socket.destroy();
  }

  /** Hands the connection over once the request is complete, with the bytes after it. Call it while the request begins. */
  handOverTo(take: (early: Buffer) => void): void {
    this.#takeTunnel = take;
  }

  /** The parser or the connection has failed. */
  failed(error: NodeJS.ErrnoException): void {
    if (this.#closing) return; // The parser fails again with each further piece.
    // The client has left, or has ended its side within a request: it gets no answer.
    if (CLIENT_LEFT.has(error.code) || !this.socket.writable) this.socket.destroy();
    else this.closeWith(parserProblem(error, this.#owner.methodRefused));
  }

  /** Answers with a problem, and closes the connection. */
  closeWith(problem: Problem, request?: IncomingMessage): void {
    if (this.#closing) return;
    this.#close();
    const current = answering(this.socket);
    const inBody = this.#request?.complete === false;
    if (current === undefined) {
      // The request was answered before it was complete, and gets no second answer.
      if (inBody) linger(this.socket);
      else this.#refuse(problem, request);
    } else if (!inBody) {
      current.once('close', () => this.#refuse(problem, request));
    } else if (!current.req.emit('malformed', problem)) {
      // The body of the present request is malformed, and nothing reads it yet.
      if (current.headersSent) this.socket.destroy();
      else this.#refuse(problem);
    }
  }

  #refuse(problem: Problem, request?: IncomingMessage): void {
    answerOnSocket(this.socket, problem, () => this.#owner.onRefused(problem, request));
  }

  #received(piece: Buffer): void {
    if (this.#closing || this.socket.writableEnded) return; // Read, but not parsed.
    if (this.#waiting.isEmpty) this.#read(piece);
    else this.#waiting.add(piece);
  }

  #read(piece: Buffer): void {
    const bounds = this.#bounds;
    const bytes = this.#held === undefined ? piece : Buffer.concat([this.#held, piece]);
    this.#held = undefined;
    for (let from = 0; from < bytes.length; from = bounds.next) {
      if (bounds.between && this.#isBusy) {
        this.#waiting.putBack(bytes.subarray(from));
        this.#whenIdle();
        return;
      }
      const before = this.#request;
      const step = bounds.read(bytes, from);
      if (step === 'malformed') {
        this.closeWith(MALFORMED);
        return;
      }
      const { start, end } = bounds;
      if (end > start) this.#parse(end - start === bytes.length ? bytes : bytes.subarray(start, end));
      if (this.#closing || this.socket.destroyed) return;
      if (step === 'head' && !this.#headRead(before)) return;
      if (this.#upgrading && bounds.between) {
        this.#handOver(bytes.subarray(bounds.next));
        return;
      }
      if (bounds.next === from) {
        this.#held = Buffer.from(bytes.subarray(from));
        break;
      }
    }
    if (bounds.inHead) this.#setHeadBytes(this.#headBytes + piece.length);
  }

  #headRead(before: JoinedRequest | undefined): boolean {
    if (this.#headBytes > 0) this.#setHeadBytes(0);
    const request = this.#request;
    if (request === undefined || request === before) {
      this.closeWith(MALFORMED); // By our reading a head ends here, but the parser has found none.
      return false;
    }
    this.#bounds.bodyFollows(request.head.contentLength);
    return true;
  }

  /** A request is being answered, or the client hasn't read the last answer yet. */
  get #isBusy(): boolean {
    return answering(this.socket) !== undefined || this.socket.writableNeedDrain;
  }

  #whenIdle(): void {
    if (this.#readOnScheduled) return;
    this.#readOnScheduled = true;
    const current = answering(this.socket);
    if (current === undefined) this.socket.once('drain', () => this.#readOn());
    else current.once('close', () => this.#readOn());
  }

  #readOn(): void {
    this.#readOnScheduled = false;
    while (!this.#waiting.isEmpty && !this.#closing && !this.socket.writableEnded) {
      if (this.#bounds.between && this.#isBusy) {
        this.#whenIdle();
        return;
      }
      this.#read(this.#waiting.take());
    }
  }

  #setHeadBytes(bytes: number): void {
    const more = bytes - this.#headBytes;
    this.#headBytes = bytes;
    if (more !== 0 && !this.#owner.headBytesChanged(more)) this.closeWith(OVERLOADED);
  }

  #handOver(rest: Buffer): void {
    const early = Buffer.concat([rest, ...this.#waiting.takeAll()]);
    this.#close();
    this.socket.removeAllListeners('data');
    this.#setReader?.((bytes) => this.socket.push(Buffer.from(bytes)));
    this.#takeTunnel?.(early);
  }

  /** Nothing is parsed any more. */
  #close(): void {
    this.#closing = true;
    this.#waiting.takeAll();
  }
}
