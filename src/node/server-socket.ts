import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What Node's HTTP server has for itself on a connection of its own. */
interface ServerSocket extends Socket {
  _httpMessage?: ServerResponse | null;
}

/** The answer that a connection is busy with. There is no public name for it, and a map of our own costs each request. */
export function answering(socket: Socket): ServerResponse | undefined {
  return (socket as ServerSocket)._httpMessage ?? undefined;
}

/** Node's names, symbols of its own, for the buffer that a connection reads into and for what is called then. */
const BUFFER = 'kBuffer';
const CALLBACK = 'kBufferCb';

type Buffered = Record<symbol, unknown> & {
  readonly _handle?: { useUserBuffer?(buffer: Buffer): void } | null;
};

/**
 * Reads a connection into one buffer, over and over, and calls with what has come: the bytes are good until the call
 * returns. Node has that for connections that it opens (`onread`); for those that it accepts it makes 64 KiB anew
 * for each read, which with a large upload is a fifth of the work.
 *
 * @returns sets another reader; undefined where this Node keeps it elsewhere, and `data` events tell as ever
 */
export function readInto(
  socket: Socket,
  buffer: Buffer,
  read: (bytes: Buffer) => void,
): ((read: (bytes: Buffer) => void) => void) | undefined {
  const symbols = Object.getOwnPropertySymbols(socket);
  const bufferName = symbols.find(({ description }) => description === BUFFER);
  const callbackName = symbols.find(({ description }) => description === CALLBACK);
  const buffered = socket as unknown as Buffered;
  const handle = buffered._handle;
  if (bufferName === undefined || callbackName === undefined || handle?.useUserBuffer === undefined)
    return undefined;
  handle.useUserBuffer(buffer);
  buffered[bufferName] = buffer;
  const readBy = (reader: (bytes: Buffer) => void) => {
    buffered[callbackName] = (length: number) => reader(buffer.subarray(0, length));
  };
  readBy(read);
  return readBy;
}

/** Node ends a connection after its last answer by this method; `end` is then called in its place. */
export function endBy(socket: Socket, end: () => void): void {
  socket.destroySoon = end;
}
