import { isIP } from 'node:net';
import {
  ConnectionTimeoutError,
  createClient,
  ErrorReply,
  SocketClosedUnexpectedlyError,
} from '@redis/client';
import type { ShareServer, TlsFiles } from '../../config/config.ts';
import { lazySecureContext } from '../../upstream/secure-context.ts';

/** To connect; somewhat less than `CONNECT_LIMIT_MS`, so that a client that is given up has no socket on its way. */
const SOCKET_LIMIT_MS = 1_500;

export type Client = ReturnType<typeof clientFor>;

export interface Server {
  readonly server: ShareServer;
  readonly tls: TlsFiles;
}

/** A client of one connection, which it doesn't renew by itself. */
export function clientFor({ server, tls }: Server) {
  const { address, username, password, database } = server;
  return createClient({
    RESP: 3, // Messages and answers by one connection.
    socket: { ...socketFor(address, tls), connectTimeout: SOCKET_LIMIT_MS, reconnectStrategy: false },
    ...(username && { username: username.expose() }),
    ...(password && { password: password.expose() }),
    database,
    disableOfflineQueue: true,
    disableClientInfo: true,
    // It would let the engine say where else to connect to.
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
    // Said in full: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would else switch verification off.
    rejectUnauthorized: true,
    // The client's certificate is for the upstream alone.
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

/** An error's code: other text of a library or an engine may hold anything. An answer's first word is a code (`OOM`). */
export function reasonOf(error: unknown): string {
  if (error instanceof ErrorReply) return /^[A-Z]{2,20}\b/.exec(error.message)?.[0] ?? 'ERR';
  if (error instanceof ConnectionTimeoutError) return 'ETIMEDOUT';
  if (error instanceof SocketClosedUnexpectedlyError) return 'ECONNRESET';
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown error';
}

/** The server runs in a mode in which tokens can't be shared. */
export class WrongModeError extends Error {
  readonly code: 'CLUSTER' | 'SENTINEL';

  constructor(code: 'CLUSTER' | 'SENTINEL') {
    super(`the mode is ${code}`);
    this.code = code;
  }
}

/**
 * A script with keys of several slots can't run in a Cluster, and a Sentinel runs none.
 *
 * @throws WrongModeError
 */
export async function checkMode(client: Client): Promise<void> {
  const { mode } = (await client.sendCommand(['HELLO'])) as unknown as { readonly mode?: unknown };
  if (mode === 'cluster') throw new WrongModeError('CLUSTER');
  if (mode === 'sentinel') throw new WrongModeError('SENTINEL');
}

/** The engine has no memory left: it can be read but not written. */
export function isFull(error: unknown): boolean {
  return error instanceof ErrorReply && reasonOf(error) === 'OOM';
}
