import {
  CONNECTION,
  CONTENT_LENGTH,
  type FieldLines,
  fieldOf,
  KEEP_ALIVE,
  TRANSFER_ENCODING,
} from '../base/fields.ts';
import { isAskedProtocol } from './asked-protocol.ts';
import { ChunkDecoder } from './chunk-decoder.ts';
import { HeadScanner, ResponseFault } from './head-scanner.ts';

/** A response's head, as it came. */
export interface ResponseHead {
  readonly status: number;
  /** Each character a byte. */
  readonly reason: string;
  readonly lines: FieldLines;
  /** How the body ends is said by a length or by chunks; else only the connection's end tells. */
  readonly framed: boolean;
}

/** What is made of the bytes, in their order. */
export interface ResponseEvents {
  head(head: ResponseHead): void;
  /** A part of what was read. */
  body(piece: Buffer): void;
  /** The response is whole. */
  finished(): void;
  /** The protocol that was asked for begins; what came behind the 101 is its first bytes. */
  switched(head: ResponseHead, early: Buffer): void;
}

/** Interim answers to one request, which are all dropped. */
const MOST_INTERIM = 1_000;
/** RFC 9110 §8.6: decimal digits; longer than this is past what a double counts. */
const LENGTH = /^[0-9]{1,15}$/;

const NOTHING = Buffer.alloc(0);

