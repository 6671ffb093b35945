import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/**
 * Ends a connection so that the other side sees that it broke. Node can only reset TCP, and throws for anything else. On
 * TLS the missing `close_notify` says it (RFC 8446 §6.1). A Unix socket (no `remotePort`) has no way to say it.
 */
export function endAbruptly(socket: Socket): void {
  if (socket instanceof TLSSocket || socket.remotePort === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
