import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { Problem } from '../base/errors.ts';
import { codeOf } from '../base/failures/kind.ts';
import { Members } from '../base/members.ts';
import type { Receiver } from './carrier.ts';
import { CONNECTION_MAX_AGE_MS, KEEP_ALIVE_MS } from './connection.ts';
import { Http2Stream, type StreamOwner, type Verdict } from './h2-stream.ts';
import { upstreamFailure, upstreamProblem } from './upstream-error.ts';

/** As many requests at once share a connection, at the most; the upstream may want fewer. */
const STREAMS = 100;
/** After so many requests a connection takes no more: common servers end it after 1,000, in the middle of others. */
const MOST_REQUESTS = 800;
/** What one slow client may leave in our memory. Less would make a download over a long way slow. */
const STREAM_WINDOW_BYTES = 1024 ** 2;
/** For all of them together: what comes is taken off it at once, so it only has to cover the way. */
const CONNECTION_WINDOW_BYTES = 16 * 1024 ** 2;
/** A connection that carries requests, and gives no sign of life between two of these looks, is dead. */
const PING_MS = 15_000;

const { NGHTTP2_REFUSED_STREAM, NGHTTP2_NO_ERROR, NGHTTP2_HTTP_1_1_REQUIRED } = constants;
/** The codes by which it is said that the other side broke the protocol (RFC 9113 §7); our library says so, too. */
const INVALID = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
  constants.NGHTTP2_ENHANCE_YOUR_CALM,
]);

/** What the pool wants to hear from its connections. */
export interface ConnectionOwner {
  readonly origin: string;
  readonly headerSizeBytes: number;
  /** A connection that says nothing for so long after TLS is none; 0 for no limit. */
  readonly connectTimeoutMs: number;
  /** It can take another request. */
  room(): void;
  /** It takes no more requests. */
  gone(connection: Http2Connection, error: Error): void;
  /** There is nothing left of it. */
  closed(connection: Http2Connection): void;
  /** The peer wants to be spoken to in HTTP/1.1 (RFC 9113 §7). */
  http1Required(): void;
  /** The peer ends a connection that is in use (RFC 9113 §6.8). */
  retiredEarly(): void;
}

