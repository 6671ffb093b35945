import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Node's object for a connection, below the socket. */
interface Handle {
  /** @returns 0 if it was not reading yet, else an error number */
  readStart(): number;
  readStop(): number;
  /** True while the socket reads it. */
  readonly reading?: boolean;
}

/**
 * Calls `bareEnd` when TLS ends because its TCP connection ended, without a `close_notify`. Node emits the same event for
 * both ends. But at a `close_notify` TCP is still being read, because the alert is part of the data that was read last.
 *
 * @param raw the TCP connection that `secure` reads by Node's own code
 */
export function onBareEnd(secure: TLSSocket, raw: Socket, bareEnd: () => void): void {
  const upper = handleOf(secure);
  const lower = handleOf(raw);
  const { push } = secure;
  let ended = false;
  secure.push = (piece, encoding) => {
    if (piece === null && !ended) {
      ended = true;
      // While TLS is paused, TCP is not read, so its end can't have been seen.
      if (upper?.reading && lower?.readStart() === 0) {
        lower.readStop();
        bareEnd();
      }
    }
    return push.call(secure, piece, encoding);
  };
}

function handleOf(socket: Socket): Handle | null {
  return (socket as Socket & { readonly _handle: Handle | null })._handle;
}
