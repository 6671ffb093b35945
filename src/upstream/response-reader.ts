import { type FieldLines, UPGRADE } from '../base/fields.ts';
import { BodyFraming, BY_LENGTH, CHUNKED, NO_BODY, TO_THE_END } from './body-framing.ts';
import { ChunkDecoder } from './chunk-decoder.ts';
import { ResponseFault } from './head-scanner.ts';
import { HeadReader, type ResponseHead } from './response-head.ts';

/** What a `ResponseReader` makes of the bytes, in their order. */
export interface ResponseEvents {
  head(head: ResponseHead): void;
  /** A part of what was read. */
  body(piece: Buffer): void;
  /** The response is whole. */
  finished(): void;
  /** The requested protocol begins. @param early what followed the 101: its first bytes */
  switched(head: ResponseHead, early: Buffer): void;
}

/** Interim responses to one request, which are all dropped. */
const MOST_INTERIM = 1_000;

/** What the next byte is part of, where it is not part of a body: that of no response, a head, or nothing we want. */
const IDLE = 4;
const HEAD = 5;
const STOPPED = 6;

/**
 * Reads the responses of one HTTP/1.1 connection, one at a time: bytes in, events out. Strict where it protects
 * (RFC 9112: line ends, lengths, codings), transparent where it doesn't (reason, values, unknown names). Two
 * leniencies: an empty line before the status line, and `Transfer-Encoding: identity` alone, which old servers
 * send and which says nothing.
 */
export class ResponseReader {
  /** A byte of the response has come. */
  begun = false;
  readonly #events: ResponseEvents;
  readonly #head: HeadReader;
  readonly #framing = new BodyFraming();
  readonly #chunks = new ChunkDecoder();
  readonly #tellChunk: (piece: Buffer) => boolean;
  #state = IDLE;
  /** Bytes of the body that are still to come, where its length is known. */
  #left = 0;
  #interim = 0;
  #forHead = false;
  /** What the request's `Upgrade` asks for. */
  #upgrade: string | undefined;

  /** @param limitBytes of all header lines of a response */
  constructor(events: ResponseEvents, limitBytes: number) {
    this.#events = events;
    this.#head = new HeadReader(limitBytes);
    this.#tellChunk = (piece) => {
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

  /** @param upgrade the protocols that the request asks for by `Upgrade` */
  expect(method: string, upgrade?: string): void {
    this.begun = false;
    this.#state = HEAD;
    this.#forHead = method === 'HEAD';
    this.#upgrade = upgrade;
    this.#interim = 0;
    this.#head.reset();
  }

  /** No event follows, not even from the rest of the piece that is being read. */
  stop(): void {
    this.#state = STOPPED;
  }

  /**
   * Bytes behind the end of a response belong to none: they are dropped, and `keepsAlive` is false.
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
          const end = this.#chunks.decode(bytes, i, this.#tellChunk);
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
   * @returns true where no response was expected, or its end is that of the connection
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

  /** RFC 9112 §6.3: sets how the body is read. @returns true where its end is said */
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
    // RFC 9110 §15.3.6: a 205 has no content, though the server may not have said so.
    if (status === 205) this.#state = NO_BODY;
    return false;
  }

  /** @returns true where the response ends with its head */
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
 * True where a 101 names protocols, and only those that the request asked for (RFC 9110 §7.8): a server may choose
 * among them, and can't add another. Letter case makes no difference.
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
