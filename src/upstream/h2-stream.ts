import { STATUS_CODES } from 'node:http';
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Problem } from '../base/problem.ts';
import { SmallFrames } from '../node/small-frames.ts';
import { onWhole } from '../node/stream-end.ts';
import type { Carrier, OutgoingRequest, Receiver, Repeatable } from './carrier.ts';
import { requestFields, responseLines } from './h2-fields.ts';
import { upstreamFailure } from './upstream-error.ts';

const { HTTP2_HEADER_STATUS, NGHTTP2_CANCEL } = constants;

/** Why a stream ended before its answer was whole. */
export interface Verdict {
  readonly problem: Problem;
  readonly repeatable: Repeatable;
}

/** What a stream has to know of the connection that carries it. */
export interface StreamOwner {
  readonly authority: string;
  readonly headerSizeBytes: number;
  request(fields: string[], endStream: boolean): ClientHttp2Stream;
  /** What has come from the upstream so far, for whichever request. */
  readonly bytesReceived: number;
  verdict(stream: Http2Stream): Verdict;
  /** Nothing came for as long as one request waited. */
  doubt(): void;
  /** The stream is over, in whatever way. */
  release(stream: Http2Stream): void;
}

/** One request and its answer on an HTTP/2 connection. */
export class Http2Stream implements Carrier {
  memberAt = -1;
  readonly leavesGarbage = true;
  /** Its HEADERS could not be sent any more. */
  unsent = false;
  responseBegun = false;
  /** What the library says about the stream's end. */
  error: Error | undefined;
  readonly #owner: StreamOwner;
  readonly #receiver: Receiver;
  #stream: ClientHttp2Stream | undefined;
  #frames: SmallFrames | undefined;
  #forHead = false;
  #paused = false;
  /** The peer said that the body is whole. */
  #whole = false;
  /** Came while the client took nothing, and had to be read because the connection was about to go. */
  readonly #saved: Buffer[] = [];
  #isSaved = false;
  #over = false;
  #receivedBefore = 0;

  constructor(owner: StreamOwner, receiver: Receiver) {
    this.#owner = owner;
    this.#receiver = receiver;
  }

  /** Undefined where it never got as far as the wire. */
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
      // As if it had been told by an event: the caller is not called back before its call is over.
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
      .on('response', (headers, _flags, raw: string[]) => this.#responded(headers, raw))
      .on('drain', () => this.#receiver.drained())
      .on('end', () => this.#ended())
      .on('frameError', (type) => {
        if (type === 1) this.unsent = true;
      })
      .on('error', (error) => {
        this.error ??= error;
      })
      // What its connection has to say about its end may come behind it.
      .on('close', () => setImmediate(() => this.#closed()));
  }

  #responded(headers: IncomingHttpHeaders, raw: readonly string[]): void {
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
    // No body can follow: there is nothing to wait for, whether the peer has said so or not.
    if (this.#forHead || status === 204 || status === 304) {
      this.#complete();
      return;
    }
    this.#stream!.on('data', (piece: Buffer) => this.#data(piece));
    if (this.#paused) this.#stream!.pause();
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
    // An answer that didn't wait for the whole request: the rest of it is not sent.
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

  /** RST_STREAM, where there is still something to cancel. */
  #cancel(): void {
    const stream = this.#stream;
    if (stream === undefined || stream.destroyed) return;
    // `close` would first end what has not been sent whole, and a part would look like all of it.
    if (!stream.writableEnded) stream.destroy(new Error('cancelled'));
    else if (!this.#whole || !stream.writableFinished) stream.close(NGHTTP2_CANCEL);
  }

  /** The connection goes. An answer that is here already, and waits only for a slow client, must not go with it. */
  save(): void {
    if (this.#over || !this.#whole || !this.responseBegun) return;
    this.#isSaved = true;
    this.#frames!.flush();
    while (this.#stream!.read() !== null); // Comes by `data`; Node 26 gives one piece at a time.
    if (!this.#paused && !this.#over) this.#complete();
  }

  abort(): void {
    if (this.#over) return;
    // First: what else waits would be sent on the same connection as soon as there is room.
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
