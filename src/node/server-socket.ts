import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What Node's HTTP server has for itself on a connection of its own. */
interface ServerSocket extends Socket {
  _httpMessage?: ServerResponse | null;
  _unrefTimer?: () => void;
  parser?: { getCurrentBuffer?(): Buffer } | null;
}

/** The answer that a connection is busy with. There is no public name for it, and a map of our own costs each request. */
export function answering(socket: Socket): ServerResponse | undefined {
  return (socket as ServerSocket)._httpMessage ?? undefined;
}

/**
 * Calls after each piece that Node's parser has read. There is no event for one in which no head ends; but Node moves
 * the connection's timer. Where it no longer does, nothing is called.
 */
export function onEachPiece(socket: ServerSocket, act: () => void): void {
  const { _unrefTimer: active } = socket;
  if (active === undefined) return;
  socket._unrefTimer = () => {
    active.call(socket);
    act();
  };
}

/** The piece that Node's parser is reading: it keeps neither the request line nor the protocol that stands in it. */
export function pieceBeingRead(socket: Socket): Buffer {
  return (socket as ServerSocket).parser?.getCurrentBuffer?.() ?? Buffer.alloc(0);
}

/** Node ends a connection after its last answer by this method; `end` is then called in its place. */
export function endBy(socket: Socket, end: () => void): void {
  socket.destroySoon = end;
}

/** Reads no further until the result is called. Node resumes a connection with each request whose body it drops. */
export function holdReading(socket: Socket): () => void {
  socket.pause();
  socket.resume = () => socket;
  return () => {
    Reflect.deleteProperty(socket, 'resume');
    socket.resume();
  };
}
