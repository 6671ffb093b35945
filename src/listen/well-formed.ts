import { Problem } from '../base/problem.ts';
import { CHUNKED, type RequestHead } from '../forward/client/request-head.ts';

/** Two spaces, `HTTP/1.1` and CRLF: the rest of a request line. */
const REQUEST_LINE_OVERHEAD_BYTES = 12;
const LENGTH = /^\d{1,15}$/;
/** A transfer coding with its parameters (RFC 9112 §7). */
const CODING = /^[!#$%&'*+.^_`|~0-9a-z-]+(?:[ \t]*;.*)?$/;

/** A name is a token (RFC 9110 §5.6.2); values see §5.5. The target is checked again where it is split. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^[\x21-\x7e\x80-\xff]+$/;

const MALFORMED = new Problem('bad-request');
const TOO_LARGE = new Problem('headers-too-large');
const NOT_IMPLEMENTED = new Problem('not-implemented');

interface RequestLine {
  readonly method: string;
  /** As the client sent it. */
  readonly target: string;
  readonly httpVersion: string;
}

/** A Problem for a head that Node's parser accepts, but that RFC 9112 §3.2 or §6 forbids, or that is too large. */
export function headProblem(
  { method, target, httpVersion }: RequestLine,
  head: RequestHead,
  headerSizeBytes: number,
): Problem | undefined {
  // The parser counts only names and values: 14,000 lines of three characters are few bytes to it.
  const line = method.length + target.length + REQUEST_LINE_OVERHEAD_BYTES;
  if (line + head.bytes > headerSizeBytes) return TOO_LARGE;
  if (!isFramed(head)) return MALFORMED;
  if (httpVersion === '1.0')
    return head.hostLines > 1 || head.contentLength === CHUNKED ? MALFORMED : undefined;
  if (httpVersion !== '1.1' || head.hostLines !== 1) return MALFORMED;
  return codingProblem(head.transferEncoding);
}

/** One `Content-Length` of digits, or chunks: with both, two readers could see different ends (RFC 9112 §6.3). */
function isFramed(head: RequestHead): boolean {
  const { contentLengthText, contentLengthLines, contentLength, transferEncoding } = head;
  if (contentLengthText === undefined) return contentLength !== CHUNKED || transferEncoding !== '';
  return contentLengthLines === 1 && contentLength !== CHUNKED && LENGTH.test(contentLengthText);
}

/**
 * True if a head holds characters that our own parser refuses. A host program may have another parser, or, in its tests,
 * none. A character above U+00FF would lose its upper bits when it is sent.
 */
export function hasIllegalCharacter(target: string, pairs: readonly string[]): boolean {
  if (!TARGET.test(target)) return true;
  for (let i = 0; i < pairs.length; i += 2) {
    if (!NAME.test(pairs[i]!) || !VALUE.test(pairs[i + 1]!)) return true;
  }
  return false;
}

/** 501 for a coding inside the chunks: it could be neither decoded nor passed on (RFC 9112 §6.1). */
function codingProblem(transferEncoding: string): Problem | undefined {
  if (transferEncoding === '' || transferEncoding === 'chunked') return undefined;
  const codings = transferEncoding.split(',').map((coding) => coding.trim());
  // `chunked` must be the last coding, and once: else nothing says where the body ends (RFC 9112 §6.3).
  const inChunks = codings.indexOf('chunked') === codings.length - 1;
  return inChunks && codings.every((coding) => CODING.test(coding)) ? NOT_IMPLEMENTED : MALFORMED;
}
