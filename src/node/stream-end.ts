import type { ClientHttp2Stream } from 'node:http2';

/**
 * Tells when the peer has said that the body is whole. A reset without an error code looks like that to a reader of
 * the stream, `end` and all; but by then it is `closed`.
 */
export function onWhole(stream: ClientHttp2Stream, tell: () => void): void {
  const push = stream.push.bind(stream);
  stream.push = (piece, encoding) => {
    if (piece === null && !stream.closed) tell();
    return push(piece, encoding);
  };
}
