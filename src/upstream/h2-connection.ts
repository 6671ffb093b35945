import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import { Members } from '../base/members.ts';
import type { Receiver } from './carrier.ts';
import { CONNECTION_MAX_AGE_MS, UPSTREAM_IDLE_MS } from './connection-limits.ts';
import { Http2Ending } from './h2-ending.ts';
import { Http2Stream, type StreamOwner, type Verdict } from './h2-stream.ts';
import { upstreamFailure } from './upstream-error.ts';

/** Most requests at once on one connection. The upstream may allow fewer. */
const STREAMS = 100;
/** A connection takes no more requests after this many: common servers close it after 1,000, with requests under way. */
const MOST_REQUESTS = 800;
/** What one slow client may leave in our memory. A smaller window would slow downloads over a distant connection. */
const STREAM_WINDOW_BYTES = 1024 ** 2;
/** For all streams together. Bytes leave it as they come, so it only has to cover the round trip. */
const CONNECTION_WINDOW_BYTES = 16 * 1024 ** 2;
/** How often a connection with requests is checked. It is dead if nothing has come since the check before. */
const CHECK_MS = 15_000;

const { NGHTTP2_NO_ERROR, NGHTTP2_HTTP_1_1_REQUIRED } = constants;

/** What a connection needs of its pool. */
export interface Http2ConnectionOwner {
  readonly origin: string;
  readonly headerSizeBytes: number;
  /** Time limit from TLS to the SETTINGS of the upstream; 0 for no limit. */
  readonly connectTimeoutMs: number;
  /** The connection can take another request: sends those that wait. */
  sendWaiting(): void;
  /** The connection takes no more requests. */
  gone(connection: Http2Connection, error: Error): void;
  /** The connection is closed. */
  closed(connection: Http2Connection): void;
  /** The peer requires HTTP/1.1 (RFC 9113 §7). */
  http1Required(): void;
  /** The peer closes a connection that is in use (RFC 9113 §6.8). */
  retiredEarly(): void;
}

/** One HTTP/2 connection to the upstream. */
export class Http2Connection implements StreamOwner {
  readonly authority: string;
  readonly headerSizeBytes: number;
  readonly #owner: Http2ConnectionOwner;
  readonly #socket: Socket;
  readonly #session: ClientHttp2Session;
  readonly #streams = new Members<Http2Stream>();
  /** All requests that the connection has taken, including those that have ended. */
  #requests = 0;
  /** The most streams at once. One, until the upstream's SETTINGS say how many. */
  #limit = 1;
  #settled = false;
  #taking = true;
  #doubted = false;
  readonly #ending = new Http2Ending();
  #idle: NodeJS.Timeout | undefined;
  readonly #age: NodeJS.Timeout;
  /** These go on until the connection is closed: it may carry requests long after it takes no more of them. */
  readonly #checks: NodeJS.Timeout[] = [];

