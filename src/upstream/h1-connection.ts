import type { Socket } from 'node:net';
import type { Problem } from '../base/errors.ts';
import type { ConnectionTimes } from '../base/journey.ts';
import type { Member } from '../base/members.ts';
import { readBeforeFailing } from '../node/read-before-failing.ts';
import type { Carrier, OutgoingRequest, Receiver, Repeatable } from './carrier.ts';
import { KEEP_ALIVE_MS } from './connection.ts';
import { ResponseFault } from './head-scanner.ts';
import { wasCutOff } from './orderly-end.ts';
import type { BufferReader, ReadBuffer } from './read-buffer.ts';
import type { ResponseHead } from './response-head.ts';
import { type ResponseEvents, ResponseReader } from './response-reader.ts';
import { upstreamFailure, upstreamProblem } from './upstream-error.ts';

/** A body up to this size, whole when the request leaves, goes in one write with its head. */
const ONE_WRITE_BYTES = 16 * 1024;
/** The peer needs so long to close an idle connection, and we to hear of it. */
const MARGIN_S = 1;

/** What comes later than this behind an answer is hardly about it: a 408 that announces the end, say. */
const LATE_MS = 1_000;

/** What the pool wants to hear from its connections. */
export interface ConnectionOwner {
  readonly host: string;
  readonly headerSizeBytes: number;
  /** It can carry another request, once what may follow its last answer has been waited for. */
  free(connection: Http1Connection): void;
  /** It carries nothing any more. */
  gone(connection: Http1Connection): void;
  /** The peer has sent what belongs to no request, soon after an answer. */
  surplus(): void;
}

