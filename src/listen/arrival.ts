import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** By which way a client came. */
export interface Arrival {
  /** By a Unix socket, which no web page can reach. */
  readonly byUnixSocket: boolean;
  readonly byTls: boolean;
  /** By the socket for requests that failed on the fast lane. */
  readonly beside: boolean;
  /** The address of ours that it connected to, and not its own: what counts is whom that is open to. */
  readonly address: string | undefined;
}

/** On a server of the host program. Its Unix sockets may be open to others. */
export function arrivalElsewhere(socket: Socket): Arrival {
  const { localAddress: address } = socket;
  return { byUnixSocket: false, byTls: socket instanceof TLSSocket, beside: false, address };
}

export function isLoopback({ byUnixSocket, address = '' }: Arrival): boolean {
  return byUnixSocket || address === '::1' || /^(?:::ffff:)?127\./.test(address);
}
