import type { Socket } from 'node:net';
import { endBy } from '../../node/server-socket.ts';

/** How long a client may read the last answer before its connection is destroyed. */
const LINGER_MS = 2_000;

/**
 * Ends a connection while the client may still be sending. What arrives for a while is read and dropped: closing a
 * connection with unread bytes resets it, and the client loses the answer (RFC 9112 §9.6).
 */
export function linger(socket: Socket): void {
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Makes Node's server call `linger` when it ends this connection after the last answer. */
export function lingerAtEnd(socket: Socket): void {
  endBy(socket, () => linger(socket));
}