/** What the next byte is part of. */
const IDLE = 0;
const HEAD = 1;
const BY_LENGTH = 2;
const CHUNKED = 3;
const TO_THE_END = 4;
const EMPTY = 5;
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
  /** The connection may carry another request after this response. */
  keepsAlive = false;
  /** Seconds for which the peer keeps an idle connection, by `Keep-Alive`; undefined where it doesn't say. */
  idleSeconds: number | undefined;
  readonly #events: ResponseEvents;
  readonly #limitBytes: number;
  readonly #scanner = new HeadScanner();
  readonly #chunks = new ChunkDecoder();
  readonly #tell: (piece: Buffer) => boolean;
  #state = IDLE;
  /** The part of a head that came in pieces before this one. */
  #text = '';
  #left = 0;
  #interim = 0;
  #forHead = false;
  /** What the request's `Upgrade` asks for. */
  #upgrade: string | undefined;

  /** @param limitBytes of all header lines of a response */
  constructor(events: ResponseEvents, limitBytes: number) {
    this.#events = events;
    this.#limitBytes = limitBytes;
    this.#tell = (piece) => {
      events.body(piece);
      return this.#state === CHUNKED;
    };
  }

  /** A body has begun, and more of it follows. */
  get inBody(): boolean {
    return this.#state >= BY_LENGTH && this.#state <= TO_THE_END;
  }

  /** The next response answers such a request, which asks for these protocols by `Upgrade`. */
  expect(method: string, upgrade?: string): void {
    this.begun = false;
    this.#state = HEAD;
    this.#forHead = method === 'HEAD';
    this.#upgrade = upgrade;
    this.#interim = 0;
    this.#beginHead();
  }

  /** Nothing more is wanted: events end, in the middle of a piece too. */
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
          const end = this.#chunks.decode(bytes, i, this.#tell);
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

  /** The connection has ended in order. True where that was the end of the response, or none was awaited. */
  finish(): boolean {
    if (this.#state === TO_THE_END) this.#end(false);
    return this.#state === IDLE || this.#state === STOPPED;
  }

  #beginHead(): void {
    this.#text = '';
    this.#scanner.reset();
  }

  #readHead(bytes: Buffer, from: number): number {
    this.begun = true;
    const scanner = this.#scanner;
    const end = scanner.scan(bytes, from, this.#text.length - from);
    const to = end === -1 ? bytes.length : end;
    // The status line and the lines behind it each have this much room, beside the CR LF at the end.
    const { fieldsAt } = scanner;
    const most = this.#limitBytes + 2;
    if (fieldsAt > most || this.#text.length + to - from - fieldsAt > most) {
      throw new ResponseFault('the header lines are too large', 'head-too-large');
    }
    const text =
      this.#text === ''
        ? bytes.toString('latin1', from, to)
        : this.#text + bytes.toString('latin1', from, to);
    if (end === -1) {
      this.#text = text;
      return to;
    }
    this.#text = '';
    return this.#headRead(text, bytes, end);
  }

  #headRead(text: string, bytes: Buffer, end: number): number {
    const { statusAt, reasonAt, reasonEnd } = this.#scanner;
    const status = Number(text.slice(statusAt, statusAt + 3));
    if (status < 100) throw new ResponseFault('there is no such status');
    if (status < 200 && status !== 101) {
      if (++this.#interim > MOST_INTERIM) throw new ResponseFault('there are too many interim answers');
      this.#beginHead();
      return end;
    }
    const lines = this.#linesOf(text);
    const framed = this.#frame(status, lines);
    const head = { status, reason: text.slice(reasonAt, reasonEnd), lines, framed };
    if (status === 101) return this.#switch(head, bytes, end);
    const state = this.#state;
    this.#events.head(head);
    const empty = state === EMPTY || (state === BY_LENGTH && this.#left === 0);
    if (empty && this.#state === state) {
      this.#end(end < bytes.length);
      return bytes.length;
    }
    return end;
  }

  #linesOf(text: string): FieldLines {
    const { places } = this.#scanner;
    const pairs: string[] = [];
    const fields: number[] = [];
    for (let i = 0; i < places.length; i += 4) {
      const name = text.slice(places[i], places[i + 1]);
      let valueEnd = places[i + 3]!;
      const valueAt = places[i + 2]!;
      while (valueEnd > valueAt && isSpace(text.charCodeAt(valueEnd - 1))) valueEnd--;
      pairs.push(name, text.slice(valueAt, valueEnd));
      fields.push(fieldOf(name));
    }
    return { pairs, fields };
  }

  /** RFC 9112 §6.3: sets how the body is read; true where its end is said. */
  #frame(status: number, { pairs, fields }: FieldLines): boolean {
    let length: string | undefined;
    let coding: string | undefined;
    let closes = false;
    let persists = false;
    this.idleSeconds = undefined;
    for (let i = 0; i < fields.length; i++) {
      const value = pairs[2 * i + 1]!;
      switch (fields[i]) {
        case CONTENT_LENGTH:
          if (length !== undefined) throw new ResponseFault('there are two lengths');
          length = value;
          break;
        case TRANSFER_ENCODING:
          coding = coding === undefined ? value : `${coding},${value}`;
          break;
        case CONNECTION: {
          const options = value.toLowerCase();
          if (hasOption(options, 'close')) closes = true;
          else if (hasOption(options, 'keep-alive')) persists = true;
          break;
        }
        case KEEP_ALIVE: {
          const seconds = secondsOf(value);
          if (seconds < (this.idleSeconds ?? Number.POSITIVE_INFINITY)) this.idleSeconds = seconds;
          break;
        }
        default:
      }
    }
    if (length !== undefined && !LENGTH.test(length)) throw new ResponseFault('the length is no number');
    const chunked = isChunked(coding);
    if (coding !== undefined && length !== undefined) {
      throw new ResponseFault('there are a length and a transfer coding');
    }
    const old = this.#scanner.minor === 0;
    // RFC 9112 §6.1: what HTTP/1.0 says of chunks is faulty framing, which ends with the connection.
    this.keepsAlive = !closes && (old ? persists && !chunked : true);
    const bodyless = this.#forHead || status === 204 || status === 304 || status === 101;
    if (bodyless) {
      this.#state = EMPTY;
      return true;
    }
    if (chunked) {
      this.#chunks.reset();
      this.#state = CHUNKED;
    } else if (length !== undefined) {
      this.#left = Number(length);
      this.#state = BY_LENGTH;
    } else {
      this.keepsAlive = false;
      // RFC 9110 §15.3.6: a 205 has no content, though it may have forgotten to say so.
      this.#state = status === 205 ? EMPTY : TO_THE_END;
      return false;
    }
    return true;
  }

  #switch(head: ResponseHead, bytes: Buffer, end: number): number {
    if (this.#upgrade === undefined || !isAskedProtocol(head.lines, this.#upgrade)) {
      throw new ResponseFault('the protocol is switched to one that was not asked for');
    }
    this.stop();
    this.#events.switched(head, end === bytes.length ? NOTHING : bytes.subarray(end));
    return bytes.length;
  }

  #end(surplus: boolean): void {
    this.#state = IDLE;
    if (surplus) this.keepsAlive = false;
    this.#events.finished();
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** True for exactly one `chunked`; false where no coding is named. */
function isChunked(coding: string | undefined): boolean {
  if (coding === undefined) return false;
  if (coding === 'chunked') return true;
  const lower = coding.toLowerCase();
  if (lower === 'identity') return false;
  if (lower !== 'chunked') throw new ResponseFault('the transfer coding is not just "chunked"');
  return true;
}

function hasOption(options: string, option: string): boolean {
  return options === option || options.split(',').some((one) => one.trim() === option);
}

/** NaN where it says nothing of time. */
function secondsOf(keepAlive: string): number {
  return Number(/(?:^|[,;\s])timeout\s*=\s*"?(\d{1,9})/i.exec(keepAlive)?.[1]);
}
