import type { Socket } from 'node:net';

/** Data that a peer sent before it reset the connection is in the kernel already: reading it takes no time. */
const READ_MS = 500;

type Done = (error?: NodeJS.ErrnoException | null) => void;

/**
 * Reads all data of a connection before a failed write is reported. An upstream that refuses an upload answers and
 * closes. The next write then fails, and Node would drop the answer.
 *
 * @param broken called when a write has failed. `reset` is true if the peer had not ended its side before: then the end
 *   that is read may not be an orderly end. (If its FIN came before its RST, Linux says EPIPE.)
 * @returns restores the socket's own methods
 */
export function readBeforeFailing(socket: Socket, broken: (reset: boolean) => void): () => void {
  const { _write, _writev } = socket;
  const later = (done: Done): Done => {
    return (error) => {
      if (!isBrokenPipe(error)) return done(error);
      broken(error?.code === 'ECONNRESET');
      setTimeout(done, READ_MS, error).unref();
    };
  };
  socket._write = (chunk, encoding, done) => _write.call(socket, chunk, encoding, later(done));
  socket._writev = (chunks, done) => _writev!.call(socket, chunks, later(done));
  return () => {
    Reflect.deleteProperty(socket, '_write');
    Reflect.deleteProperty(socket, '_writev');
  };
}

function isBrokenPipe(error: NodeJS.ErrnoException | null | undefined): boolean {
  return error?.code === 'EPIPE' || error?.code === 'ECONNRESET';
}
