import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Ends a connection so that the other side sees that it broke. Node resets TCP alone, and throws at all else: TLS says
 * it by the `close_notify` that is missing (RFC 8446 §6.1), and a Unix socket, which has no port, knows one end only.
 */
export function endAbruptly(socket: Socket): void {
  if (socket instanceof TLSSocket || socket.remotePort === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