/** One HTTP/1.1 connection to the upstream: it carries one request at a time. */
export class Http1Connection implements Carrier, ResponseEvents, BufferReader, Member {
  memberAt = -1;
  readonly openedMonoMs = performance.now();
  freeSinceMonoMs = this.openedMonoMs;
  /** It is not to be used again after this moment. */
  idleUntilMonoMs = this.openedMonoMs + KEEP_ALIVE_MS;
  /** Nobody has been told yet what it took to make it. */
  times: ConnectionTimes | undefined;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #reader: ResponseReader;
  /** Undefined while it is idle. */
  #receiver: Receiver | undefined;
  #requests = 0;
  /** A byte of the request has been given to the socket. */
  #sending = false;
  /** All of it has. */
  #sent = false;
  #chunked = false;
  /** It asks for another protocol: even where that is refused, the peer might read on in it. */
  #upgrading = false;
  /** The peer ended or reset the connection. */
  #peerGone = false;
  #peerReset = false;
  readonly #buffer: ReadBuffer | undefined;
  readonly #take = (piece: Buffer) => this.#receiver!.received(piece);
  readonly #undoReading: () => void;
  readonly #listeners = {
    data: (bytes: Buffer) => this.read(bytes),
    drain: () => this.#receiver?.drained(),
    end: () => this.#ended(),
    error: (error: Error) => this.#broken(error),
    close: () => this.#broken(new Error('the connection was closed')),
  };

  /** @param buffer what the socket reads into, where it tells of what it reads by that */
  constructor(owner: ConnectionOwner, socket: Socket, buffer?: ReadBuffer) {
    this.#owner = owner;
    this.#socket = socket;
    this.#buffer = buffer;
    buffer?.readBy(this);
    this.#reader = new ResponseReader(this, owner.headerSizeBytes);
    this.#undoReading = readBeforeFailing(socket, (reset) => {
      this.#peerGone = true;
      this.#peerReset = reset;
    });
    for (const [event, listener] of Object.entries(this.#listeners)) socket.on(event, listener);
  }

  /** Takes the next request. */
  carry(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#sending = false;
    if (this.times !== undefined) {
      receiver.opened(this.times);
      this.times = undefined;
    }
    receiver.ready(this);
  }

  send({ method, target, headers, chunked, body, complete, upgrade }: OutgoingRequest): void {
    this.#requests++;
    this.#sending = true;
    this.#sent = complete;
    this.#chunked = chunked;
    this.#upgrading = upgrade !== undefined;
    this.#reader.expect(method, upgrade);
    const connection = upgrade === undefined ? 'keep-alive' : `Upgrade\r\nupgrade: ${upgrade}`;
    let head = `${method} ${target} HTTP/1.1\r\nhost: ${this.#owner.host}\r\nconnection: ${connection}\r\n`;
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    this.#write(chunked ? `${head}transfer-encoding: chunked\r\n\r\n` : `${head}\r\n`, body);
  }

  /** With what there is of the body: in one write where that is little. */
  #write(head: string, body: readonly Buffer[]): void {
    const socket = this.#socket;
    const [first] = body;
    if (!this.#chunked && (first === undefined || (body.length === 1 && first.length <= ONE_WRITE_BYTES))) {
      socket.write(first === undefined ? head : head + first.toString('latin1'), 'latin1');
      return;
    }
    socket.cork();
    socket.write(head, 'latin1');
    for (const piece of body) this.#writePiece(piece);
    if (this.#chunked && this.#sent) socket.write(LAST_CHUNK, 'latin1');
    socket.uncork();
  }

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

  end(): void {
    this.#sent = true;
    if (this.#chunked) this.#socket.write(LAST_CHUNK, 'latin1');
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  abort(): void {
    if (this.#receiver === undefined) return;
    this.#receiver = undefined;
    if (this.#sending) this.destroy();
    else this.#owner.free(this);
  }

  /** After this nothing is heard of it. */
  destroy(): void {
    this.#receiver = undefined;
    this.#reader.stop();
    this.#socket.destroy();
    this.#buffer?.end();
    this.#owner.gone(this);
  }

  get leavesGarbage(): boolean {
    return this.#buffer === undefined;
  }

  get inBody(): boolean {
    return this.#reader.inBody;
  }

  read(bytes: Buffer): void {
    if (this.#receiver === undefined || !this.#sending) {
      // A late answer, or a word about the end: nothing that follows can be told from the next response.
      if (performance.now() - this.freeSinceMonoMs < LATE_MS) this.#owner.surplus();
      this.destroy();
      return;
    }
    try {
      this.#reader.read(bytes);
    } catch (error) {
      if (!(error instanceof ResponseFault)) throw error;
      this.#fail(upstreamFailure(error.failure, { cause: error }), 'no');
    }
  }

  head(head: ResponseHead): void {
    this.#receiver!.responded(head);
  }

  body(piece: Buffer): void {
    if (this.#buffer === undefined) this.#receiver!.received(piece);
    else this.#buffer.pass(piece, this.#take);
  }

  finished(): void {
    const receiver = this.#receiver!;
    this.#receiver = undefined;
    this.resume();
    const { keepsAlive, idleSeconds } = this.#reader;
    const idleMs =
      idleSeconds === undefined ? KEEP_ALIVE_MS : Math.min(KEEP_ALIVE_MS, (idleSeconds - MARGIN_S) * 1000);
    // An answer that didn't wait for the whole request: the rest of it is not sent.
    if (keepsAlive && this.#sent && !this.#upgrading && !this.#peerGone && idleMs > 0) {
      this.freeSinceMonoMs = performance.now();
      this.idleUntilMonoMs = this.freeSinceMonoMs + idleMs;
      this.#owner.free(this);
    } else {
      this.destroy();
    }
    receiver.ended();
  }

  switched(head: ResponseHead, early: Buffer): void {
    const receiver = this.#receiver!;
    const socket = this.#socket;
    this.#receiver = undefined;
    this.#undoReading();
    for (const [event, listener] of Object.entries(this.#listeners)) socket.off(event, listener);
    this.#owner.gone(this);
    receiver.switched(head, socket, early);
  }

  #ended(): void {
    this.#peerGone = true;
    // The kernel tells a reset once: where a write has heard of it, it looks like an end in order here.
    const inOrder = !this.#peerReset && !wasCutOff(this.#socket);
    if (this.#receiver !== undefined && inOrder && this.#reader.finish()) return;
    this.#broken(new Error('the upstream closed the connection'));
  }

  #broken(error: NodeJS.ErrnoException): void {
    if (error.code === 'ECONNRESET' || error.code === 'EPIPE') this.#peerGone = true;
    const { begun } = this.#reader;
    const stale = this.#peerGone && this.#requests > 1 && !begun;
    const problem = this.#peerGone
      ? upstreamFailure('closed', {
          cause: error,
          ...(begun && { proxyStatus: 'http_response_incomplete' }),
        })
      : upstreamProblem(error);
    this.#fail(problem, stale ? 'stale' : 'no');
  }

  #fail(problem: Problem, repeatable: Repeatable): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    this.destroy();
    receiver?.failed(problem, repeatable);
  }
}

const LAST_CHUNK = '0\r\n\r\n';
