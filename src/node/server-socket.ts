import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A field that Node's HTTP server keeps on its connections. */
interface ServerSocket extends Socket {
  _httpMessage?: ServerResponse | null;
}

/**
 * The answer that a connection is busy with. Node has no public name for it, and a map would cost time for each
 * request.
 */
export function answering(socket: Socket): ServerResponse | undefined {
  return (socket as ServerSocket)._httpMessage ?? undefined;
}

/** Node's symbols for the buffer that a connection reads into, and for the callback. */
const BUFFER = 'kBuffer';
const CALLBACK = 'kBufferCb';

type Buffered = Record<symbol, unknown> & {
  readonly _handle?: { useUserBuffer?(buffer: Buffer): void } | null;
};

/**
 * Reads a connection into one buffer again and again, and calls back with the bytes, which are valid until the callback
 * returns. Node offers this for connections that it opens (`onread`). For connections that it accepts, it allocates
 * 64 KiB for each read, which is a fifth of the work of a large upload.
 *
 * @returns sets another callback; undefined if this version of Node has other internals, and only emits `data`
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

/** Node calls this method to close a connection after its last answer. `end` is called instead. */
export function endBy(socket: Socket, end: () => void): void {
  socket.destroySoon = end;
}
