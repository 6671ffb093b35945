/** Why bytes are not an HTTP/1.1 response. For the log; constant, so that it can't hold any of the bytes. */
export class ResponseFault extends Error {
  override readonly name = 'ResponseFault';
  readonly failure: 'not-http' | 'head-too-large';

  constructor(reason: string, failure: ResponseFault['failure'] = 'not-http') {
    super(reason);
    this.failure = failure;
  }
}

/** Bits: a byte may be part of a token, or of other text. */
const TOKEN = 1;
const TEXT = 2;
const KINDS = new Uint8Array(256);
for (let byte = 0x20; byte < 0x100; byte++) KINDS[byte] = TEXT;
KINDS[0x09] = TEXT;
KINDS[0x7f] = 0;
for (const character of "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") {
  KINDS[character.charCodeAt(0)]! |= TOKEN;
}

const PREFIX = Buffer.from('HTTP/1.');
const CR = 0x0d;
const LF = 0x0a;
const SP = 0x20;
const HT = 0x09;
const COLON = 0x3a;

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;

/** States of the status line. */
const START = 0;
const EMPTY_LINE = 1;
const VERSION = 2;
const STATUS = 3;
const AFTER_STATUS = 4;
const REASON = 5;
/** States of header lines, and of the line ends between them. */
const LINE_END = 6;
const LINE_START = 7;
const NAME = 8;
const VALUE_START = 9;
const VALUE = 10;
const HEAD_END = 11;

/** Empty lines before a status line: some servers send a line end too many after a body. */
const MOST_EMPTY_LINES = 4;

/**
 * Finds the parts of a response's head (RFC 9112 §4 and §5), in one pass over its bytes, in as many pieces as they come
 * in. Each line ends with CR LF. A bare CR or LF, a control character, white space before a colon and a folded line are
 * faults, because another reader might see other lines. One leniency: if there is no reason, the space before it may
 * be missing, too.
 */
export class HeadScanner {
  /** Four for each line: start and end of its name, then of its value (trailing white space included). */
  readonly places: number[] = [];
  statusAt = 0;
  reasonAt = 0;
  reasonEnd = 0;
  /** Where the first header line begins. */
  fieldsAt = 0;
  /** Minor version of HTTP/1. */
  minor = 1;
  #state = START;
  /** Bytes of the version or digits of the status so far. */
  #count = 0;

  reset(): void {
    this.places.length = 0;
    this.fieldsAt = 0;
    this.#state = START;
    this.#count = 0;
  }

  /**
   * @param base a byte's position in the head is its index in `bytes` plus this
   * @returns the index behind the head; -1 while the head is incomplete
   * @throws ResponseFault
   */
  scan(bytes: Uint8Array, from: number, base: number): number {
    const at = this.#state < LINE_END ? this.#scanStatusLine(bytes, from, base) : from;
    return this.#scanFieldLines(bytes, at, base);
  }

  /** @returns the index behind the CR of the status line, or the length of `bytes` */
  #scanStatusLine(bytes: Uint8Array, from: number, base: number): number {
    let state = this.#state;
    let i = from;
    for (; i < bytes.length && state !== LINE_END; i++) {
      const byte = bytes[i]!;
      if (state === START && (byte !== CR || this.#count++ === MOST_EMPTY_LINES)) {
        this.#count = 0;
        state = VERSION;
      }
      switch (state) {
        case START:
          state = EMPTY_LINE;
          break;
        case EMPTY_LINE:
          expectLf(byte);
          state = START;
          break;
        case VERSION:
          if (this.#endsVersion(byte)) {
            this.statusAt = i + 1 + base;
            state = STATUS;
          }
          break;
        case STATUS:
          if (!isDigit(byte)) throw new ResponseFault('the status is not three digits');
          if (++this.#count === 3) state = AFTER_STATUS;
          break;
        case AFTER_STATUS:
          if (byte !== CR && byte !== SP) throw new ResponseFault('the status is not three digits');
          this.reasonAt = byte === SP ? i + 1 + base : i + base;
          this.reasonEnd = this.reasonAt;
          state = byte === SP ? REASON : LINE_END;
          break;
        default: // The reason: any byte but LF and NUL, at which other readers might end the line.
          if (byte === LF || byte === 0) throw new ResponseFault('the reason phrase holds a line end or NUL');
          if (byte !== CR) break;
          this.reasonEnd = i + base;
          state = LINE_END;
      }
    }
    this.#state = state;
    return i;
  }

  /** Checks a byte of the version. @returns true at the space behind it */
  #endsVersion(byte: number): boolean {
    const count = this.#count++;
    if (
      count < PREFIX.length ? byte !== PREFIX[count] : count === PREFIX.length ? !isDigit(byte) : byte !== SP
    )
      throw new ResponseFault('the status line is not HTTP/1');
    if (count === PREFIX.length) this.minor = byte - 0x30;
    if (count <= PREFIX.length) return false;
    this.#count = 0;
    return true;
  }

  #scanFieldLines(bytes: Uint8Array, from: number, base: number): number {
    const end = bytes.length;
    let state = this.#state;
    let i = from;
    while (i < end) {
      const byte = bytes[i]!;
      switch (state) {
        case VALUE:
          while (i < end && (KINDS[bytes[i]!]! & TEXT) !== 0) i++;
          if (i === end) break;
          if (bytes[i] !== CR) throw new ResponseFault('a header value holds a control character');
          this.places.push(i++ + base);
          state = LINE_END;
          break;
        case NAME:
          while (i < end && (KINDS[bytes[i]!]! & TOKEN) !== 0) i++;
          if (i === end) break;
          if (bytes[i] !== COLON) throw new ResponseFault('a header name is not valid');
          this.places.push(i++ + base);
          state = VALUE_START;
          break;
        case VALUE_START:
          while (i < end && (bytes[i] === SP || bytes[i] === HT)) i++;
          if (i === end) break;
          this.places.push(i + base);
          state = VALUE;
          break;
        case LINE_END:
          expectLf(byte);
          i++;
          if (this.fieldsAt === 0) this.fieldsAt = i + base;
          state = LINE_START;
          break;
        case LINE_START:
          if (byte === CR) {
            i++;
            state = HEAD_END;
            break;
          }
          if ((KINDS[byte]! & TOKEN) === 0) throw new ResponseFault('a header line begins without a name');
          this.places.push(i++ + base);
          state = NAME;
          break;
        default: // The end of the head.
          expectLf(byte);
          return i + 1;
      }
    }
    this.#state = state;
    return -1;
  }
}

function expectLf(byte: number): void {
  if (byte !== LF) throw new ResponseFault('a CR stands without its LF');
}
