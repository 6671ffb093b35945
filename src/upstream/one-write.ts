import type { Socket } from 'node:net';

/** A head and a body up to this size together go in one write. */
const ONE_WRITE_BYTES = 24 * 1024;

/** All plain connections write from this buffer, one after the other. */
let shared = Buffer.allocUnsafeSlow(ONE_WRITE_BYTES);

/**
 * Writes a head and a small body in one write. Joined as a string, they would be copied three times in V8's heap, so they
 * are joined in a shared buffer. TLS would still use the buffer after the write, so there they are a string.
 *
 * @param head in Latin-1
 * @returns false if they are too large for one write; then nothing is written
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
  // The kernel did not take all of it, and the rest is written from this buffer later: the next write gets a new one.
  if (socket.writableLength > 0) shared = Buffer.allocUnsafeSlow(ONE_WRITE_BYTES);
  return true;
}
