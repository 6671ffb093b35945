import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { isLoopbackAddress } from '../config/values/addresses.ts';

/** How a client has connected. */
export interface Arrival {
  /** Over a Unix socket, which no web page can reach. */
  readonly byUnixSocket: boolean;
  readonly byTls: boolean;
  /** Over the socket for requests that failed on the fast lane. */
  readonly forRetries: boolean;
  /** Our address, not the client's: a rule depends on the networks from which that address can be reached. */
  readonly address: string | undefined;
}

/** A connection to a server of the host program. Its Unix sockets count as TCP, since other users may reach them. */
export function arrivalAtHost(socket: Socket): Arrival {
  const { localAddress: address } = socket;
  return { byUnixSocket: false, byTls: socket instanceof TLSSocket, forRetries: false, address };
}

export function isLoopback({ byUnixSocket, address = '' }: Arrival): boolean {
  return byUnixSocket || isLoopbackAddress(address);
}
