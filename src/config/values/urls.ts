import { isIPv6 } from 'node:net';
import { isLoopbackHost, type UpstreamAddress } from './addresses.ts';
import { andThen, type Parsed } from './kind.ts';
import { parsePath } from './paths.ts';

/** A base URL, taken apart once. `basePath` is empty or begins with `/` and does not end with one. */
export interface Upstream {
  /** `scheme://host[:port]`, as `new URL().origin` writes it. */
  readonly origin: string;
  readonly basePath: string;
}

/** Where an OAuth 2.0 token is obtained: `path` begins with `/` and holds the query, if there is one. */
export interface TokenEndpoint {
  readonly origin: string;
  readonly path: string;
}

/** The URL parser accepts characters that no host name has, such as those of a placeholder. */
function hostProblem({ hostname }: URL): string | undefined {
  const isName = /^(?:[\w.-]+|\[.*\])$/.test(hostname);
  return isName ? undefined : 'has a host name with a character that no host name holds';
}

function parseHttpUrl(text: string): Parsed<URL> {
  const url = /[\s\\\x00-\x1f]/.test(text) ? null : URL.parse(text);
  // After a third slash, the parser takes the path for the host.
  if (url === null || /^[^/]*\/\/(?:[/?#]|$)/.test(text) || url.port === '0')
    return { problem: 'is not a valid URL' };
  const problem = hostProblem(url);
  return problem === undefined ? { value: url } : { problem };
}

/**
 * `https://host[:port][/path]`, or `http://`. The path is sent byte for byte, so it is not taken from the URL parser,
 * which rewrites it.
 */
export function parseBaseUrl(text: string): Parsed<Upstream> {
  const [, authority, path, rest] = /^https?:\/\/([^/?#]*)([^?#]*)(.*)$/is.exec(text) ?? [];
  if (authority === undefined || path === undefined)
    return { problem: 'must begin with https:// (or http://)' };
  if (authority.includes('@')) return { problem: 'may not hold a user name or a password' };
  if (rest !== '') return { problem: 'may not have a query (?) or a fragment (#)' };
  return andThen(parseHttpUrl(text), ({ origin }) => {
    if (path === '' || path === '/') return { value: { origin, basePath: '' } };
    const basePath = parsePath(path);
    if ('problem' in basePath) return { problem: `the path ${basePath.problem}` };
    return { value: { origin, basePath: basePath.value } };
  });
}

export function formatBaseUrl(upstream: Upstream): string {
  return `${upstream.origin}${upstream.basePath}`;
}

/**
 * The URL of an OAuth 2.0 token endpoint: it may have a query, but no fragment (RFC 6749 §3.2). The URL parser
 * normalizes path and query, as in other OAuth clients.
 */
export function parseTokenUrl(text: string): Parsed<TokenEndpoint> {
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(text) ?? [];
  if (authority === undefined) return { problem: 'must begin with https:// (or http://)' };
  if (authority.includes('@')) {
    return { problem: 'may not hold a user name or a password; they belong in clientId and clientSecret' };
  }
  if (text.includes('#')) return { problem: 'may not have a fragment (#)' };
  return andThen(parseHttpUrl(text), ({ origin, pathname, search }) => ({
    value: { origin, path: pathname + search },
  }));
}

/** An issuer's identifier: a URL without query and fragment (RFC 8414 §2). */
export function parseIssuer(text: string): Parsed<string> {
  return andThen(parseTokenUrl(text), () =>
    text.includes('?') ? { problem: 'may not have a query (?)' } : { value: text },
  );
}

/** To show it. A query may hold a key. */
export function formatTokenUrl({ origin, path }: TokenEndpoint): string {
  return `${origin}${path.replace(/\?.+$/s, '?***')}`;
}

/** Whether credentials would cross a network in clear text. @param address where connections go, if not to the URL's host */
export function isInsecure(origin: string, address?: UpstreamAddress): boolean {
  const url = new URL(origin);
  return url.protocol === 'http:' && !isLoopbackHost(address?.host ?? url.hostname.replace(/\.$/, ''));
}

/** `scheme://host[:port]` as browsers write it: lower case, without the scheme's own port. Any scheme. */
export function parseWebOrigin(text: string): Parsed<string> {
  if (text === '*' || text === 'null')
    return { problem: 'must be one origin: * and null would let any page in' };
  const [, authority, rest] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\\s]*)(.*)$/is.exec(text) ?? [];
  if (authority === undefined) return { problem: 'must be scheme://host or scheme://host:port' };
  if (authority.includes('@')) return { problem: 'may not hold a user name or a password' };
  if (rest !== '') return { problem: 'must end after the host and port; leave out the path, even a final /' };
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return { problem: 'is not a valid origin' };
  if (url.hostname.includes('*')) return { problem: 'must name one host; * is not a wildcard here' };
  const problem = hostProblem(url);
  return problem === undefined ? { value: `${url.protocol}//${url.host}` } : { problem };
}

/** The origin of an upstream. */
export function parseOrigin(text: string): Parsed<string> {
  if (!/^https?:\/\//i.test(text)) return { problem: 'must begin with https:// (or http://)' };
  return parseWebOrigin(text);
}

/** A name that `Host` may have: `sidecar`, `*.svc.cluster.local`, `10.0.0.7`, `[fd00::7]`. Lower case, no port. */
export function parseAllowedHost(text: string): Parsed<string> {
  const host = text.toLowerCase().replace(/\.$/, '');
  const v6 = /^\[(.*)\]$/.exec(host)?.[1];
  if (v6 !== undefined && isIPv6(v6)) return { value: host };
  if (isIPv6(host)) return { problem: 'must have an IPv6 address in brackets' };
  if (/:\d*$/.test(host)) return { problem: 'must be a name without a port (every port is allowed)' };
  if (host === '*') return { problem: 'must be a name or *.suffix; * alone would undo the check' };
  const label = '[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?';
  if (!new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*$`).test(host)) {
    return { problem: 'must be a host name, or *.suffix for all names below one' };
  }
  return { value: host };
}
