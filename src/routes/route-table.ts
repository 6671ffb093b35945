import type { RouteConfig, Timeouts } from '../config/config.ts';
import type { Credential } from '../credentials/credential.ts';
import type { ProblemCode } from '../errors.ts';
import { readPath } from './path.ts';

/** One rule: which requests it takes, where they go, and what goes with them. Everything is worked out once. */
export interface Route {
  readonly prefix: string;
  /** The configured name: a credential's, `none`, or `deny`. */
  readonly credentialName: string;
  /** Absent for `none` and `deny`. */
  readonly credential: Credential | undefined;
  /** The header that it stands in, in lower case; `authorization` where there is none to send. */
  readonly credentialHeader: string;
  readonly denied: boolean;
  readonly methods: ReadonlySet<string> | undefined;
  /** For `Allow` (RFC 9110 §10.2.1). */
  readonly allow: string;
  readonly upstreamOrigin: string;
  readonly basePath: string;
  /** What stands upstream in the place of the prefix: base path and rewrite, without a trailing slash. */
  readonly upstreamPrefix: string;
  /** How many characters of the client's path `upstreamPrefix` replaces. */
  readonly replacedLength: number;
  readonly timeouts: Timeouts;
  readonly clientAuthorization: 'replace' | 'keep' | 'reject';
}

export type Match =
  | { readonly ok: true; readonly route: Route }
  | { readonly ok: false; readonly code: ProblemCode; readonly route: Route | undefined; readonly why: string };

export interface RouteTable {
  readonly routes: readonly Route[];
  /** Chooses by method and raw path (no query). The `routes` command prints the same object. */
  match(method: string, path: string): Match;
}

/**
 * @param credentials by name; `none` and `deny` need no entry.
 * @param sessionPath the path of the session endpoint as a client would ask for it, without the base path.
 */
export function createRouteTable(
  configs: readonly RouteConfig[],
  credentials: ReadonlyMap<string, Credential>,
  session: { readonly origin: string; readonly basePath: string; readonly path: string },
): RouteTable {
  const routes = configs.map((config) => createRoute(config, credentials));
  const longestFirst = [...routes].sort((a, b) => b.prefix.length - a.prefix.length);
  const sessionPath = session.path.toLowerCase();
  const sessionUpstreamPath = (session.basePath + session.path).toLowerCase();
  // Only a route that changes the path, or goes elsewhere, can reach the session endpoint under another name.
  const disguised = new Set(
    routes.filter((route) => route.upstreamPrefix !== session.basePath + withoutSlash(route.prefix)),
  );
  const folded = routes.flatMap(foldedPrefixes).sort((a, b) => b.prefix.length - a.prefix.length);

  function match(method: string, path: string): Match {
    const reading = readPath(path);
    if (!reading.ok) {
      return { ok: false, code: 'bad-path', route: undefined, why: 'the path can be read in more than one way' };
    }
    for (const text of reading.readings) {
      if (text.startsWith(sessionPath)) {
        return { ok: false, code: 'route-denied', route: undefined, why: 'the session endpoint is never forwarded' };
      }
    }
    const route = longestFirst.find(({ prefix }) => isUnder(path, prefix));
    for (const text of reading.readings) {
      if (!agrees(text, route)) {
        return { ok: false, code: 'bad-path', route, why: 'another reading of the path takes another route' };
      }
    }
    if (route === undefined) return { ok: false, code: 'no-route', route, why: 'no prefix matches' };
    if (disguised.has(route) && reading.readings.some((text) => reachesSession(text, route))) {
      return { ok: false, code: 'route-denied', route, why: 'the session endpoint is never forwarded' };
    }
    if (route.denied) return { ok: false, code: 'route-denied', route, why: 'the route denies' };
    if (method === 'TRACE' || method === 'CONNECT' || route.methods?.has(method) === false) {
      return { ok: false, code: 'method-refused', route, why: 'the method is not allowed' };
    }
    return { ok: true, route };
  }

  /** True if this folded reading takes the route that the path itself takes. */
  function agrees(text: string, route: Route | undefined): boolean {
    const best = folded.find(({ prefix }) => isUnder(text, prefix));
    if (best === undefined) return route === undefined;
    // Two prefixes that differ by letter case alone are both right for the path that they share.
    return best.route === route || folded.some((f) => f.prefix === best.prefix && f.route === route);
  }

  function reachesSession(text: string, route: Route): boolean {
    if (route.upstreamOrigin !== session.origin) return false;
    const taken = folded.find((f) => f.route === route && isUnder(text, f.prefix));
    const upstreamPath = route.upstreamPrefix.toLowerCase() + text.slice(withoutSlash(taken?.prefix ?? '').length);
    return upstreamPath.replace(/\/{2,}/g, '/').startsWith(sessionUpstreamPath);
  }

  return { routes, match };
}

function createRoute(config: RouteConfig, credentials: ReadonlyMap<string, Credential>): Route {
  const { prefix, credential: credentialName, upstream, rewrite } = config;
  const denied = credentialName === 'deny';
  const credential = denied || credentialName === 'none' ? undefined : credentials.get(credentialName);
  if (!denied && credentialName !== 'none') {
    // The configuration has been checked; a credential that would leave for a foreign origin stops here all the same.
    if (credential === undefined) throw new Error(`route ${prefix}: no credential "${credentialName}"`);
    if (!credential.origins.has(upstream.origin)) {
      throw new Error(`route ${prefix}: credential "${credentialName}" may not go to ${upstream.origin}`);
    }
  }
  return {
    prefix,
    credentialName,
    credential,
    credentialHeader: credential?.header.toLowerCase() ?? 'authorization',
    denied,
    methods: config.methods === undefined ? undefined : new Set(config.methods),
    allow: config.methods?.join(', ') ?? '',
    upstreamOrigin: upstream.origin,
    basePath: upstream.basePath,
    upstreamPrefix: upstream.basePath + withoutSlash(rewrite ?? prefix),
    replacedLength: withoutSlash(prefix).length,
    timeouts: config.timeouts,
    clientAuthorization: config.clientAuthorization,
  };
}

/** A prefix as its readings: one that holds an escape (`/caf%C3%A9`) has to be found under its decoded form too. */
function foldedPrefixes(route: Route): { prefix: string; route: Route }[] {
  const reading = readPath(route.prefix);
  if (!reading.ok) throw new Error(`route ${route.prefix}: the prefix can be read in more than one way`);
  return reading.readings.map((prefix) => ({ prefix: prefix === '' ? '/' : prefix, route }));
}

/** The target to send: base path, rewrite, and the client's own bytes. */
export function upstreamTarget(route: Route, path: string, query: string): string {
  const target = route.upstreamPrefix + path.slice(route.replacedLength) + query;
  return target.charCodeAt(0) === 0x2f ? target : `/${target}`;
}

/** True where `prefix` ends at a segment boundary of `path`: `/api` takes `/api`, `/api/x`, `/api?x`, not `/apiary`. */
function isUnder(path: string, prefix: string): boolean {
  if (prefix === '/') return true;
  if (!path.startsWith(prefix)) return false;
  const next = path.charCodeAt(prefix.length);
  return Number.isNaN(next) || next === 0x2f || next === 0x3f || next === 0x23;
}

function withoutSlash(path: string): string {
  return path === '/' ? '' : path;
}
