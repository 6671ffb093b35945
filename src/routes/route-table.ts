import type { ProblemCode } from '../base/problem.ts';
import type { RateLimit, Timeouts } from '../config/config.ts';
import type { Elsewhere } from '../config/credential-config.ts';
import type { UpstreamAddress } from '../config/upstream-config.ts';
import type { Credential } from '../login/credential.ts';
import { readPath } from './path.ts';
import { Prefixes } from './prefixes.ts';
import { SessionClosure, type SessionPlace } from './session-closure.ts';

/** One rule: which requests it takes, where they go, and what goes with them. Everything is worked out once. */
export interface Route {
  /** What it is called wherever it is named: its prefix, or `//HOST/PREFIX`. */
  readonly name: string;
  /** The host that a request has to be for, in lower case; undefined where it is for every host that no route has. */
  readonly host: string | undefined;
  readonly prefix: string;
  /** The configured name: a credential's, `none`, or `deny`. */
  readonly credentialName: string;
  /** Absent for `none` and `deny`. */
  readonly credential: Credential | undefined;
  /** The header that it stands in, as `foldedName` gives it; `authorization` where there is none to send. */
  readonly credentialHeader: string;
  /** Where it stands if in no header. */
  readonly elsewhere: Elsewhere | undefined;
  readonly denied: boolean;
  readonly methods: ReadonlySet<string> | undefined;
  /** For `Allow` (RFC 9110 §10.2.1). */
  readonly allow: string;
  readonly upstreamOrigin: string;
  /** Where connections go, if not to the origin's own host. */
  readonly upstreamAddress: UpstreamAddress | undefined;
  readonly basePath: string;
  /** What stands upstream in the place of the prefix: base path and rewrite, without a trailing slash. */
  readonly upstreamPrefix: string;
  /** How many characters of the client's path the `replacement` replaces: none where there is no rewrite. */
  readonly replacedLength: number;
  readonly replacement: string;
  readonly timeouts: Timeouts;
  readonly clientAuthorization: 'replace' | 'keep' | 'reject';
  readonly scrub: boolean;
  readonly limit: RateLimit | undefined;
  /** Headers that name another path or method go up: the route says so, or has no credential that they could misuse. */
  readonly keepsOverrides: boolean;
  /** All routes of its table to the same server, the one that leads deepest first: for a redirect, which is rare. */
  readonly siblings: readonly Route[];
  /** Routes of the other tables to the same server, in the same order: a client of this host can't call their paths. */
  readonly strangers: readonly Route[];
}

/** The session endpoint of the base URL, and those of single credentials. */
export type SessionPlaces = readonly [SessionPlace, ...SessionPlace[]];

export type Match =
  | { readonly ok: true; readonly route: Route }
  | {
      readonly ok: false;
      readonly code: ProblemCode;
      readonly route: Route | undefined;
      readonly why: string;
    };

export interface RouteTable {
  /** The host that its requests are for; undefined for every one that has no table. */
  readonly host: string | undefined;
  readonly routes: readonly Route[];
  /** Chooses by method and raw path (no query). The `routes` command prints the same object. */
  match(method: string, path: string): Match;
  /**
   * The beginnings of plain paths, in lower case, that lead to a session endpoint: by its own name, or by another name
   * on this route.
   */
  closedBeginnings(route?: Route): readonly string[];
}

/**
 * @param routes all of one table
 * @param session whose path is closed, by this name and by any other that a route gives it.
 * @param others session endpoints of single credentials, closed wherever a route leads to them.
 */
export function createRouteTable(
  routes: readonly Route[],
  [session, ...others]: SessionPlaces,
  host?: string,
): RouteTable {
  const prefixes = new Prefixes(routes);
  const closure = new SessionClosure(session);
  const closing = closingRoutes(routes, { closure, basePath: session.basePath }, others);
  const unmatched = whyUnmatched(routes, host);

  function match(method: string, path: string): Match {
    if (method === 'TRACE' || method === 'CONNECT') {
      return refused('method-refused', undefined, 'the method is never forwarded');
    }
    const reading = readPath(path);
    if (!reading.ok) return refused('bad-path', undefined, 'the path can be read in more than one way');
    if (closure.closes(reading.readings)) {
      return refused('route-denied', undefined, 'the session endpoint is never forwarded');
    }
    const route = prefixes.find(path);
    if (!reading.readings.every((text) => prefixes.agrees(text, route))) {
      return refused('bad-path', route, 'another reading of the path takes another route');
    }
    const denying = prefixes.closing(reading.readings);
    if (denying !== undefined) {
      return refused('route-denied', denying, 'the route denies its path with a format ending, too');
    }
    if (route === undefined) return refused('no-route', route, unmatched);
    if (closing.get(route)?.some((each) => each.reaches(upstreamTarget(route, path, '')))) {
      return refused('route-denied', route, 'the session endpoint is never forwarded');
    }
    if (route.denied) return refused('route-denied', route, 'the route denies');
    if (route.methods?.has(method) === false) {
      return refused('method-refused', route, 'the route does not take this method');
    }
    return { ok: true, route };
  }

  function closedBeginnings(route?: Route): readonly string[] {
    if (route === undefined) return closure.beginnings;
    return (closing.get(route) ?? []).flatMap((each) => each.beginningsOn(route));
  }

  return { host, routes, match, closedBeginnings };
}

/** The session endpoints that a route leads to by another name, or that belong to single credentials. */
function closingRoutes(
  routes: readonly Route[],
  session: { readonly closure: SessionClosure; readonly basePath: string },
  others: readonly SessionPlace[],
): ReadonlyMap<Route, readonly SessionClosure[]> {
  const { closure, basePath } = session;
  const otherClosures = others.map((place) => new SessionClosure(place));
  const closing = new Map<Route, SessionClosure[]>();
  for (const route of routes) {
    const { prefix, upstreamPrefix, upstreamOrigin } = route;
    const reached = otherClosures.filter((each) => each.isAt(upstreamOrigin));
    // Only a route that changes the path can reach the session endpoint under another name.
    const isRenamed = upstreamPrefix !== basePath + withoutSlash(prefix);
    if (isRenamed && closure.isAt(upstreamOrigin)) reached.push(closure);
    if (reached.length > 0) closing.set(route, reached);
  }
  return closing;
}

function whyUnmatched(routes: readonly Route[], host: string | undefined): string {
  if (host !== undefined) return `no prefix of ${host} matches`;
  return routes.length > 0
    ? 'no prefix matches'
    : 'each route has a host, and this request names none of them';
}

function refused(code: ProblemCode, route: Route | undefined, why: string): Match {
  return { ok: false, code, route, why };
}

/** The target to send: base path, rewrite, and the client's own bytes. */
export function upstreamTarget(route: Route, path: string, query: string): string {
  return (route.replacement + path.slice(route.replacedLength) || '/') + query;
}

/** Empty for the root, so that a path can be appended. */
export function withoutSlash(path: string): string {
  return path === '/' ? '' : path;
}
