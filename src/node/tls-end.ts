import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** What Node has of a connection below its socket. */
interface Handle {
  /** 0 where it wasn't read, else the number of an error. */
  readStart(): number;
  readStop(): number;
  /** Whether the socket wants to read it. */
  readonly reading?: boolean;
}

/**
 * Tells when TLS ends because the TCP connection under it does, without a word. Node tells this end and that of TLS
 * itself alike; but while the latter is told, TCP is still being read, for it stands in what was read last.
 *
 * @param raw a TCP connection that `secure` reads, by Node's own code
 */
export function onBareEnd(secure: TLSSocket, raw: Socket, tell: () => void): void {
  const upper = handleOf(secure);
  const lower = handleOf(raw);
  const { push } = secure;
  let ended = false;
  secure.push = (piece, encoding) => {
    if (piece === null && !ended) {
      ended = true;
      // While TLS is paused TCP isn't read, so that its end can't have been seen.
      if (upper?.reading && lower?.readStart() === 0) {
        lower.readStop();
        tell();
      }
    }
    return push.call(secure, piece, encoding);
  };
}

function handleOf(socket: Socket): Handle | null {
  return (socket as Socket & { readonly _handle: Handle | null })._handle;
}
