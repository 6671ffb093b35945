const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const HEAD_END = Buffer.from('\r\n\r\n');
/** A CR and ` HTTP/1.1`, the end of a request line. */
const VERSION_BYTES = 10;
/** So much of the end of a piece of a head is read again with the next piece: it may begin the end of a line. */
const HELD_BYTES = 4;
/** A double holds a number of so many hexadecimal digits exactly. */
const MAX_DIGITS = 13;

/** What was read: part of a message, a head up to its end, a message up to its end, or something other than HTTP. */
type Step = 'part' | 'head' | 'end' | 'malformed';
type State = 'between' | 'line' | 'head' | 'length' | 'size' | 'extension' | 'data' | 'trailer';

/**
 * Finds where the requests of a connection begin and end (RFC 9112). It refuses what Node's parser accepts: a bare CR before a
 * request line, and the lines of RTSP and ICE. It removes legal white space that the parser refuses: in the extension of a
 * chunk, and a tab after a field value. Anything else is left to the parser.
 */
export class RequestBounds {
  /** After `read`: the range of bytes that the parser gets. */
  start = 0;
  end = 0;
  /** Where to read on. After a `part`, the bytes from here on belong before the next piece. */
  next = 0;
  #state: State = 'between';
  /** The end of a request line so far, as long as its version. */
  #line = '';
  /** Remaining bytes of a body, or of a chunk with its CRLF. */
  #left = 0;
  #digits = 0;
  #quoted = false;
  #escaped = false;
  /** The last byte of a chunk's line that is not white space, and whether white space followed it. */
  #before = 0;
  #blank = false;
  /** Bytes of the present trailer line. */
  #trailer = 0;
  /** Where the head ends in `#searched`, or -1: one search serves all parts of the head. */
  #headEnd = -1;
  #searched: Buffer | undefined;

  /** No byte of the next request has come. */
  get between(): boolean {
    return this.#state === 'between';
  }

  get inHead(): boolean {
    return this.#state === 'line' || this.#state === 'head';
  }

  /** Call this after a head. @param length of the body; -1 for chunks */
  bodyFollows(length: number): void {
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

  /** Empty lines may precede a request (RFC 9112 §2.2), even with a bare LF; a bare CR is none. */
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
    // Node's parser also accepts RTSP/1.0 and ICE/1.0, and reports them as HTTP.
    if (!this.#line.startsWith(' HTTP/')) return 'malformed';
    this.#state = 'head';
    return this.#readHead(bytes, end - 1);
  }

  /** @param from the CRLF before the head's lines, or the held part of it */
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

  /** Reads chunks (RFC 9112 §7.1) from where the last piece ended. */
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

  /** Reads a byte of a chunk's line. @returns false for white space that is not next to `;` or `=`, or for a malformed size */
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
    if (digit >= 0 && ++this.#digits <= MAX_DIGITS) {
      this.#left = this.#left * 16 + digit;
      return true;
    }
    if (this.#digits === 0 || this.#digits > MAX_DIGITS || (byte !== CR && byte !== SEMICOLON)) return false;
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

/** Where the end of a piece begins that may be part of the end of a line, or white space before it. */
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
