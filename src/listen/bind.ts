import { chmodSync, lstatSync, statSync, unlinkSync } from 'node:fs';
import { type AddressInfo, connect, type Server } from 'node:net';
import { dirname } from 'node:path';
import { ListenError } from '../base/errors.ts';
import { listenReason } from '../base/failures/listen-words.ts';
import type { ListenAddress } from '../config/config.ts';
import { formatAddress } from '../config/values/addresses.ts';

/** A free port of one address family may be taken in the other: so often another one is tried. */
const FREE_PORT_TRIES = 10;

/**
 * So many connections may wait until we take them, if the system lets them. With Node's 511, a moment in which we are
 * held up turns clients away: by a Unix socket at once, by TCP after a second or more.
 */
const BACKLOG = 4_096;

/** Where to listen: at an address, or with a socket that listens already. */
export type Place = ListenAddress | { readonly kind: 'passed'; readonly fd: number };

/** A server, and what is known of those who come to it. */
export interface Door {
  readonly server: Server;
  byUnixSocket: boolean;
  /** It is none of the configured addresses. */
  readonly beside: boolean;
}

/**
 * Binds one address; gives its URL.
 *
 * @param plain a new server at each call: `localhost` may need two.
 * @param secure the same for TCP, where TLS is spoken there. A Unix socket has no network in between.
 * @throws ListenError naming the address.
 */
export async function bind(
  address: Place,
  plain: () => Door,
  secure?: (() => Door) | undefined,
): Promise<string> {
  if (address.kind === 'unix') {
    await bindUnix(plain(), address.path);
    return `unix:${address.path}`;
  }
  if (address.kind === 'passed') return bindPassed(address.fd, plain, secure);
  const { host, port } = address;
  const server = secure ?? plain;
  const bound =
    host === 'localhost' ? await bindLocalhost(server, port) : await bindTcp(server().server, host, port);
  return urlOf(host, bound, secure !== undefined);
}

function urlOf(host: string, port: number, isSecure: boolean): string {
  return `${isSecure ? 'https' : 'http'}://${formatAddress({ kind: 'tcp', host, port })}`;
}

/** 127.0.0.1 and ::1, where they exist, at one port. */
async function bindLocalhost(server: () => Door, port: number): Promise<number> {
  const { server: v4 } = server();
  const { server: v6 } = server();
  for (let tries = 1; ; tries++) {
    const bound = await bindIfPresent(v4, '127.0.0.1', port);
    try {
      const second = await bindIfPresent(v6, '::1', bound ?? port);
      if (bound === undefined && second === undefined) return await bindTcp(v4, '127.0.0.1', port);
      return (bound ?? second)!;
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
    if (isAbsent((error as ListenError).cause)) return undefined;
    throw error;
  }
}

/** The machine has no such address: one of the two address families is off. */
function isAbsent(cause: unknown): boolean {
  const { code } = cause as { code?: string };
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

/** Whatever it is: its owner has opened it, and closes it. */
async function bindPassed(fd: number, plain: () => Door, secure?: (() => Door) | undefined): Promise<string> {
  const door = (secure ?? plain)();
  const { server } = door;
  await listening(
    server,
    () => server.listen({ fd, backlog: BACKLOG }),
    `the socket that was passed as ${fd}`,
  );
  const at = server.address();
  if (typeof at === 'string' || at === null) {
    if (secure !== undefined) throw new ListenError('cannot speak TLS on a Unix socket that was passed');
    door.byUnixSocket = true;
    return `unix:${at}`;
  }
  return urlOf(at.address, at.port, secure !== undefined);
}

/** A socket file without a listener is replaced; a live one is in use, and any other file is left alone. */
async function bindUnix(door: Door, path: string): Promise<void> {
  // libuv tells of a missing folder as of one that is closed to us.
  if (folderIsMissing(path)) throw new ListenError(`cannot listen on unix:${path}: there is no such folder`);
  const kind = kindOf(path);
  if (kind === 'other') throw new ListenError(`cannot listen on unix:${path}: what is there is no socket`);
  if (kind === 'socket' && (await isStale(path))) unlinkSync(path);
  const listen = () => {
    // The file must not be there for a moment with a wider mode.
    const umask = process.umask(0o177);
    try {
      door.server.listen({ path, backlog: BACKLOG });
    } finally {
      process.umask(umask);
    }
  };
  door.byUnixSocket = true;
  await listening(door.server, listen, `unix:${path}`);
  chmodSync(path, 0o600);
}

function folderIsMissing(path: string): boolean {
  try {
    return statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory() !== true;
  } catch {
    return false; // Whether it is there can't be seen: the attempt says why.
  }
}

function kindOf(path: string): 'none' | 'socket' | 'other' {
  // Not `stat`: behind a symbolic link stands something else than what would be removed.
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
