import type { Socket } from 'node:net';
import { endBy } from '../../node/server-socket.ts';

/** How long a client has to take the last answer on a connection that is given up. */
const LINGER_MS = 2_000;

/**
 * Ends a connection on which the client may still be sending. What comes is read and forgotten for a while: to
 * close on unread bytes resets the connection, and the answer is lost with it (RFC 9112 §9.6).
 */
export function linger(socket: Socket): void {
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Makes the server's own end of this connection, after the last answer, such an end. */
export function lingerAtEnd(socket: Socket): void {
  endBy(socket, () => linger(socket));
}
