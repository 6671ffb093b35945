import { constants } from 'node:crypto';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { ListenTls } from '../config/config.ts';
import { strictCiphers } from '../node/loosening.ts';

/** From the connection to the end of the handshake. */
const HANDSHAKE_MS = 10_000;

/** Who looks at connections before TLS begins. */
export interface Door {
  /** Each new one; false where there is no room for it. */
  readonly admits: (socket: Socket) => boolean;
  /** One that begins as a request in plain HTTP does. */
  readonly onPlain: (socket: Socket) => void;
}

/** An HTTPS server for HTTP/1.1. What Node has for HTTP servers, time limits too, it has for this one. */
export function createSecureServer(options: https.ServerOptions, tls: ListenTls, door: Door): https.Server {
  const server = https.createServer({
    ...options,
    ...contextOf(tls),
    noDelay: true,
    handshakeTimeout: HANDSHAKE_MS,
    ALPNProtocols: ['http/1.1'],
  });
  // What begins TLS on a new connection. It may be told of one later (Node's docs for this event).
  const begin = server.listeners('connection') as ((this: https.Server, socket: Socket) => void)[];
  return server
    .removeAllListeners('connection')
    .on('connection', (socket: Socket) => {
      if (!door.admits(socket)) socket.destroy();
      else
        whenBegun(socket, (first) => {
          if (isPlain(first)) door.onPlain(socket);
          else for (const listener of begin) listener.call(server, socket);
        });
    })
    .removeAllListeners('tlsClientError') // Node would take it for an error of the HTTP that has never begun.
    .on('tlsClientError', (_error, socket) => socket.destroy());
}

/** For the handshakes from now on. */
export function renewCertificate(server: https.Server, tls: ListenTls): void {
  server.setSecureContext(contextOf(tls));
}

function contextOf({ cert, key }: ListenTls): SecureContextOptions {
  return {
    cert: cert.expose(),
    key: key.expose(),
    minVersion: 'TLSv1.2',
    ciphers: strictCiphers(),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // It costs the server more than the client, again and again.
  };
}

/** Looks at the first byte of a connection, and leaves it there. */
function whenBegun(socket: Socket, act: (first: number) => void): void {
  const look = () => {
    const piece = socket.read() as Buffer | null;
    if (piece === null) return; // The end.
    socket.off('readable', look).setTimeout(0).off('timeout', leave);
    socket.unshift(piece);
    act(piece[0]!);
  };
  const leave = () => socket.destroy();
  socket
    .on('error', () => {})
    .setTimeout(HANDSHAKE_MS)
    .on('timeout', leave)
    .on('readable', look);
}

/** A method begins so, and no record of TLS does (RFC 8446 §5.1). */
function isPlain(first: number): boolean {
  return first >= 0x41 && first <= 0x5a;
}
