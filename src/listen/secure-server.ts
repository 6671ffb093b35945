import { constants } from 'node:crypto';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import type { ListenTls } from '../config/sections/tls.ts';
import { strictCiphers } from '../node/loosening.ts';
import type { JoinedRequest } from './joined-request.ts';

/** Time limit for the first byte, and then for the handshake. */
const HANDSHAKE_MS = 10_000;

/** Decides about connections before TLS begins. */
interface BeforeTls {
  /** Called for each new connection; false refuses it. */
  readonly letsIn: (socket: Socket) => boolean;
  /** Called for a connection that begins with plain HTTP. */
  readonly onPlain: (socket: Socket) => void;
}

/** An HTTPS server for HTTP/1.1, with all that Node has for HTTP servers, such as time limits. */
export function createSecureServer(
  options: https.ServerOptions<typeof JoinedRequest>,
  tls: ListenTls,
  beforeTls: BeforeTls,
): https.Server<typeof JoinedRequest> {
  const server = https.createServer({
    ...options,
    ...contextOf(tls),
    noDelay: true,
    handshakeTimeout: HANDSHAKE_MS,
    ALPNProtocols: ['http/1.1'],
  });
  // Node's listener begins TLS on a new connection, and may be called later (docs of the `connection` event).
  const begin = server.listeners('connection');
  return server
    .removeAllListeners('connection')
    .on('connection', (socket: Socket) => {
      if (!beforeTls.letsIn(socket)) socket.destroy();
      else
        whenBegun(socket, (first) => {
          if (isPlain(first)) beforeTls.onPlain(socket);
          else for (const listener of begin) Reflect.apply(listener, server, [socket]);
        });
    })
    .removeAllListeners('tlsClientError') // Node would report it as an error of HTTP, which has not begun.
    .on('tlsClientError', (_error, socket) => socket.destroy());
}

/** Uses a new certificate for later handshakes. */
export function renewCertificate(server: https.Server, tls: ListenTls): void {
  server.setSecureContext(contextOf(tls));
}

function contextOf({ cert, key }: ListenTls): SecureContextOptions {
  return {
    cert: cert.expose(),
    key: key.expose(),
    minVersion: 'TLSv1.2',
    ciphers: strictCiphers(),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION, // A client could repeat it, and it costs the server more.
  };
}

/** Calls `act` with the first byte of a connection, and leaves the byte to be read again. */
function whenBegun(socket: Socket, act: (first: number) => void): void {
  const look = () => {
    const piece: Buffer | null = socket.read();
    if (piece === null) return; // The client has ended its side.
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

/** True for an upper-case letter: it begins an HTTP method, but no TLS record (RFC 8446 §5.1). */
function isPlain(first: number): boolean {
  return first >= 0x41 && first <= 0x5a;
}
