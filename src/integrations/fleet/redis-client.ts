import { isIP } from 'node:net';
import {
  ConnectionTimeoutError,
  createClient,
  ErrorReply,
  SocketClosedUnexpectedlyError,
} from '@redis/client';
import { codeOf } from '../../base/failures/kind.ts';
import type { TlsFiles } from '../../config/sections/tls.ts';
import type { ShareServer } from '../../config/values/share-url.ts';
import { lazySecureContext } from '../../upstream/secure-context.ts';

/** For TCP and TLS. Less than `CONNECT_LIMIT_MS`, so that no socket is still being opened when the client is given up. */
const SOCKET_LIMIT_MS = 1_500;

export type Client = ReturnType<typeof clientFor>;

export interface Server {
  readonly server: ShareServer;
  readonly tls: TlsFiles;
}

/** A client with one connection. It does not reconnect by itself. */
export function clientFor({ server, tls }: Server) {
  const { address, username, password, database } = server;
  return createClient({
    RESP: 3, // Replies and messages on one connection.
    socket: { ...socketFor(address, tls), connectTimeout: SOCKET_LIMIT_MS, reconnectStrategy: false },
    ...(username && { username: username.expose() }),
    ...(password && { password: password.expose() }),
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    // Maintenance notifications would let the engine name another address to connect to.
    maintNotifications: 'disabled',
  });
}

function socketFor(address: ShareServer['address'], { ca }: TlsFiles) {
  if ('path' in address) return { path: address.path, tls: false as const };
  const { host, port, tls } = address;
  if (!tls) return { host, port, tls };
  return {
    host,
    port,
    tls,
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would change the default.
    rejectUnauthorized: true,
    // Without the client certificate, which is for the upstream only.
    secureContext: lazySecureContext(ca === undefined ? {} : { ca })(),
    ...(isIP(host) === 0 && { servername: host }),
  };
}

export function destroy(client: Client | undefined): void {
  try {
    client?.destroy();
  } catch {
    // It is closed already.
  }
}

/** The error's code: other text may hold anything. The first word of an error reply is a code (`OOM`). */
export function reasonOf(error: unknown): string {
  if (error instanceof ErrorReply) return /^[A-Z]{2,20}\b/.exec(error.message)?.[0] ?? 'ERR';
  if (error instanceof ConnectionTimeoutError) return 'ETIMEDOUT';
  if (error instanceof SocketClosedUnexpectedlyError) return 'ECONNRESET';
  return codeOf(error);
}

/** The server runs in a mode in which instances can't share tokens. */
class WrongModeError extends Error {
  readonly code: 'CLUSTER' | 'SENTINEL';

  constructor(code: 'CLUSTER' | 'SENTINEL') {
    super(`the mode is ${code}`);
    this.code = code;
  }
}

/**
 * In a Redis Cluster, a script can't use keys of several slots. A Sentinel runs no scripts.
 *
 * @throws WrongModeError
 */
export async function checkMode(client: Client): Promise<void> {
  const { mode } = (await client.sendCommand(['HELLO'])) as unknown as { readonly mode?: unknown };
  if (mode === 'cluster') throw new WrongModeError('CLUSTER');
  if (mode === 'sentinel') throw new WrongModeError('SENTINEL');
}

/** The engine has no memory left: it can be read, but not written. */
export function isFull(error: unknown): boolean {
  return error instanceof ErrorReply && reasonOf(error) === 'OOM';
}
