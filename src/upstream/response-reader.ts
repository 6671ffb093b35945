import { type FieldLines, UPGRADE } from '../base/fields.ts';
import { BodyFraming, BY_LENGTH, CHUNKED, NO_BODY, TO_THE_END } from './body-framing.ts';
import { ChunkDecoder } from './chunk-decoder.ts';
import { ResponseFault } from './head-scanner.ts';
import { HeadReader, type ResponseHead } from './response-head.ts';

/** What a `ResponseReader` finds in the bytes, in their order. */
export interface ResponseEvents {
  head(head: ResponseHead): void;
  /** A piece of the body; it shares the memory of the bytes that were read. */
  body(piece: Buffer): void;
  /** The response is complete. */
  finished(): void;
  /** The connection switches to the requested protocol. @param early bytes behind the 101 */
  switched(head: ResponseHead, early: Buffer): void;
}

/** Most interim responses (1xx) to one request. All are dropped. */
const MOST_INTERIM = 1_000;

/** The state outside of a body; within one it is the kind of `BodyFraming`. */
const IDLE = 4;
const HEAD = 5;
const STOPPED = 6;

/**
 * Reads the responses of one HTTP/1.1 connection, one at a time. Strict where it protects (RFC 9112: line ends, lengths,
 * codings), transparent elsewhere (reason, values, unknown names). Two leniencies: empty lines before the status
 * line, and `Transfer-Encoding: identity` alone, which old servers send and which means no coding.
 */
export class ResponseReader {
  /** A byte of the response has come. */
  begun = false;
  readonly #events: ResponseEvents;
  readonly #head: HeadReader;
  readonly #framing = new BodyFraming();
  readonly #chunks = new ChunkDecoder();
  readonly #passChunk: (piece: Buffer) => boolean;
  #state = IDLE;
  /** Bytes of the body that are still to come, with `BY_LENGTH`. */
  #left = 0;
  #interim = 0;
  #forHead = false;
  /** The request's `Upgrade`. */
  #upgrade: string | undefined;

  /** @param limitBytes for all header lines of a response */
  constructor(events: ResponseEvents, limitBytes: number) {
    this.#events = events;
    this.#head = new HeadReader(limitBytes);
    this.#passChunk = (piece) => {
      events.body(piece);
      return this.#state === CHUNKED;
    };
  }

  /** A body has begun, and more of it follows. */
  get inBody(): boolean {
    return this.#state >= BY_LENGTH && this.#state <= TO_THE_END;
  }

  /** The connection may carry another request after this response. */
  get keepsAlive(): boolean {
    return this.#framing.keepsAlive;
  }

  /** Seconds for which the peer keeps an idle connection, by `Keep-Alive`; undefined where it doesn't say. */
  get idleSeconds(): number | undefined {
    return this.#framing.idleSeconds;
  }

  /** @param upgrade the request's `Upgrade` */
  expect(method: string, upgrade?: string): void {
    this.begun = false;
    this.#state = HEAD;
    this.#forHead = method === 'HEAD';
    this.#upgrade = upgrade;
    this.#interim = 0;
    this.#head.reset();
  }

  /** Ends all events, even for the rest of the bytes that are being read. */
  stop(): void {
    this.#state = STOPPED;
  }

  /**
   * Bytes behind the end of a response are dropped, and set `keepsAlive` to false.
   *
   * @throws ResponseFault
   */
  read(bytes: Buffer): void {
    let i = 0;
    while (i < bytes.length) {
      switch (this.#state) {
        case HEAD:
          i = this.#readHead(bytes, i);
          break;
        case BY_LENGTH: {
          const length = Math.min(this.#left, bytes.length - i);
          this.#left -= length;
          this.#events.body(i === 0 && length === bytes.length ? bytes : bytes.subarray(i, i + length));
          i += length;
          if (this.#left > 0 || this.#state !== BY_LENGTH) break;
          this.#end(i < bytes.length);
          return;
        }
        case CHUNKED: {
          const end = this.#chunks.decode(bytes, i, this.#passChunk);
          if (end === -1 || this.#state !== CHUNKED) return;
          this.#end(end < bytes.length);
          return;
        }
        case TO_THE_END:
          this.#events.body(i === 0 ? bytes : bytes.subarray(i));
          return;
        default:
          return;
      }
    }
  }

  /**
   * The connection has ended in order.
   *
   * @returns true if no response was expected, or this ends the body of one
   */
  finish(): boolean {
    if (this.#state === TO_THE_END) this.#end(false);
    return this.#state === IDLE || this.#state === STOPPED;
  }

  /** @returns the index of the next byte to read */
  #readHead(bytes: Buffer, from: number): number {
    this.begun = true;
    const reader = this.#head;
    const end = reader.read(bytes, from);
    if (end === -1) return bytes.length;
    const { status } = reader;
    if (status < 100) throw new ResponseFault('there is no such status');
    if (status < 200 && status !== 101) {
      if (++this.#interim > MOST_INTERIM) throw new ResponseFault('there are too many interim answers');
      reader.reset();
      return end;
    }
    const lines = reader.lines();
    const framed = this.#frame(status, lines);
    const head = { status, reason: reader.reason, lines, framed };
    if (status === 101) this.#switch(head, bytes.subarray(end));
    else if (!this.#begin(head)) return end;
    else this.#end(end < bytes.length);
    return bytes.length;
  }

  /** Sets how the body is read (RFC 9112 §6.3). @returns `framed` of `ResponseHead` */
  #frame(status: number, lines: FieldLines): boolean {
    const framing = this.#framing;
    framing.read(lines, this.#head.minor);
    if (this.#forHead || status === 204 || status === 304 || status === 101) {
      this.#state = NO_BODY;
      return true;
    }
    this.#state = framing.kind;
    this.#left = framing.length;
    if (framing.kind === CHUNKED) this.#chunks.reset();
    if (framing.kind !== TO_THE_END) return true;
    framing.keepsAlive = false;
    // RFC 9110 §15.3.6: a 205 has no content, even if nothing delimits it.
    if (status === 205) this.#state = NO_BODY;
    return false;
  }

  /** @returns true if the response ends with its head */
  #begin(head: ResponseHead): boolean {
    const state = this.#state;
    const ends = state === NO_BODY || (state === BY_LENGTH && this.#left === 0);
    this.#events.head(head);
    return ends && this.#state === state;
  }

  #switch(head: ResponseHead, early: Buffer): void {
    if (this.#upgrade === undefined || !isRequestedProtocol(head.lines, this.#upgrade)) {
      throw new ResponseFault('the protocol is switched to one that was not asked for');
    }
    this.stop();
    this.#events.switched(head, early);
  }

  #end(surplus: boolean): void {
    this.#state = IDLE;
    if (surplus) this.#framing.keepsAlive = false;
    this.#events.finished();
  }
}

/**
 * True if a 101 names protocols, and only ones that the request asked for (RFC 9110 §7.8): a server may choose among them
 * but not add one. Letter case makes no difference.
 */
function isRequestedProtocol({ pairs, fields }: FieldLines, requested: string): boolean {
  const named = fields.flatMap((field, i) => (field === UPGRADE ? protocolsOf(pairs[2 * i + 1]!) : []));
  const possible = new Set(protocolsOf(requested));
  return named.length > 0 && named.every((protocol) => possible.has(protocol));
}

function protocolsOf(upgrade: string): string[] {
  return upgrade
    .toLowerCase()
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');
}
