import type { ClientHttp2Stream } from 'node:http2';

/**
 * Calls `whole` when the peer has ended the body (END_STREAM). For a reader of the stream, a reset without an error
 * code looks the same, with `end` and all; but then the stream is `closed` already.
 */
export function onWhole(stream: ClientHttp2Stream, whole: () => void): void {
  const push = stream.push.bind(stream);
  stream.push = (piece, encoding) => {
    if (piece === null && !stream.closed) whole();
    return push(piece, encoding);
  };
}
