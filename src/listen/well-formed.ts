import { Problem } from '../base/errors.ts';
import type { RequestHead } from '../forward/client/request-head.ts';

/** The spaces, `HTTP/1.1` and CRLF of a request line. */
const REQUEST_LINE_OVERHEAD_BYTES = 12;
/** A coding with its parameters (RFC 9112 §7). */
const CODING = /^[!#$%&'*+.^_`|~0-9a-z-]+(?:[ \t]*;.*)?$/;

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
  if (httpVersion === '1.0') return head.hostLines > 1 || head.contentLength === -1 ? MALFORMED : undefined;
  if (httpVersion !== '1.1' || head.hostLines !== 1) return MALFORMED;
  return codingProblem(head.transferEncoding);
}

/** Another coding inside of the chunks could be neither decoded nor passed on, which says 501 (RFC 9112 §6.1). */
function codingProblem(transferEncoding: string): Problem | undefined {
  if (transferEncoding === '' || transferEncoding === 'chunked') return undefined;
  const codings = transferEncoding.split(',').map((coding) => coding.trim());
  // The chunks come last and once: else nobody knows where the body ends (RFC 9112 §6.3).
  const inChunks = codings.indexOf('chunked') === codings.length - 1;
  return inChunks && codings.every((coding) => CODING.test(coding)) ? NOT_IMPLEMENTED : MALFORMED;
}
