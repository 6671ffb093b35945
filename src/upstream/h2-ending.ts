import { constants } from 'node:http2';
import { codeOf } from '../base/failures/kind.ts';
import { Problem } from '../base/problem.ts';
import type { Http2Stream, Verdict } from './h2-stream.ts';
import { upstreamFailure, upstreamProblem } from './upstream-error.ts';

const { NGHTTP2_REFUSED_STREAM, NGHTTP2_HTTP_1_1_REQUIRED } = constants;
/** The codes for a violation of the protocol (RFC 9113 §7). The HTTP/2 library uses them, too. */
const INVALID = new Set([
  constants.NGHTTP2_PROTOCOL_ERROR,
  constants.NGHTTP2_FLOW_CONTROL_ERROR,
  constants.NGHTTP2_FRAME_SIZE_ERROR,
  constants.NGHTTP2_COMPRESSION_ERROR,
  constants.NGHTTP2_ENHANCE_YOUR_CALM,
]);

/** How a connection ends, as far as is known, and what this means for each of its requests. */
export class Http2Ending {
  /** The first error; not set if the peer merely closed the connection. */
  error: Error | undefined;
  /** The peer ended or reset the connection. */
  peerGone = false;
  /** Its GOAWAY says that it requires HTTP/1.1. */
  wantsHttp1 = false;
  /** From GOAWAY: the peer has processed no stream after this one. */
  lastStreamId = Number.POSITIVE_INFINITY;

  get problem(): Problem {
    return problemOf(this.error);
  }

  /**
   * Why a stream ended before its response was complete, and whether its request may be sent again.
   *
   * @param first whether the connection has carried no other request
   */
  verdict(stream: Http2Stream, first: boolean): Verdict {
    const { resetCode, id, responseBegun } = stream;
    const cause = this.error ?? stream.error;
    const unseen =
      stream.unsent || resetCode === NGHTTP2_REFUSED_STREAM || id === undefined || id > this.lastStreamId;
    const problem = INVALID.has(resetCode)
      ? upstreamFailure('not-http', { cause })
      : problemOf(this.peerGone ? (stream.error ?? cause) : cause);
    if (responseBegun) return { problem, repeatable: 'no' };
    // Checked before the other reasons to send it again: HTTP/2 would refuse it again.
    if (resetCode === NGHTTP2_HTTP_1_1_REQUIRED || this.wantsHttp1)
      return { problem, repeatable: unseen ? 'http1' : 'stale' };
    if (unseen) return { problem, repeatable: 'unseen' };
    // The connection had carried other requests, and the peer may have closed it before this one arrived.
    return { problem, repeatable: this.peerGone && !first ? 'stale' : 'no' };
  }
}

function problemOf(cause: Error | undefined): Problem {
  if (cause instanceof Problem) return cause;
  const code = codeOf(cause);
  // The library found that the peer doesn't speak HTTP/2.
  if (code === 'ERR_HTTP2_ERROR') return upstreamFailure('not-http', { cause });
  if (code.startsWith('ERR_SSL_')) return upstreamProblem(cause);
  return upstreamFailure('closed', { cause });
}
