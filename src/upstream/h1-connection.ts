import type { Socket } from 'node:net';
import type { ConnectionTimes } from '../base/journey.ts';
import type { Member } from '../base/members.ts';
import type { Problem } from '../base/problem.ts';
import { readBeforeFailing } from '../node/read-before-failing.ts';
import type { Carrier, OutgoingRequest, Receiver, Repeatable } from './carrier.ts';
import { UPSTREAM_IDLE_MS } from './connection-limits.ts';
import { RequestWriter } from './h1-request-writer.ts';
import { ResponseFault } from './head-scanner.ts';
import { wasCutOff } from './orderly-end.ts';
import type { BufferReader, ReadBuffer } from './read-buffer.ts';
import type { ResponseHead } from './response-head.ts';
import { type ResponseEvents, ResponseReader } from './response-reader.ts';
import { upstreamFailure, upstreamProblem } from './upstream-error.ts';

/** A connection gets no new request in the last second of the peer's idle timeout. */
const MARGIN_S = 1;
/** Bytes that come later than this after a response don't belong to it: a 408 before the peer closes, for example. */
const LATE_MS = 1_000;

/** What a connection needs of its pool. */
export interface Http1ConnectionOwner {
  readonly host: string;
  readonly headerSizeBytes: number;
  /** The connection can carry another request, but only after a wait for bytes that may follow its last response. */
  free(connection: Http1Connection): void;
  /** The connection is closed, or has become a tunnel. */
  gone(connection: Http1Connection): void;
  /** The peer sent bytes that belong to no response, soon after the last one. */
  surplus(): void;
}

/** One HTTP/1.1 connection to the upstream: it carries one request at a time. */
export class Http1Connection implements Carrier, ResponseEvents, BufferReader, Member {
  memberAt = -1;
  readonly openedMonoMs = performance.now();
  freeSinceMonoMs = this.openedMonoMs;
  /** The connection is not used again after this moment. */
  idleUntilMonoMs = this.openedMonoMs + UPSTREAM_IDLE_MS;
  /** How long it took to connect, if the connection was made before it had a request. Its first request takes this. */
  times: ConnectionTimes | undefined;
  readonly #owner: Http1ConnectionOwner;
  readonly #socket: Socket;
  readonly #writer: RequestWriter;
  readonly #reader: ResponseReader;
  /** Undefined while the connection is idle. */
  #receiver: Receiver | undefined;
  #requests = 0;
  /** The request has been written to the socket, at least in part. */
  #sending = false;
  /** The request asks for another protocol: even if the peer refuses, it might read on in that protocol. */
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

  /** @param buffer the socket reads into it; without it, the socket emits `data` */
  constructor(owner: Http1ConnectionOwner, socket: Socket, buffer?: ReadBuffer) {
    this.#owner = owner;
    this.#socket = socket;
    this.#buffer = buffer;
    buffer?.readBy(this);
    this.#writer = new RequestWriter(socket, owner.host);
    this.#reader = new ResponseReader(this, owner.headerSizeBytes);
    this.#undoReading = readBeforeFailing(socket, (reset) => {
      this.#peerGone = true;
      this.#peerReset = reset;
    });
    for (const [event, listener] of Object.entries(this.#listeners)) socket.on(event, listener);
  }

  /** Takes a request. */
  carry(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#sending = false;
    if (this.times !== undefined) {
      receiver.opened(this.times);
      this.times = undefined;
    }
    receiver.ready(this);
  }

  send(request: OutgoingRequest): void {
    const { method, upgrade } = request;
    this.#requests++;
    this.#sending = true;
    this.#upgrading = upgrade !== undefined;
    this.#reader.expect(method, upgrade);
    this.#writer.send(request);
  }

  write(piece: Buffer): boolean {
    return this.#writer.write(piece);
  }

  end(): void {
    this.#writer.end();
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

  /** The receiver gets no more calls. */
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
      // A late response, or a notice before the peer closes. The next response could not be told apart from it.
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
      idleSeconds === undefined
        ? UPSTREAM_IDLE_MS
        : Math.min(UPSTREAM_IDLE_MS, (idleSeconds - MARGIN_S) * 1000);
    // If the response did not wait for the whole request, the rest of the request is not sent.
    if (keepsAlive && this.#writer.whole && !this.#upgrading && !this.#peerGone && idleMs > 0) {
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
    // The kernel reports a reset once: if a write got the report, a read sees an orderly end.
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
