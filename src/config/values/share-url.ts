import { Secret } from '../../base/secret.ts';
import type { Parsed } from './kind.ts';

/** A Redis or Valkey. */
export interface ShareServer {
  readonly address:
    | { readonly host: string; readonly port: number; readonly tls: boolean }
    | { readonly path: string };
  readonly username?: Secret;
  readonly password?: Secret;
  readonly database: number;
}

const SHAPE = 'must be redis://[USER:PASSWORD@]HOST[:PORT][/DB], rediss:// the same, or unix:/PATH[?db=N]';

/** Takes a secret, since the URL may hold a password; no problem quotes it. */
export function parseShareUrl(secret: Secret): Parsed<ShareServer> {
  const text = secret.expose().trim();
  // No valid URL holds ${…}: a password with it is %-encoded.
  if (/\$\{[^{}]*\}/.test(text))
    return { problem: `holds \${…}, which nothing replaces here; write the password, %-encoded` };
  const url = /[\s\\\x00-\x1f]/.test(text) ? null : URL.parse(text);
  if (url === null || url.hash !== '') return { problem: SHAPE };
  try {
    if (url.protocol === 'unix:') return unixServer(url);
    if (url.protocol === 'redis:' || url.protocol === 'rediss:') return tcpServer(url);
  } catch {
    return { problem: 'holds a % that begins no escape; write it as %25' };
  }
  return { problem: SHAPE };
}

function tcpServer(url: URL): Parsed<ShareServer> {
  const [, database] = /^\/?(\d{0,5})$/.exec(url.pathname) ?? [];
  if (database === undefined || url.hostname === '' || url.port === '0' || url.search !== '')
    return { problem: SHAPE };
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const address = { host, port: Number(url.port || 6379), tls: url.protocol === 'rediss:' };
  const login = loginOf(decodeURIComponent(url.username), decodeURIComponent(url.password));
  return { value: { address, ...login, database: Number(database) } };
}

function unixServer(url: URL): Parsed<ShareServer> {
  const query = url.searchParams;
  const database = query.get('db') ?? '0';
  const known = [...query.keys()].every((key) => ['db', 'username', 'password'].includes(key));
  if (url.host !== '' || !/^\/./.test(url.pathname) || !known || !/^\d{1,5}$/.test(database)) {
    return { problem: SHAPE };
  }
  const path = decodeURIComponent(url.pathname);
  // The query is decoded already: a password may hold a %.
  const login = loginOf(query.get('username') ?? '', query.get('password') ?? '');
  return { value: { address: { path }, ...login, database: Number(database) } };
}

function loginOf(username: string, password: string) {
  return {
    ...(username !== '' && { username: new Secret(username) }),
    ...(password !== '' && { password: new Secret(password) }),
  };
}
