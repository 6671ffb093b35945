import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Member } from '../base/members.ts';
import { Problem } from '../base/problem.ts';
import type { Departures } from '../forward/client/departures.ts';
import { linger } from '../forward/client/linger.ts';
import { answerOnSocket, parserProblem } from '../forward/client/problem.ts';
import { answering, readInto } from '../node/server-socket.ts';
import { type Arrival, arrivalElsewhere } from './arrival.ts';
import type { Door } from './bind.ts';
import type { JoinedRequest } from './joined-request.ts';
import { RequestBounds } from './request-bounds.ts';
import { READ_BUFFER, WaitingBytes } from './waiting-bytes.ts';

const MALFORMED = new Problem('bad-request');
const CROWDED = new Problem('overloaded', { retryAfterS: 1 });
const GONE = new Set<string | undefined>(['ECONNRESET', 'EPIPE', 'HPE_INVALID_EOF_STATE']);

/** What a connection asks of the listener that it belongs to. */
export interface ConnectionOwner {
  readonly departures: Departures;
  /** Takes a request that wants to become a tunnel. */
  readonly onUpgrade: (request: JoinedRequest, socket: Socket, connection: ClientConnection) => void;
  /** A connection is answered before there is a request, or in its place. Gives the ID for it, where requests have one. */
  readonly onRefused: (problem: Problem) => string | undefined;
  /** The heads that are not whole have grown, or shrunk; false where they are too large together. */
  readonly headsGrew: (bytes: number) => boolean;
}

/** Node gives a request's connection by its socket: so what we know of it is found by that, too. */
const CONNECTION = Symbol('connection');
type Known = Socket & { [CONNECTION]?: ClientConnection };

export function connectionOf(socket: Socket): ClientConnection | undefined {
  return (socket as Known)[CONNECTION];
}

/** By which way a client came; on a server of the host program, too. */
export function arrivalOf(socket: Socket): Arrival {
  return connectionOf(socket) ?? arrivalElsewhere(socket);
}

/**
 * A client's connection: all that is known of it, from its first byte to its last (model: hyper, proto/h1/conn.rs). It
 * reads in place of Node, and gives Node's parser one request at a time: the next one begins when the one before has
 * its answer. So nothing is read that can't be acted on yet, and nothing is lost behind an upgrade.
 */
export class ClientConnection implements Member, Arrival {
  memberAt = -1;
  readonly socket: Socket;
  readonly byUnixSocket: boolean;
  readonly beside: boolean;
  readonly #owner: ConnectionOwner;
  readonly #bounds = new RequestBounds();
  /** Node's own listener: from here on it is called for what it may see. */
  readonly #parse: (bytes: Buffer) => void;
  /** Sets who gets what is read; undefined where `data` events tell of it. */
  readonly #readBy: ReturnType<typeof readInto>;
  /** The last that Node has found. */
  #request: JoinedRequest | undefined;
  /** The end of a piece that is read with the next one. */
  #held: Buffer | undefined;
  readonly #waiting: WaitingBytes;
  /** It will be read on from what waits. */
  #scheduled = false;
  /** Bytes of a head that is not whole. */
  #headBytes = 0;
  /** It gets, or has got, its last answer, or it is a tunnel: what still comes is not for the parser. */
  #closing = false;
  #upgrading = false;
  #takeTunnel: ((early: Buffer) => void) | undefined;

