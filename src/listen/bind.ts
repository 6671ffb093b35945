import { chmodSync, lstatSync, statSync, unlinkSync } from 'node:fs';
import { type AddressInfo, connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { ListenError } from '../base/errors.ts';
import { codeOf } from '../base/failures/kind.ts';
import { listenReason } from '../base/failures/listen-words.ts';
import { formatAddress, isLoopbackName, type ListenAddress } from '../config/values/addresses.ts';

/** A port that is free in one address family may be in use in the other: then another is tried, up to this many. */
const FREE_PORT_TRIES = 10;

/**
 * How many connections may wait to be accepted, if the system allows it. With Node's 511, a short stall turns clients away:
 * on a Unix socket at once, on TCP after a second or more.
 */
const BACKLOG = 4_096;

/** Where to listen: at an address, or on a socket that another process has opened and passed to this one. */
export type ListenTarget = ListenAddress | { readonly kind: 'passed'; readonly fd: number };

/** A server, and how its clients arrive. */
export interface BoundServer {
  readonly server: Server;
  byUnixSocket: boolean;
  /** It serves requests that failed on the fast lane, at none of the configured addresses. */
  readonly forRetries: boolean;
}

/** Makes the servers that listen. */
export interface Servers {
  /** Gives a new server at each call: `localhost` may need two. */
  readonly plain: () => BoundServer;
  /** The same, for TLS on TCP; undefined without TLS. A Unix socket stays plain: it crosses no network. */
  readonly secure?: (() => BoundServer) | undefined;
  /** Called when a Unix socket's file without a listener was replaced. */
  readonly onReplaced?: ((path: string) => void) | undefined;
}

/**
 * Binds one address, and gives its URL.
 *
 * @throws ListenError naming the address
 */
export async function bind(address: ListenTarget, { plain, secure, onReplaced }: Servers): Promise<string> {
  if (address.kind === 'unix') {
    await bindUnix(plain(), address.path, onReplaced);
    return `unix:${address.path}`;
  }
  if (address.kind === 'passed') return bindPassed(address.fd, plain, secure);
  const { host, port } = address;
  const server = secure ?? plain;
  const bound = isLoopbackName(host)
    ? await bindLocalhost(server, port)
    : await bindTcp(server().server, host, port);
  return urlOf(host, bound, secure !== undefined);
}

function urlOf(host: string, port: number, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${formatAddress({ kind: 'tcp', host, port })}`;
}

/** Binds 127.0.0.1 and ::1, as far as they exist, at one port. */
async function bindLocalhost(server: () => BoundServer, port: number): Promise<number> {
  const { server: v4 } = server();
  const { server: v6 } = server();
  for (let tries = 1; ; tries++) {
    const bound = await bindIfPresent(v4, '127.0.0.1', port);
    try {
      const second = await bindIfPresent(v6, '::1', bound ?? port);
      return bound ?? second ?? (await bindTcp(v4, '127.0.0.1', port));
    } catch (error) {
      if (port !== 0 || tries === FREE_PORT_TRIES) throw error;
      await new Promise((resolve) => v4.close(resolve));
    }
  }
}

async function bindIfPresent(server: Server, host: string, port: number): Promise<number | undefined> {
  try {
    return await bindTcp(server, host, port);
  } catch (error) {
    if (error instanceof ListenError && isAbsent(error)) return undefined;
    throw error;
  }
}

/** True if the machine has no such address, because IPv4 or IPv6 is off. */
function isAbsent({ cause }: ListenError): boolean {
  const code = codeOf(cause);
  return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' || code === 'EINVAL';
}

async function bindTcp(server: Server, host: string, port: number): Promise<number> {
  await listening(
    server,
    () => server.listen({ host, port, backlog: BACKLOG }),
    formatAddress({ kind: 'tcp', host, port }),
  );
  return (server.address() as AddressInfo).port;
}

/** Listens on a passed socket of any kind. The process that opened it removes its file. */
async function bindPassed(
  fd: number,
  plain: () => BoundServer,
  secure?: (() => BoundServer) | undefined,
): Promise<string> {
  const bound = (secure ?? plain)();
  const { server } = bound;
  await listening(
    server,
    () => server.listen({ fd, backlog: BACKLOG }),
    `the passed socket (file descriptor ${fd})`,
  );
  const at = server.address();
  if (typeof at === 'string' || at === null) {
    if (secure !== undefined) throw new ListenError('cannot use TLS on a passed Unix socket');
    bound.byUnixSocket = true;
    return `unix:${at}`;
  }
  return urlOf(at.address, at.port, secure !== undefined);
}

/** Replaces a socket file without a listener. A live socket is in use, and any other file stays. */
async function bindUnix(
  bound: BoundServer,
  path: string,
  onReplaced?: (path: string) => void,
): Promise<void> {
  // libuv reports a missing folder like one without access.
  if (folderIsMissing(path)) throw new ListenError(`cannot listen on unix:${path}: there is no such folder`);
  const kind = kindOf(path);
  if (kind === 'other')
    throw new ListenError(`cannot listen on unix:${path}: the file there is not a socket`);
  if (kind === 'socket' && (await isStale(path))) {
    unlinkSync(path);
    onReplaced?.(path);
  }
  const listen = () => {
    // The file may not have a wider mode even for a moment.
    const umask = process.umask(0o177);
    try {
      bound.server.listen({ path, backlog: BACKLOG });
    } finally {
      process.umask(umask);
    }
  };
  bound.byUnixSocket = true;
  await listening(bound.server, listen, `unix:${path}`);
  chmodSync(path, 0o600);
}

function folderIsMissing(path: string): boolean {
  try {
    return statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true;
  } catch {
    return false; // It can't be read; listening reports why.
  }
}

function kindOf(path: string): 'none' | 'socket' | 'other' {
  // Not `stat`: it would look at the target of a symbolic link, but `unlink` would remove the link.
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'none' : found.isSocket() ? 'socket' : 'other';
}

function isStale(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path)
      .on('connect', () => {
        probe.destroy();
        resolve(false);
      })
      .on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}

function listening(server: Server, listen: () => void, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException) => {
      server.off('listening', done);
      const reason = listenReason(error.code);
      reject(new ListenError(`cannot listen on ${name}: ${reason}`, { cause: error }));
    };
    const done = () => {
      server.off('error', failed);
      resolve();
    };
    server.once('error', failed).once('listening', done);
    try {
      listen();
    } catch (error) {
      server.off('error', failed);
      failed(error as NodeJS.ErrnoException);
    }
  });
}
