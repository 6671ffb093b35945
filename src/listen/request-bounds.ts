const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const HEAD_END = Buffer.from('\r\n\r\n');
/** ` HTTP/1.1` and a CR: so a request line ends. */
const VERSION_BYTES = 10;
/** Of what ends a piece of a head, so much is read again with the next one: it may begin a line's end. */
const HELD_BYTES = 4;
/** A length that no double rounds. */
const MOST_DIGITS = 13;

/** What was read: a part of a message, a head to its end, a message to its end, or something that is no HTTP. */
export type Step = 'part' | 'head' | 'end' | 'malformed';
type State = 'between' | 'line' | 'head' | 'length' | 'size' | 'extension' | 'data' | 'trailer';

/**
 * Finds where the requests of a connection begin and end (RFC 9112). It judges what Node's parser doesn't: a bare CR
 * before a request line, and a line of RTSP or ICE. And it passes over what is legal though that parser refuses it:
 * white space in a chunk's extension, and a tab behind a field's value. All else is for the parser to refuse.
 */
export class RequestBounds {
  /** After `read`: what of the bytes is for the parser, */
  start = 0;
  end = 0;
  /** and where to read on. After a `part`, what is left from here is to stand before the next piece. */
  next = 0;
  #state: State = 'between';
  /** What has been read of a request line, as far as its version may stand there. */
  #line = '';
  /** Bytes of a body, or of a chunk with its CRLF, that are still to come. */
  #left = 0;
  #digits = 0;
  #quoted = false;
  #escaped = false;
  /** The last byte of a chunk's line that is no white space, and whether there was some behind it. */
  #before = 0;
  #blank = false;
  /** Bytes of a trailer's line. */
  #trailer = 0;
  /** Where the head ends in the bytes that are read, or -1: one search serves all its parts. */
  #headEnd = -1;
  #searched: Buffer | undefined;

  /** Nothing has come of the next request. */
  get between(): boolean {
    return this.#state === 'between';
  }

  get inHead(): boolean {
    return this.#state === 'line' || this.#state === 'head';
  }

  /** To be said after a head: what follows it. -1 for chunks. */
  follows(length: number): void {
    this.#state = length === 0 ? 'between' : length > 0 ? 'length' : 'size';
    this.#left = Math.max(0, length);
    this.#digits = 0;
  }

  read(bytes: Buffer, from: number): Step {
    this.start = from;
    switch (this.#state) {
      case 'between':
        return this.#skipEmptyLines(bytes, from);
      case 'line':
        return this.#readLine(bytes, from);
      case 'head':
        return this.#readHead(bytes, from);
      case 'length':
        return this.#readLength(bytes, from);
      default:
        return this.#readChunks(bytes, from);
    }
  }

