import type { Route } from '../routes/route-table.ts';
import { addNamed, RESPONSE_DROPS } from './hop-by-hop.ts';

/** What the response's way back depends on. */
export interface ResponseContext {
  readonly route: Route;
  /** The client is a browser: the upstream's cookies are not for this port of localhost. */
  readonly dropCookies: boolean;
  /** The allowed origin that asked, if it was a cross-origin request from a browser. */
  readonly corsOrigin: string | undefined;
}

export interface ResponseHead {
  /** Flat pairs for `writeHead`, each character a byte. */
  readonly headers: string[];
  /** The upstream said how the body ends: by a length or in chunks. Else the connection's end ends it. */
  readonly framed: boolean;
}

/** 204 has no length (RFC 9110 §8.6), whatever the upstream says. */
const NO_LENGTH = 204;

/** Strip, then add: order, repeats and bytes are the upstream's. */
export function responseHead(raw: readonly Buffer[], status: number, context: ResponseContext): ResponseHead {
  let named: Set<string> | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length === 10 && latin1(raw[i]!).toLowerCase() === 'connection') {
      named = addNamed(latin1(raw[i + 1]!), named);
    }
  }
  const headers: string[] = [];
  let framed = false;
  for (let i = 0; i < raw.length; i += 2) {
    const header = latin1(raw[i]!);
    const name = header.toLowerCase();
    if (name === 'transfer-encoding' || name === 'content-length') framed = true;
    if (RESPONSE_DROPS.has(name) || named?.has(name)) continue;
    if (context.dropCookies && (name === 'set-cookie' || name === 'set-cookie2')) continue;
    if (context.corsOrigin !== undefined && name.startsWith('access-control-')) continue;
    let value = latin1(raw[i + 1]!);
    if (name === 'content-length' && status === NO_LENGTH) continue;
    if (name === 'location') value = clientLocation(value, context.route);
    headers.push(header, value);
  }
  headers.push('via', '1.1 bearerd');
  if (context.corsOrigin !== undefined) {
    headers.push('access-control-allow-origin', context.corsOrigin);
    headers.push('access-control-expose-headers', '*');
    headers.push('vary', 'Origin');
  }
  return { headers, framed };
}

function latin1(bytes: Buffer): string {
  return bytes.toString('latin1');
}

/**
 * A `Location` on the upstream's own origin, as the path that the client would ask us for; any other unchanged.
 * The client would otherwise leave for the upstream itself, without a credential.
 */
export function clientLocation(value: string, route: Route): string {
  const path = ownPath(value, route.upstreamOrigin);
  if (path === undefined) return value;
  const mapped = mapBack(path, route);
  // `//host` would name another host to the client.
  return mapped === undefined || mapped.startsWith('//') ? value : mapped;
}

/** Path, query and fragment of a reference to the upstream's origin, byte for byte; undefined for another one. */
function ownPath(value: string, origin: string): string | undefined {
  if (/^\/(?![/\\])/.test(value)) return value;
  const absolute = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#\\]*)(.*)$/is.exec(value);
  if (absolute === null || absolute[1]!.includes('@')) return undefined;
  if (URL.parse(value, origin)?.origin !== origin) return undefined;
  const rest = absolute[2]!;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function mapBack(path: string, route: Route): string | undefined {
  const end = path.search(/[?#]/);
  const bare = end === -1 ? path : path.slice(0, end);
  const tail = end === -1 ? '' : path.slice(end);
  const prefix = route.prefix === '/' ? '' : route.prefix;
  if (isUnder(bare, route.upstreamPrefix)) {
    return rooted(prefix + bare.slice(route.upstreamPrefix.length)) + tail;
  }
  // Under the base path but not under this route's rewrite: another route's, or the default's.
  return isUnder(bare, route.basePath) ? rooted(bare.slice(route.basePath.length)) + tail : undefined;
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f);
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
