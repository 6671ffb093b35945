import type { Socket } from 'node:net';

/** What a peer sent before it reset the connection is in our kernel already: reading it takes no time. */
const READ_MS = 500;

type Done = (error?: NodeJS.ErrnoException | null) => void;

/**
 * Reads a connection to its end before a failed write is reported. An upstream
 * that refuses an upload answers and closes; our next write then fails, and would take the answer with it.
 *
 * @param broken called as soon as that is known; `reset` where the peer had not ended its side before: the end that is
 *   read from then on may be no end of its own (Linux says EPIPE where its FIN had come before its RST)
 * @returns undoes it
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