  /** Empty lines may come before a request (RFC 9112 §2.2), by a bare LF, too; a bare CR is none. */
  #skipEmptyLines(bytes: Buffer, from: number): Step {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === LF) continue;
      if (byte !== CR) {
        this.start = at;
        this.#state = 'line';
        this.#line = '';
        return this.#readLine(bytes, at);
      }
      if (at + 1 === bytes.length) return this.#skip(at);
      if (bytes[at + 1] !== LF) return 'malformed';
    }
    return this.#skip(bytes.length);
  }

  #readLine(bytes: Buffer, from: number): Step {
    const end = bytes.indexOf(LF, from);
    const until = end === -1 ? heldFrom(bytes, from) : end;
    const line = bytes.toString('latin1', Math.max(from, until - VERSION_BYTES), until);
    this.#line = this.#line === '' ? line : (this.#line + line).slice(-VERSION_BYTES);
    if (end === -1) return this.#part(until, until);
    // Node's parser takes RTSP/1.0 and ICE/1.0, too, and says HTTP of all.
    if (!this.#line.startsWith(' HTTP/')) return 'malformed';
    this.#state = 'head';
    return this.#readHead(bytes, end - 1);
  }

  /** @param from the CRLF before it, or what was held of that */
  #readHead(bytes: Buffer, from: number): Step {
    if (this.#searched !== bytes) this.#headEnd = bytes.indexOf(HEAD_END, Math.max(from, this.start));
    this.#searched = bytes;
    const end = this.#headEnd;
    const until = end === -1 ? heldFrom(bytes, this.start) : end + HEAD_END.length;
    for (let at = bytes.indexOf(TAB, from); at !== -1 && at < until; ) {
      const behind = behindBlanks(bytes, at);
      if (bytes[behind] === CR) return this.#part(at, behind);
      at = bytes.indexOf(TAB, behind);
    }
    this.#searched = undefined;
    this.#part(until, until);
    return end === -1 ? 'part' : 'head';
  }

  #readLength(bytes: Buffer, from: number): Step {
    const end = Math.min(bytes.length, from + this.#left);
    this.#left -= end - from;
    this.#part(end, end);
    if (this.#left > 0) return 'part';
    this.#state = 'between';
    return 'end';
  }

  /** Chunks (RFC 9112 §7.1), from wherever in them the last piece ended. */
  #readChunks(bytes: Buffer, from: number): Step {
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      switch (this.#state) {
        case 'size':
        case 'extension': {
          if (isBlank(byte) && !this.#quoted) {
            this.#blank = true;
            return this.#part(at, behindBlanks(bytes, at));
          }
          if (!this.#readChunkLine(byte)) return 'malformed';
          break;
        }
        case 'data': {
          const passed = Math.min(this.#left, bytes.length - at);
          this.#left -= passed;
          at += passed - 1;
          if (this.#left === 0) this.#beginChunk();
          break;
        }
        default:
          if (byte !== LF) {
            if (byte !== CR) this.#trailer++;
          } else if (this.#trailer > 0) {
            this.#trailer = 0;
          } else {
            this.#state = 'between';
            this.#part(at + 1, at + 1);
            return 'end';
          }
      }
    }
    return this.#part(bytes.length, bytes.length);
  }

  #beginChunk(): void {
    this.#state = 'size';
    this.#digits = 0;
    this.#left = 0;
  }

  /** One byte of a chunk's line; white space comes before `;` and `=` and behind them, and nowhere else. */
  #readChunkLine(byte: number): boolean {
    if (byte === LF) {
      this.#state = this.#left === 0 ? 'trailer' : 'data';
      this.#left += this.#left === 0 ? 0 : 2;
      this.#trailer = 0;
      return true;
    }
    const blank = this.#blank;
    this.#blank = false;
    if (blank && !separates(byte) && !separates(this.#before)) return false;
    this.#before = byte;
    if (this.#state === 'extension') {
      if (byte === QUOTE && !this.#escaped) this.#quoted = !this.#quoted;
      this.#escaped = this.#quoted && byte === BACKSLASH && !this.#escaped;
      return true;
    }
    const digit = hexDigit(byte);
    if (digit >= 0 && ++this.#digits <= MOST_DIGITS) {
      this.#left = this.#left * 16 + digit;
      return true;
    }
    if (this.#digits === 0 || this.#digits > MOST_DIGITS || (byte !== CR && byte !== SEMICOLON)) return false;
    this.#state = 'extension';
    this.#quoted = false;
    this.#escaped = false;
    return true;
  }

  #skip(next: number): Step {
    this.start = next;
    return this.#part(next, next);
  }

  #part(end: number, next: number): Step {
    this.end = end;
    this.next = next;
    return 'part';
  }
}

/** Where what ends a piece begins that may be a part of a line's end, or the white space before it. */
function heldFrom(bytes: Buffer, start: number): number {
  const least = Math.max(start, bytes.length - HELD_BYTES);
  let at = bytes.length;
  while (at > least && (isBlank(bytes[at - 1]!) || bytes[at - 1] === CR || bytes[at - 1] === LF)) at--;
  return at;
}

function behindBlanks(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isBlank(bytes[at]!)) at++;
  return at;
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === TAB;
}

function separates(byte: number): boolean {
  return byte === SEMICOLON || byte === EQUALS;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
