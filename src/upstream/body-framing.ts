import {
  CONNECTION,
  CONTENT_LENGTH,
  type FieldLines,
  KEEP_ALIVE,
  TRANSFER_ENCODING,
} from '../base/fields.ts';
import { ResponseFault } from './head-scanner.ts';

/** Where the body of a response ends. */
export const NO_BODY = 0;
export const BY_LENGTH = 1;
export const CHUNKED = 2;
export const TO_THE_END = 3;

/** RFC 9110 §8.6: decimal digits. A double counts exactly up to 15 digits. */
const LENGTH = /^[0-9]{1,15}$/;

/** What the header lines of a response say about its body and its connection (RFC 9112 §6.3 and §9.3). */
export class BodyFraming {
  kind = NO_BODY;
  /** In bytes; only with `BY_LENGTH`. */
  length = 0;
  /** The connection may carry another request after this response. */
  keepsAlive = false;
  /** Seconds for which the peer keeps an idle connection (`Keep-Alive: timeout`); undefined if it doesn't say. */
  idleSeconds: number | undefined;

  /**
   * @param minor minor version of HTTP/1
   * @throws ResponseFault
   */
  read({ pairs, fields }: FieldLines, minor: number): void {
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
        case KEEP_ALIVE:
          this.#noteIdle(secondsOf(value));
          break;
        default:
      }
    }
    if (length !== undefined && !LENGTH.test(length)) throw new ResponseFault('the length is no number');
    const chunked = isChunked(coding);
    if (coding !== undefined && length !== undefined) {
      throw new ResponseFault('there are a length and a transfer coding');
    }
    this.kind = chunked ? CHUNKED : length === undefined ? TO_THE_END : BY_LENGTH;
    this.length = length === undefined ? 0 : Number(length);
    // RFC 9112 §6.1: chunks in an HTTP/1.0 response are faulty framing, so the connection closes after it.
    this.keepsAlive = !closes && (minor === 0 ? persists && !chunked : true);
  }

  /** Keeps the shortest of several timeouts. */
  #noteIdle(seconds: number): void {
    if (seconds < (this.idleSeconds ?? Number.POSITIVE_INFINITY)) this.idleSeconds = seconds;
  }
}

/** True for exactly one `chunked`; false if there is no coding. */
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

/** NaN if the value has no timeout. */
function secondsOf(keepAlive: string): number {
  return Number(/(?:^|[,;\s])timeout\s*=\s*"?(\d{1,9})/i.exec(keepAlive)?.[1]);
}
