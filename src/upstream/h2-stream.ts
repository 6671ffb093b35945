import { STATUS_CODES } from 'node:http';
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Problem } from '../base/problem.ts';
import { SmallFrames } from '../node/small-frames.ts';
import { onWhole } from '../node/stream-end.ts';
import type { Carrier, OutgoingRequest, Receiver, Repeatable } from './carrier.ts';
import { requestFields, responseLines } from './h2-fields.ts';
import { upstreamFailure } from './upstream-error.ts';

const { HTTP2_HEADER_STATUS, NGHTTP2_CANCEL } = constants;

/** Why a stream ended before its response was complete, and whether its request may be sent again. */
export interface Verdict {
  readonly problem: Problem;
  readonly repeatable: Repeatable;
}

/** What a stream needs of its connection. */
export interface StreamOwner {
  readonly authority: string;
  readonly headerSizeBytes: number;
  request(fields: string[], endStream: boolean): ClientHttp2Stream;
  /** Bytes that came from the upstream, for all requests. */
  readonly bytesReceived: number;
  verdict(stream: Http2Stream): Verdict;
  /** Nothing arrived on the connection during the whole time in which a request waited. */
  doubt(): void;
  /** The stream has ended, in whatever way. */
  release(stream: Http2Stream): void;
}

/** One request and its response on an HTTP/2 connection. */
export class Http2Stream implements Carrier {
  memberAt = -1;
  readonly leavesGarbage = true;
  /** Its HEADERS frame could not be sent. */
  unsent = false;
  responseBegun = false;
  /** The library's error for the stream. */
  error: Error | undefined;
  readonly #owner: StreamOwner;
  readonly #receiver: Receiver;
  #stream: ClientHttp2Stream | undefined;
  #frames: SmallFrames | undefined;
  #forHead = false;
  #paused = false;
  /** The peer has ended the body (END_STREAM). */
  #whole = false;
  /** Pieces that were read while the receiver was paused, because the connection was about to close. */
  readonly #saved: Buffer[] = [];
  #isSaved = false;
  #over = false;
  #receivedBefore = 0;

  constructor(owner: StreamOwner, receiver: Receiver) {
    this.#owner = owner;
    this.#receiver = receiver;
  }

  /** Undefined if the stream never started. */
  get id(): number | undefined {
    return this.#stream?.id;
  }

  get resetCode(): number {
    return this.#stream?.rstCode ?? 0;
  }

  start(): void {
    this.#receiver.ready(this);
  }

  send(request: OutgoingRequest): void {
    const { method, body, complete } = request;
    this.#forHead = method === 'HEAD';
    const nothing = complete && body.every(({ length }) => length === 0);
    this.#receivedBefore = this.#owner.bytesReceived;
    try {
      this.#stream = this.#owner.request(requestFields(request, this.#owner.authority), nothing);
    } catch (error) {
      this.error = error as Error;
      this.unsent = true;
      // Later, as an event would come: `send` returns before the receiver is called back.
      process.nextTick(() => this.#closed());
      return;
    }
    this.#listen(this.#stream);
    if (nothing) return;
    for (const piece of body) this.#stream.write(piece);
    if (complete) this.#stream.end();
  }

  write(piece: Buffer): boolean {
    return this.#stream?.write(piece) ?? true;
  }

  end(): void {
    this.#stream?.end();
  }

  #listen(stream: ClientHttp2Stream): void {
    onWhole(stream, () => {
      this.#whole = true;
    });
    this.#frames = new SmallFrames(stream);
    stream
      .on('response', (headers, _flags, raw: string[]) => this.#responded(stream, headers, raw))
      .on('drain', () => this.#receiver.drained())
      .on('end', () => this.#ended())
      .on('frameError', (type) => {
        if (type === 1) this.unsent = true; // HEADERS
      })
      .on('error', (error) => {
        this.error ??= error;
      })
      // An event of the connection that says why it closes may come after this one.
      .on('close', () => setImmediate(() => this.#closed()));
  }

  #responded(stream: ClientHttp2Stream, headers: IncomingHttpHeaders, raw: readonly string[]): void {
    if (this.#over) return;
    const lines = responseLines(raw, this.#owner.headerSizeBytes);
    this.responseBegun = true;
    if (lines === undefined) {
      this.#fail({ problem: upstreamFailure('head-too-large'), repeatable: 'no' });
      return;
    }
    const status = Number(headers[HTTP2_HEADER_STATUS]);
    this.#receiver.responded({ status, reason: STATUS_CODES[status] ?? '', lines, framed: true });
    if (this.#over) return;
    // No body can follow, whether the peer has ended the stream or not.
    if (this.#forHead || status === 204 || status === 304) {
      this.#complete();
      return;
    }
    stream.on('data', (piece: Buffer) => this.#data(piece));
    if (this.#paused) stream.pause();
  }

  #data(piece: Buffer): void {
    if (this.#over) return;
    if (this.#paused) this.#saved.push(piece);
    else this.#receiver.received(piece);
  }

  #ended(): void {
    if (!this.#over && this.#whole && this.#saved.length === 0) this.#complete();
  }

  #complete(): void {
    this.#finish();
    // If the response did not wait for the whole request, the rest of the request is not sent.
    this.#cancel();
    this.#receiver.ended();
  }

  #closed(): void {
    if (!this.#over && !this.#isSaved) this.#fail(this.#owner.verdict(this));
  }

  #fail({ problem, repeatable }: Verdict): void {
    this.#finish();
    this.#cancel();
    this.#receiver.failed(problem, repeatable);
  }

  #finish(): void {
    this.#over = true;
    this.#owner.release(this);
  }

  /** Sends RST_STREAM if there is something to cancel. */
  #cancel(): void {
    const stream = this.#stream;
    if (stream === undefined || stream.destroyed) return;
    // `close` would first end a request that is not complete, and the upstream would take the part for the whole.
    if (!stream.writableEnded) stream.destroy(new Error('cancelled'));
    else if (!this.#whole || !stream.writableFinished) stream.close(NGHTTP2_CANCEL);
  }

  /** The connection closes: reads a complete response now, so that a slow client does not lose it. */
  save(): void {
    const stream = this.#stream;
    if (stream === undefined || this.#over || !this.#whole || !this.responseBegun) return;
    this.#isSaved = true;
    this.#frames?.flush();
    while (stream.read() !== null); // Emits `data`. In Node 26 each call reads one piece.
    if (!this.#paused && !this.#over) this.#complete();
  }

  abort(): void {
    if (this.#over) return;
    // First of all: `release` sends waiting requests on this connection, unless it is in doubt.
    if (this.#stream !== undefined && this.#owner.bytesReceived === this.#receivedBefore) this.#owner.doubt();
    this.#finish();
    this.#cancel();
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    while (this.#saved.length > 0 && !this.#paused && !this.#over)
      this.#receiver.received(this.#saved.shift()!);
    if (this.#paused || this.#over) return;
    if (this.#isSaved) this.#complete();
    else this.#readOn();
  }

  #readOn(): void {
    this.#frames?.flush();
    this.#stream?.resume();
  }
}