  constructor(owner: Http2ConnectionOwner, socket: Socket) {
    this.#owner = owner;
    this.authority = new URL(owner.origin).host;
    this.headerSizeBytes = owner.headerSizeBytes;
    this.#socket = socket;
    this.#watch(socket); // Before the library adds its own listeners, so that ours run first when the connection closes.
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
        for (const check of this.#checks) clearTimeout(check);
        this.#end();
        owner.closed(this);
      });
    this.#age = setTimeout(() => this.retire(), CONNECTION_MAX_AGE_MS).unref();
    if (owner.connectTimeoutMs > 0) {
      this.#checks.push(setTimeout(() => this.#expectSettled(), owner.connectTimeoutMs).unref());
    }
    this.#checkAtIntervals();
  }

  #watch(socket: Socket): void {
    socket
      .on('end', () => {
        this.#ending.peerGone = true;
        this.#saveAll();
      })
      .on('error', ({ code }: NodeJS.ErrnoException) => {
        if (code === 'ECONNRESET' || code === 'EPIPE') this.#ending.peerGone = true;
      })
      .on('close', () => this.#saveAll());
  }

  #saveAll(): void {
    for (const stream of this.#streams) stream.save();
  }

  get hasRoom(): boolean {
    return this.#taking && !this.#doubted && this.#streams.size < this.#limit;
  }

  /** The connection may have room once its SETTINGS arrive. */
  get settling(): boolean {
    return this.#taking && !this.#settled;
  }

  get settled(): boolean {
    return this.#settled;
  }

  get bytesReceived(): number {
    return this.#socket.bytesRead;
  }

  /** The network path may be dead: new requests take another connection until the peer answers a PING. */
  doubt(): void {
    if (this.#doubted || !this.#taking) return;
    this.#doubted = this.#session.ping((error) => {
      if (error !== null) return;
      this.#doubted = false;
      this.#owner.sendWaiting();
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
      else this.#idle = setTimeout(() => this.retire(), UPSTREAM_IDLE_MS).unref();
    }
    this.#owner.sendWaiting();
  }

  verdict(stream: Http2Stream): Verdict {
    const verdict = this.#ending.verdict(stream, this.#requests === 1);
    if (stream.resetCode === NGHTTP2_HTTP_1_1_REQUIRED && !stream.responseBegun) this.#owner.http1Required();
    return verdict;
  }

  /** Takes no more requests, and closes when those under way have ended. */
  retire(): void {
    this.#stopTaking();
    if (this.#streams.size === 0) this.#session.close();
  }

  destroy(error?: Error): void {
    this.#ending.error ??= error;
    this.#session.destroy(error);
  }

  #settle(maxConcurrentStreams: number): void {
    this.#settled = true;
    // If the peer allows none, one request waits in the library, limited by the response timeout.
    this.#limit = Math.max(1, Math.min(STREAMS, maxConcurrentStreams));
    this.#owner.sendWaiting();
  }

  #expectSettled(): void {
    if (!this.#settled) this.destroy(upstreamFailure('connect-timeout'));
  }

  #goAway(code: number, lastStreamId: number): void {
    this.#ending.lastStreamId = lastStreamId;
    if (code === NGHTTP2_HTTP_1_1_REQUIRED) {
      this.#ending.wantsHttp1 = true;
      this.#owner.http1Required();
    }
    if (this.#taking) this.#owner.retiredEarly();
    if (code !== NGHTTP2_NO_ERROR) {
      this.#ending.peerGone = true; // The library ends the connection at once.
      this.#saveAll();
    }
    this.#stopTaking();
  }

  #end(error?: Error): void {
    if (!this.#ending.peerGone) this.#ending.error ??= error;
    this.#stopTaking();
  }

  #stopTaking(): void {
    if (!this.#taking) return;
    this.#taking = false;
    clearTimeout(this.#idle);
    clearTimeout(this.#age);
    this.#owner.gone(this, this.#ending.problem);
  }

  /** Without it, each new request on a dead network path would wait for the whole response timeout. */
  #checkAtIntervals(): void {
    let unanswered = false;
    let before = 0;
    const check = () => {
      const { bytesReceived } = this;
      if (unanswered && bytesReceived === before) {
        this.destroy(upstreamFailure('connection-lost'));
      } else if (!unanswered && this.#streams.size > 0 && !this.#session.destroyed) {
        unanswered = true;
        this.#probe(() => {
          unanswered = false;
        });
      }
      before = bytesReceived;
    };
    this.#checks.push(setInterval(check, CHECK_MS).unref());
  }

  /** Sends what the peer must answer: PING, or empty SETTINGS after its GOAWAY, when the library sends no PING any more. */
  #probe(answered: () => void): void {
    if (this.#session.closed) this.#session.settings({}, answered);
    else this.#session.ping(answered);
  }
}

function sessionOptions(headerSizeBytes: number) {
  return {
    peerMaxConcurrentStreams: STREAMS,
    strictSingleValueFields: false, // A header line that a client repeats is repeated upstream.
    strictFieldWhitespaceValidation: false, // The library would drop lines with white space around the value; we trim it.
    maxHeaderListPairs: headerSizeBytes,
    maxSendHeaderBlockLength: 2 * headerSizeBytes + 65_536,
    settings: {
      enablePush: false,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: 4 * headerSizeBytes, // HTTP/2 counts 32 bytes for each line besides its text.
    },
  };
}
