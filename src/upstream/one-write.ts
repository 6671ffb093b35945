import type { Socket } from 'node:net';

/** A head and a body up to this size together go in one write. */
const ONE_WRITE_BYTES = 24 * 1024;

/** All plain connections write from it, one after the other. */
let shared = Buffer.allocUnsafeSlow(ONE_WRITE_BYTES);

/**
 * Writes a head and a small body at once. A string of both takes three copies in V8's heap; so they are put together in
 * a buffer that is used again. Over TLS it would still be in use after each write: there it is a string.
 *
 * @param head in Latin-1
 * @returns false where they are too large for one write; then nothing is written
 */
export function writeAtOnce(socket: Socket, head: string, body: Buffer): boolean {
  const bytes = head.length + body.length;
  if (bytes > ONE_WRITE_BYTES) return false;
  if ('encrypted' in socket) {
    socket.write(head + body.toString('latin1'), 'latin1');
    return true;
  }
  shared.write(head, 0, 'latin1');
  shared.set(body, head.length);
  socket.write(shared.subarray(0, bytes));
  // The kernel has not taken all of it: the rest is written from there later.
  if (socket.writableLength > 0) shared = Buffer.allocUnsafeSlow(ONE_WRITE_BYTES);
  return true;
}
