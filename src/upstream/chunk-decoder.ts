import { ResponseFault } from './head-scanner.ts';

/** A longer size could exceed what a double counts exactly. */
const MOST_DIGITS = 13;
/** For each chunk. There is no limit for all chunks together, because an event stream may have any number of them. */
const MOST_EXTENSION_BYTES = 16 * 1024;
const MOST_TRAILER_BYTES = 64 * 1024;
/** A piece smaller than this is joined with its neighbour. */
const SMALL_BYTES = 4 * 1024;

const CR = 0x0d;
const LF = 0x0a;
const SP = 0x20;
const HT = 0x09;
const SEMICOLON = 0x3b;

const SIZE = 0;
const SIZE_SPACE = 1;
const EXTENSION = 2;
const SIZE_END = 3;
const DATA = 4;
const DATA_CR = 5;
const DATA_LF = 6;
const TRAILER_START = 7;
const TRAILER = 8;
const TRAILER_LF = 9;
const LAST_LF = 10;

/** The value of each hexadecimal digit; -1 for all else. */
const DIGITS = new Int8Array(256).fill(-1);
for (const digit of '0123456789abcdefABCDEF') DIGITS[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

/**
 * Removes the chunked coding (RFC 9112 §7.1). Extensions and trailers are read and dropped. Strict: a size is
 * hexadecimal digits and nothing else, and each line ends with CR LF.
 */
export class ChunkDecoder {
  #state = SIZE;
  #digits = 0;
  #left = 0;
  /** Bytes of the present chunk's extension, or of all trailers. */
  #dropped = 0;
  /** Start and end of the joined piece, within the bytes that are being read. */
  #runStart = 0;
  #runEnd = 0;

  reset(): void {
    this.#state = SIZE;
    this.#digits = 0;
    this.#left = 0;
    this.#dropped = 0;
  }

  /**
   * Decodes in place: small pieces are moved together within `bytes`, so that one read gives few pieces even if each
   * chunk has one byte.
   *
   * @param data called with each piece; returns false to stop
   * @returns the index behind the last chunk and the trailers; -1 while they are incomplete
   * @throws ResponseFault
   */
  decode(bytes: Buffer, from: number, data: (piece: Buffer) => boolean): number {
    this.#runStart = from;
    this.#runEnd = from;
    let i = from;
    let wanted = true;
    try {
      while (i < bytes.length && wanted) {
        const byte = bytes[i]!;
        if (this.#state === DATA) {
          const length = Math.min(this.#left, bytes.length - i);
          wanted = this.#collect(bytes, i, length, data);
          i += length;
        } else if (this.#state === SIZE) {
          this.#readSize(byte);
          i++;
        } else {
          i++;
          if (this.#step(byte)) return this.#emit(bytes, data) ? i : -1;
        }
      }
    } catch (fault) {
      // The data before the fault is valid, and the caller may want nothing more.
      if (this.#emit(bytes, data)) throw fault;
      return -1;
    }
    if (wanted) this.#emit(bytes, data);
    return -1;
  }

  /** Adds data to the joined piece. @returns false if no more is wanted */
  #collect(bytes: Buffer, at: number, length: number, data: (piece: Buffer) => boolean): boolean {
    this.#left -= length;
    if (this.#left === 0) this.#state = DATA_CR;
    const run = this.#runEnd - this.#runStart;
    if (run > 0 && (length < SMALL_BYTES || run < SMALL_BYTES)) {
      bytes.copyWithin(this.#runEnd, at, at + length);
      this.#runEnd += length;
      return true;
    }
    const wanted = this.#emit(bytes, data);
    this.#runStart = at;
    this.#runEnd = at + length;
    return wanted;
  }

  #emit(bytes: Buffer, data: (piece: Buffer) => boolean): boolean {
    if (this.#runEnd === this.#runStart) return true;
    const piece = bytes.subarray(this.#runStart, this.#runEnd);
    this.#runStart = this.#runEnd;
    return data(piece);
  }

  #readSize(byte: number): void {
    const digit = DIGITS[byte]!;
    if (digit === -1) {
      this.#endSize(byte);
      return;
    }
    // Leading zeros count, too: nothing but an attack sends so many.
    if (++this.#digits > MOST_DIGITS) throw new ResponseFault('a chunk size is too long');
    this.#left = this.#left * 16 + digit;
  }

  #endSize(byte: number): void {
    if (this.#digits === 0) throw new ResponseFault('a chunk has no size');
    if (byte === CR) this.#state = SIZE_END;
    else if (byte === SEMICOLON) this.#state = EXTENSION;
    else if (byte === SP || byte === HT) this.#state = SIZE_SPACE;
    else throw new ResponseFault('a chunk size is not hexadecimal');
  }

  /** Handles every byte outside of sizes and data. @returns true at the end of the body */
  #step(byte: number): boolean {
    switch (this.#state) {
      case DATA_CR:
        this.#expect(byte, CR);
        this.#state = DATA_LF;
        return false;
      case DATA_LF:
        this.#expect(byte, LF);
        this.#digits = 0;
        this.#state = SIZE;
        return false;
      case SIZE_SPACE: // Bad whitespace (RFC 9110 §5.6.3): only an extension may follow.
        if (byte === SEMICOLON) this.#state = EXTENSION;
        else if (byte !== SP && byte !== HT) throw new ResponseFault('a chunk size is not hexadecimal');
        this.#drop(MOST_EXTENSION_BYTES);
        return false;
      case EXTENSION:
        if (byte === CR) this.#state = SIZE_END;
        else this.#dropText(byte, MOST_EXTENSION_BYTES);
        return false;
      case SIZE_END:
        this.#expect(byte, LF);
        this.#state = this.#left === 0 ? TRAILER_START : DATA;
        this.#dropped = 0;
        return false;
      case TRAILER_START:
        if (byte === CR) {
          this.#state = LAST_LF;
        } else {
          this.#dropText(byte, MOST_TRAILER_BYTES);
          this.#state = TRAILER;
        }
        return false;
      case TRAILER:
        if (byte === CR) this.#state = TRAILER_LF;
        else this.#dropText(byte, MOST_TRAILER_BYTES);
        return false;
      case TRAILER_LF:
        this.#expect(byte, LF);
        this.#state = TRAILER_START;
        return false;
      default:
        this.#expect(byte, LF);
        return true;
    }
  }

  #expect(byte: number, expected: number): void {
    if (byte !== expected) throw new ResponseFault('a chunk does not end where it should');
  }

  #dropText(byte: number, limit: number): void {
    if (byte < SP && byte !== HT) throw new ResponseFault('a chunk line holds a control character');
    this.#drop(limit);
  }

  #drop(limit: number): void {
    if (++this.#dropped > limit) throw new ResponseFault('chunk extensions or trailers are too long');
  }
}
