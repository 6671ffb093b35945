import { Problem } from '../base/problem.ts';
import type { RequestHead } from '../forward/client/request-head.ts';

/** The spaces, `HTTP/1.1` and CRLF of a request line. */
const REQUEST_LINE_OVERHEAD_BYTES = 12;
const LENGTH = /^\d{1,15}$/;
/** A coding with its parameters (RFC 9112 §7). */
const CODING = /^[!#$%&'*+.^_`|~0-9a-z-]+(?:[ \t]*;.*)?$/;

/** Tokens and field values (RFC 9110 §5.6.2, §5.5); the target is looked at again where it is split. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^[\x21-\x7e\x80-\xff]+$/;

const MALFORMED = new Problem('bad-request');
const TOO_LARGE = new Problem('headers-too-large');
const NOT_IMPLEMENTED = new Problem('not-implemented');

export interface RequestLine {
  readonly method: string;
  /** As the client sent it. */
  readonly target: string;
  readonly httpVersion: string;
}

/** What the parser lets through though RFC 9112 §3.2 and §6 forbid it, or though it is larger than we take. */
export function headProblem(
  { method, target, httpVersion }: RequestLine,
  head: RequestHead,
  headerSizeBytes: number,
): Problem | undefined {
  // The parser counts names and values only: 14,000 lines of three characters are few bytes to it.
  const line = method.length + target.length + REQUEST_LINE_OVERHEAD_BYTES;
  if (line + head.bytes > headerSizeBytes) return TOO_LARGE;
  if (!isFramed(head)) return MALFORMED;
  if (httpVersion === '1.0') return head.hostLines > 1 || head.contentLength === -1 ? MALFORMED : undefined;
  if (httpVersion !== '1.1' || head.hostLines !== 1) return MALFORMED;
  return codingProblem(head.transferEncoding);
}

/** One length of digits, or chunks: of two ends, the next reader may see the other one (RFC 9112 §6.3). */
function isFramed({ length, lengthLines, contentLength, transferEncoding }: RequestHead): boolean {
  if (length === undefined) return contentLength !== -1 || transferEncoding !== '';
  return lengthLines === 1 && contentLength !== -1 && LENGTH.test(length);
}

/**
 * True where a head holds what our own parser always refuses. The program that bearerd is a part of may have another
 * one: its server a lenient parser, its tests no parser at all, and a character beyond a byte would be cut to one.
 */
export function hasIllegalCharacter(target: string, pairs: readonly string[]): boolean {
  if (!TARGET.test(target)) return true;
  for (let i = 0; i < pairs.length; i += 2) {
    if (!NAME.test(pairs[i]!) || !VALUE.test(pairs[i + 1]!)) return true;
  }
  return false;
}

/** Another coding inside of the chunks could be neither decoded nor passed on, which says 501 (RFC 9112 §6.1). */
function codingProblem(transferEncoding: string): Problem | undefined {
  if (transferEncoding === '' || transferEncoding === 'chunked') return undefined;
  const codings = transferEncoding.split(',').map((coding) => coding.trim());
  // The chunks come last and once: else the end of the body is unknown (RFC 9112 §6.3).
  const inChunks = codings.indexOf('chunked') === codings.length - 1;
  return inChunks && codings.every((coding) => CODING.test(coding)) ? NOT_IMPLEMENTED : MALFORMED;
}