/** One HTTP/2 connection to the upstream. */
export class Http2Connection implements StreamOwner {
  readonly authority: string;
  readonly headerSizeBytes: number;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #streams = new Members<Http2Stream>();
  /** Requests that it has begun to carry. */
  #requests = 0;
  /** One until the upstream's SETTINGS say how many there may be. */
  #limit = 1;
  #settled = false;
  #taking = true;
  #doubted = false;
  #peerGone = false;
  #wantsHttp1 = false;
  /** By GOAWAY: what came after it has not been looked at. */
  #lastStreamId = Number.POSITIVE_INFINITY;
  #error: Error | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(owner: ConnectionOwner, socket: Socket) {
    this.#owner = owner;
    this.authority = new URL(owner.origin).host;
    this.headerSizeBytes = owner.headerSizeBytes;
    this.#socket = socket;
    this.#watch(socket); // Before the library adds its own listeners: at an end, ours run first.
    this.#session = connect(owner.origin, {
      ...sessionOptions(this.headerSizeBytes),
      createConnection: () => socket,
    });
    this.#session
      .on('connect', () => this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES))
      .on('remoteSettings', ({ maxConcurrentStreams = STREAMS }) => this.#settle(maxConcurrentStreams))
      .on('goaway', (code, lastStreamId) => this.#goAway(code, lastStreamId))
      .on('error', (error) => this.#end(error))
      .on('close', () => {
        this.#end();
        owner.closed(this);
      });
    this.#timers.push(setTimeout(() => this.retire(), CONNECTION_MAX_AGE_MS).unref());
    if (owner.connectTimeoutMs > 0) {
      this.#timers.push(setTimeout(() => this.#expectSettled(), owner.connectTimeoutMs).unref());
    }
    this.#lookForLife();
  }

  #watch(socket: Socket): void {
    socket
      .on('end', () => {
        this.#peerGone = true;
        this.#saveAll();
      })
      .on('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ECONNRESET' || code === 'EPIPE') this.#peerGone = true;
      })
      .on('close', () => this.#saveAll());
  }

  #saveAll(): void {
    for (const stream of this.#streams) stream.save();
  }

  get hasRoom(): boolean {
    return this.#taking && !this.#doubted && this.#streams.size < this.#limit;
  }

  /** It may have room as soon as its SETTINGS are here. */
  get settling(): boolean {
    return this.#taking && !this.#settled;
  }

  get settled(): boolean {
    return this.#settled;
  }

  get bytesReceived(): number {
    return this.#socket.bytesRead;
  }

  /** Its way may have died without a word: until it is heard of again, what comes goes by another. */
  doubt(): void {
    if (this.#doubted || !this.#taking) return;
    this.#doubted = this.#session.ping((error) => {
      if (error !== null) return;
      this.#doubted = false;
      this.#owner.room();
    });
  }

  send(receiver: Receiver): void {
    clearTimeout(this.#idle);
    const stream = new Http2Stream(this, receiver);
    this.#streams.add(stream);
    if (++this.#requests === MOST_REQUESTS) this.#stopTaking();
    stream.start();
  }

  request(fields: string[], endStream: boolean): ClientHttp2Stream {
    return this.#session.request(fields, { endStream });
  }

  release(stream: Http2Stream): void {
    if (!this.#streams.delete(stream)) return;
    if (this.#streams.size === 0) {
      if (!this.#taking) this.#session.close();
      else this.#idle = setTimeout(() => this.retire(), KEEP_ALIVE_MS).unref();
    }
    this.#owner.room();
  }

  verdict(stream: Http2Stream): Verdict {
    const { resetCode, id, responseBegun } = stream;
    const cause = this.#error ?? stream.error;
    const unseen =
      stream.unsent || resetCode === NGHTTP2_REFUSED_STREAM || id === undefined || id > this.#lastStreamId;
    const problem = INVALID.has(resetCode)
      ? upstreamFailure('not-http', { cause })
      : this.#problem(this.#peerGone ? (stream.error ?? cause) : cause);
    if (responseBegun) return { problem, repeatable: 'no' };
    if (stream.unfit) return { problem, repeatable: 'http1' };
    if (resetCode === NGHTTP2_HTTP_1_1_REQUIRED) this.#owner.http1Required();
    // Before all else that leaves it unseen: over HTTP/2 it would be left out again.
    if (resetCode === NGHTTP2_HTTP_1_1_REQUIRED || this.#wantsHttp1)
      return { problem, repeatable: unseen ? 'http1' : 'stale' };
    if (unseen) return { problem, repeatable: 'unseen' };
    // It had carried others before, and may have been closed before this one came.
    const stale = this.#peerGone && this.#requests > 1;
    return { problem, repeatable: stale ? 'stale' : 'no' };
  }

  /** The requests that it carries go on; it takes no others. */
  retire(): void {
    this.#stopTaking();
    if (this.#streams.size === 0) this.#session.close();
  }

  destroy(error?: Error): void {
    this.#error ??= error;
    this.#session.destroy(error);
  }

  #settle(maxConcurrentStreams: number): void {
    this.#settled = true;
    // With none allowed, one waits in the library for better times, and the response timeout counts.
    this.#limit = Math.max(1, Math.min(STREAMS, maxConcurrentStreams));
    this.#owner.room();
  }

  #expectSettled(): void {
    if (!this.#settled) this.destroy(upstreamFailure('connect-timeout'));
  }

  #goAway(code: number, lastStreamId: number): void {
    this.#lastStreamId = lastStreamId;
    if (code === NGHTTP2_HTTP_1_1_REQUIRED) {
      this.#wantsHttp1 = true;
      this.#owner.http1Required();
    }
    if (this.#taking) this.#owner.retiredEarly();
    if (code !== NGHTTP2_NO_ERROR) {
      this.#peerGone = true; // The library ends the connection at once.
      this.#saveAll();
    }
    this.#stopTaking();
  }

  #end(error?: Error): void {
    if (!this.#peerGone) this.#error ??= error;
    this.#stopTaking();
  }

  #stopTaking(): void {
    if (!this.#taking) return;
    this.#taking = false;
    clearTimeout(this.#idle);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#owner.gone(this, this.#problem(this.#error));
  }

  #problem(cause: Error | undefined): Problem {
    if (cause instanceof Problem) return cause;
    if (isProtocolError(cause)) return upstreamFailure('not-http', { cause });
    if (codeOf(cause).startsWith('ERR_SSL_')) return upstreamProblem(cause);
    return upstreamFailure('closed', { cause });
  }

  /** A way that has died without a word would else swallow each new request for as long as the response timeout. */
  #lookForLife(): void {
    let unanswered = false;
    const look = () => {
      if (unanswered) {
        this.destroy(upstreamFailure('connect-timeout'));
      } else if (this.#streams.size > 0) {
        unanswered = this.#session.ping(() => {
          unanswered = false;
        });
      }
    };
    this.#timers.push(setInterval(look, PING_MS).unref());
  }
}

function sessionOptions(headerSizeBytes: number) {
  return {
    peerMaxConcurrentStreams: STREAMS,
    strictSingleValueFields: false, // What a client sends twice goes up twice.
    strictFieldWhitespaceValidation: false, // A line with white space around its value would vanish; we trim it.
    maxHeaderListPairs: headerSizeBytes,
    maxSendHeaderBlockLength: 2 * headerSizeBytes + 65_536,
    settings: {
      enablePush: false,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: 4 * headerSizeBytes, // It counts 32 bytes more for each line than we do.
    },
  };
}

/** The library found that what came is no HTTP/2. */
function isProtocolError(error: Error | undefined): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_HTTP2_ERROR';
}