  /** @param socket to which Node's HTTP server listens already */
  constructor(socket: Socket, { byUnixSocket, beside }: Door, owner: ConnectionOwner) {
    this.socket = socket;
    this.byUnixSocket = byUnixSocket;
    this.beside = beside;
    this.#owner = owner;
    this.#waiting = new WaitingBytes(socket, owner.departures);
    const [parse] = socket.listeners('data') as ((bytes: Buffer) => void)[];
    this.#parse = parse!;
    const take = (bytes: Buffer) => this.#take(bytes);
    socket.on('data', take).off('data', parse!); // A listener of ours takes the connection from Node's parser.
    this.#readBy = readInto(socket, READ_BUFFER, take);
    if (this.#readBy !== undefined) socket.off('data', take);
    socket.once('close', () => this.#headHolds(0));
    (socket as Known)[CONNECTION] = this;
  }

  get address(): string | undefined {
    return this.socket.localAddress;
  }

  get byTls(): boolean {
    return this.socket instanceof TLSSocket;
  }

  /** Node has found a request. */
  begin(request: JoinedRequest): void {
    this.#request = request;
  }

  /** Node has found one that is to become a tunnel. @param stream Node's, which begins behind the body */
  upgrade(request: JoinedRequest, stream: Duplex): void {
    this.#request = request;
    this.#upgrading = true;
    // Node has given the socket away, with its own listeners.
    this.socket.on('error', () => {});
    if (stream !== this.socket) stream.on('error', () => {});
    if (this.socket.writable) this.#owner.onUpgrade(request, this.socket, this);
    else this.socket.destroy();
  }

  /** Gives the connection away once the request is whole, with what came behind it. To be said while it begins. */
  whenFree(take: (early: Buffer) => void): void {
    this.#takeTunnel = take;
  }

  /** The parser's error, or that of the connection itself. */
  failed(error: NodeJS.ErrnoException): void {
    if (this.#closing) return; // The parser complains of each further piece.
    // Gone, or gone from our point of view: a request that ends half way gets no answer.
    if (GONE.has(error.code) || !this.socket.writable) this.socket.destroy();
    else this.giveUp(parserProblem(error));
  }

  /** Gives the last answer. */
  giveUp(problem: Problem): void {
    if (this.#closing) return;
    this.#close();
    const current = answering(this.socket);
    const inBody = this.#request?.complete === false;
    if (current === undefined) {
      // A request that has been answered before it was whole has had its answer.
      if (inBody) linger(this.socket);
      else this.#refuse(problem);
    } else if (!inBody) {
      current.once('close', () => this.#refuse(problem));
    } else if (!current.req.emit('malformed', problem)) {
      // It is the body of the request under way that is wrong, and its reading hasn't begun.
      if (current.headersSent) this.socket.destroy();
      else this.#refuse(problem);
    }
  }

  #refuse(problem: Problem): void {
    answerOnSocket(this.socket, problem, this.#owner.onRefused);
  }

  #take(piece: Buffer): void {
    if (this.#closing || this.socket.writableEnded) return; // It is read, and not acted on.
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
        this.giveUp(MALFORMED);
        return;
      }
      const { start, end } = bounds;
      if (end > start) this.#parse(end - start === bytes.length ? bytes : bytes.subarray(start, end));
      if (this.#closing || this.socket.destroyed) return;
      if (step === 'head' && !this.#headRead(before)) return;
      if (this.#upgrading && bounds.between) {
        this.#give(bytes.subarray(bounds.next));
        return;
      }
      if (bounds.next === from) {
        this.#held = Buffer.from(bytes.subarray(from));
        break;
      }
    }
    if (bounds.inHead) this.#headHolds(this.#headBytes + piece.length);
  }

  #headRead(before: JoinedRequest | undefined): boolean {
    if (this.#headBytes > 0) this.#headHolds(0);
    const request = this.#request;
    if (request === undefined || request === before) {
      this.giveUp(MALFORMED); // The parser has seen no head there.
      return false;
    }
    this.#bounds.follows(request.head.contentLength);
    return true;
  }

  /** Its answer is under way, or has not yet been taken. */
  get #isBusy(): boolean {
    return answering(this.socket) !== undefined || this.socket.writableNeedDrain;
  }

  #whenIdle(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    const current = answering(this.socket);
    if (current === undefined) this.socket.once('drain', () => this.#readOn());
    else current.once('close', () => this.#readOn());
  }

  #readOn(): void {
    this.#scheduled = false;
    while (!this.#waiting.isEmpty && !this.#closing && !this.socket.writableEnded) {
      if (this.#bounds.between && this.#isBusy) {
        this.#whenIdle();
        return;
      }
      this.#read(this.#waiting.take());
    }
  }

  #headHolds(bytes: number): void {
    const more = bytes - this.#headBytes;
    this.#headBytes = bytes;
    if (more !== 0 && !this.#owner.headsGrew(more)) this.giveUp(CROWDED);
  }

  #give(rest: Buffer): void {
    const early = Buffer.concat([rest, ...this.#waiting.takeAll()]);
    this.#close();
    this.socket.removeAllListeners('data');
    this.#readBy?.((bytes) => this.socket.push(Buffer.from(bytes)));
    this.#takeTunnel?.(early);
  }

  /** Nothing more is for the parser. */
  #close(): void {
    this.#closing = true;
    this.#waiting.takeAll();
  }
}
