import { STATUS_CODES } from 'node:http';
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { Problem } from '../errors.ts';
import { type Http2Job, requestFields, responseFields } from './h2-job.ts';

const { HTTP2_HEADER_STATUS, NGHTTP2_CANCEL, NGHTTP2_FLAG_END_STREAM } = constants;

/** What a stream has to know of the connection that carries it. */
export interface StreamOwner {
  readonly authority: string;
  readonly headerSizeBytes: number;
  request(fields: string[], endStream: boolean): ClientHttp2Stream;
  /** Why a stream ended before its answer was whole; undefined where the job has been taken over, to be sent again. */
  verdict(stream: Http2Stream): Error | undefined;
  /** The stream is over, in whatever way. */
  release(stream: Http2Stream): void;
}

/** One request and its answer on an HTTP/2 connection, told to undici's kind of handler. */
export class Http2Stream implements Dispatcher.DispatchController {
  memberAt = -1;
  readonly job: Http2Job;
  aborted = false;
  paused = false;
  reason: Error | null = null;
  rawHeaders: string[] | null = null;
  responseBegun = false;
  /** Its HEADERS could not be sent any more. */
  unsent = false;
  /** What the library says about the stream's end. */
  error: Error | undefined;
  readonly #owner: StreamOwner;
  #stream: ClientHttp2Stream | undefined;
  /** The peer said that the body is whole. */
  #whole = false;
  /** Came while the client took nothing, and had to be read because the connection was about to go. */
  readonly #saved: Buffer[] = [];
  #isSaved = false;
  #over = false;

  constructor(owner: StreamOwner, job: Http2Job) {
    this.#owner = owner;
    this.job = job;
  }

  /** Undefined where it never got as far as the wire. */
  get id(): number | undefined {
    return this.#stream?.id;
  }

  get resetCode(): number {
    return this.#stream?.rstCode ?? 0;
  }

  start(): void {
    const { handler, options } = this.job;
    handler.onRequestStart?.(this, null);
    if (this.#over) return;
    const body = options.body as Buffer | Readable | null;
    const nothing = body === null || (Buffer.isBuffer(body) && body.length === 0);
    try {
      this.#stream = this.#owner.request(requestFields(options, this.#owner.authority), nothing);
    } catch (error) {
      this.#fail(error as Error);
      return;
    }
    this.#listen(this.#stream);
    if (nothing) return;
    if (Buffer.isBuffer(body)) this.#stream.end(body);
    else this.#send(body, this.#stream);
  }

  #listen(stream: ClientHttp2Stream): void {
    // A reset without an error code looks like the end of the body to Node's streams; but by then it is `closed`.
    const push = stream.push.bind(stream);
    stream.push = (chunk, encoding) => {
      if (chunk === null && !stream.closed) this.#whole = true;
      return push(chunk, encoding);
    };
    stream
      .on('response', (headers, flags, raw: string[]) => this.#responded(headers, flags, raw))
      .on('end', () => this.#ended())
      .on('frameError', (type) => {
        if (type === 1) this.unsent = true;
      })
      .on('error', (error) => {
        this.error ??= error;
      })
      .on('close', () => this.#closed());
  }

  #send(body: Readable, stream: ClientHttp2Stream): void {
    // Without its end: the upstream must not take a part for the whole.
    const closed = () => {
      if (!body.readableEnded) this.abort(body.errored ?? new Error('the request body broke off'));
    };
    if (body.destroyed) closed();
    else body.on('close', closed).pipe(stream);
  }

  #responded(headers: IncomingHttpHeaders, flags: number, raw: readonly string[]): void {
    if (this.#over) return;
    const { handler } = this.job;
    const fields = responseFields(raw, this.#owner.headerSizeBytes);
    this.responseBegun = true;
    handler.onResponseStarted?.();
    if (fields === undefined) {
      const tooLarge = { proxyStatus: 'http_response_header_section_size' };
      this.#fail(new Problem('upstream-invalid', tooLarge));
      return;
    }
    this.rawHeaders = fields;
    const status = Number(headers[HTTP2_HEADER_STATUS]);
    handler.onResponseStart?.(this, status, {}, STATUS_CODES[status] ?? '');
    if (this.#over) return;
    if ((flags & NGHTTP2_FLAG_END_STREAM) === 0 && this.#isAllSaid(status)) {
      this.#complete();
      return;
    }
    this.#stream!.on('data', (chunk: Buffer) => this.#data(chunk));
    if (this.paused) this.#stream!.pause();
  }

  /** No body can follow (RFC 9110 §6.4.1): the head is the answer, and the stream's end need not be waited for. */
  #isAllSaid(status: number): boolean {
    const bodyless = this.job.options.method === 'HEAD' || status === 204 || status === 304;
    return bodyless && this.#stream!.writableEnded; // An upload under way goes on; it may still be wanted.
  }

  #data(chunk: Buffer): void {
    if (this.#over) return;
    if (this.paused) this.#saved.push(chunk);
    else this.job.handler.onResponseData?.(this, chunk);
  }

  #ended(): void {
    if (!this.#over && this.#whole && this.#saved.length === 0) this.#complete();
  }

  #complete(): void {
    this.#finish();
    // An answer that didn't wait for the whole request: the rest of it is not sent.
    this.#cancel();
    this.job.handler.onResponseEnd?.(this, {});
  }

  #closed(): void {
    if (this.#over || this.#isSaved) return;
    const error = this.#owner.verdict(this);
    if (error === undefined) this.#finish(false);
    else this.#fail(error);
  }

  #fail(error: Error): void {
    this.#finish();
    this.#cancel();
    this.job.handler.onResponseError?.(this, error);
  }

  #finish(bodyToo = true): void {
    this.#over = true;
    const { body } = this.job.options;
    if (bodyToo && body !== null && !Buffer.isBuffer(body)) (body as Readable).destroy();
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
    this.#stream!.read(); // Comes by `data`.
    if (!this.paused && !this.#over) this.#complete();
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    if (!this.#over) this.#fail(reason);
  }

  pause(): void {
    this.paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    while (this.#saved.length > 0 && !this.paused && !this.#over) {
      this.job.handler.onResponseData?.(this, this.#saved.shift()!);
    }
    if (this.paused || this.#over) return;
    if (this.#isSaved) this.#complete();
    else this.#stream?.resume();
  }
}
