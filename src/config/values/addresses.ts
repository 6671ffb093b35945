import { isIP, isIPv6 } from 'node:net';

import type { Parsed } from './kind.ts';

export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** Replaces a URL's own host for connections, and its port if there is one here. */
export interface UpstreamAddress {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port?: number;
}

/** Linux keeps 108 bytes for the path of a unix socket, with its final NUL; a longer one is cut or refused. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Whether a host means this machine: `localhost`, `*.localhost` (RFC 6761 §6.3), 127.0.0.0/8, ::1. A resolver may lead such a
 * name elsewhere all the same: `boundHosts` asks none, and `onlyLoopback` (upstream/dial.ts) drops the other addresses.
 */
export function isLoopbackHost(host: string): boolean {
  const bare = bareHost(host);
  return isLoopbackName(bare) || (isIP(bare) !== 0 && isLoopbackAddress(bare));
}

/** `localhost`, or a name below it, in any letter case. */
export function isLoopbackName(host: string): boolean {
  return /^(?:.*\.)?localhost\.?$/i.test(host);
}

/** 127.0.0.0/8, also in the IPv4-mapped form of an IPv6 socket, and ::1. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(?:::ffff:)?127\./i.test(address);
}

function parseSocketPath(path: string): Parsed<ListenAddress> {
  if (!path.startsWith('/')) return { problem: 'must name an absolute path: unix:/path/to/socket' };
  if (/[\x00-\x1f\x7f]/.test(path)) return { problem: 'may not hold control characters' };
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    return { problem: `must be a path of at most ${MAX_SOCKET_PATH_BYTES} bytes` };
  }
  return { value: { kind: 'unix', path } };
}

/** `HOST:PORT`, `[v6]:PORT` or `unix:/path`. Port 0 is a free port; `localhost` stays a name. */
export function parseAddress(text: string): Parsed<ListenAddress> {
  if (text.startsWith('unix:')) return parseSocketPath(text.slice('unix:'.length));
  const [, v6, name, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  if (digits === undefined) return { problem: notAnAddress(text) };
  const port = Number(digits);
  if (port > 65_535) return { problem: 'must have a port between 0 and 65535' };
  if (v6 !== undefined) {
    return isIPv6(v6)
      ? { value: { kind: 'tcp', host: v6, port } }
      : { problem: 'has no IPv6 address in the brackets' };
  }
  if (name === undefined || !/^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(name)) {
    return {
      problem: 'must have a host name or an address before the port (0.0.0.0 for every IPv4 interface)',
    };
  }
  return { value: { kind: 'tcp', host: name, port } };
}

function notAnAddress(text: string): string {
  // A URL: its host and port were meant (http://localhost:9180/).
  const bare = text.replace(/^[a-z][a-z\d+.-]*:\/\//i, '').replace(/[/?#].*$/s, '');
  if (bare !== text) {
    const meant = 'value' in parseAddress(bare) ? `write ${bare}` : 'HOST:PORT';
    return `must be an address and no URL: ${meant}`;
  }
  if (/^\d{1,5}$/.test(text)) return `must be HOST:PORT: write localhost:${text}`;
  if (/^[\w.-]+$/.test(text)) return 'must be HOST:PORT: the port is missing';
  if (isIPv6(text) || /^[\da-f:.]*:[\da-f:.]*:[\da-f:.]*$/i.test(text))
    return 'must be [IPv6]:PORT, with the brackets';
  return 'must be HOST:PORT, [IPv6]:PORT or unix:/path';
}

/** The inverse of `parseAddress`. */
export function formatAddress(address: ListenAddress): string {
  if (address.kind === 'unix') return `unix:${address.path}`;
  return isIPv6(address.host) ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

/** A URL's hostname for the system: an IPv6 address without its brackets. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

const NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?$/;

/** `HOST`, `HOST:PORT`, `[v6]` or `[v6]:PORT`. */
export function parseUpstreamAddress(text: string): Parsed<UpstreamAddress> {
  if (text.includes('/'))
    return { problem: 'must be HOST or HOST:PORT alone, without https:// and without a path' };
  const [, v6, name, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = v6 ?? name;
  if (host === undefined || (v6 !== undefined ? !isIPv6(v6) : !NAME.test(host))) {
    return {
      problem: isIPv6(text)
        ? 'must have an IPv6 address in brackets'
        : 'must be HOST, HOST:PORT or [IPv6]:PORT',
    };
  }
  if (digits === undefined) return { value: { host } };
  const port = Number(digits);
  if (port < 1 || port > 65_535) return { problem: 'must have a port between 1 and 65535' };
  return { value: { host, port } };
}

/** The inverse of `parseUpstreamAddress`. */
export function formatUpstreamAddress({ host, port }: UpstreamAddress): string {
  return (isIPv6(host) ? `[${host}]` : host) + (port === undefined ? '' : `:${port}`);
}

/** Whether other machines could reach it. A name that isn't known to be loopback counts as reachable. */
export function isRemotelyReachable(address: ListenAddress): boolean {
  return address.kind === 'tcp' && !isLoopbackHost(address.host);
}

/** Where a listener binds: at both loopback addresses, as far as they exist, for a name that means this machine. */
export function boundHosts(host: string): readonly string[] {
  return isLoopbackName(host) ? ['127.0.0.1', '::1'] : [host.toLowerCase()];
}

/** `::` includes IPv4 (dual stack), `0.0.0.0` every IPv4 address. */
function covers(wide: string, other: string): boolean {
  return wide === other || wide === '::' || (wide === '0.0.0.0' && !isIPv6(other));
}

/** Whether the second of two listeners would find the address in use. Port 0 never clashes. */
export function clash(a: ListenAddress, b: ListenAddress): boolean {
  if (a.kind === 'unix' || b.kind === 'unix') {
    return a.kind === 'unix' && b.kind === 'unix' && a.path === b.path;
  }
  if (a.port !== b.port || a.port === 0) return false;
  return boundHosts(a.host).some((one) =>
    boundHosts(b.host).some((other) => covers(one, other) || covers(other, one)),
  );
}
