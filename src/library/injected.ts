import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Problem } from '../base/problem.ts';

/** A request of `app.inject` (light-my-request), which has no connection. */
interface Injected extends IncomingMessage {
  readonly _lightMyRequest?: { readonly payload?: unknown };
}

/**
 * Gives a request of `app.inject` what a connection would give it. It counts as coming from loopback, since the
 * application itself sends it. No parser has checked its body's length, so that is done here: on the upstream's
 * connection surplus bytes would be the next request, and missing bytes would be taken from that.
 */
export function connectInjected(request: IncomingMessage, response: ServerResponse): void {
  if (request.socket instanceof Socket) return;
  const close = () => response.destroy();
  Object.assign(request.socket, {
    localAddress: '127.0.0.1',
    destroy: close,
    destroySoon: close,
    resetAndDestroy: close,
    write: (_piece: unknown, written?: () => void) => written?.(),
  });
  frame(request);
}

function frame(request: Injected): void {
  const lines = request.rawHeaders;
  const lengthAt = lines.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'content-length');
  const chunked = request.headers['transfer-encoding'] !== undefined;
  // A stream has no length, and would count as no body.
  const payload = request._lightMyRequest?.payload;
  if (lengthAt === -1 && !chunked && payload !== undefined && payload !== null)
    lines.push('transfer-encoding', 'chunked');
  let missing = lengthAt === -1 ? undefined : Number(lines[lengthAt + 1]);
  const push = request.push.bind(request);
  request.push = (piece: Buffer | string | null, encoding?: BufferEncoding) => {
    if (piece === null) request.complete = true;
    if (missing !== undefined) {
      missing -= piece === null ? 0 : Buffer.byteLength(piece, encoding);
      if (missing < 0 || (piece === null && missing > 0)) {
        missing = Number.NaN; // NaN: nothing more passes.
        if (!request.emit('malformed', new Problem('bad-request'))) request.destroy();
        return false;
      }
      if (Number.isNaN(missing)) return false;
    }
    return push(piece, encoding);
  };
}
