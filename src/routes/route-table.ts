import type { ProblemCode } from '../base/problem.ts';
import type { Timeouts } from '../config/declaration/settings.ts';
import type { QueryOrCookie } from '../config/sections/credentials/placement.ts';
import type { UpstreamAddress } from '../config/values/addresses.ts';
import type { RateLimit } from '../config/values/rates.ts';
import type { Credential } from '../login/credential.ts';
import { ClosedSessionPath, type SessionPlace } from './closed-session-path.ts';
import { readPath } from './path.ts';
import { Prefixes } from './prefixes.ts';
import { type TableFacts, unmatched } from './unmatched.ts';

/** Which requests a route matches, where they go, and with which credential. Everything is computed once. */
export interface Route {
  /** How log, metrics, page and problems name the route: its prefix, or `//HOST/PREFIX`. */
  readonly name: string;
  /** The host of its requests, in lower case; undefined for all hosts that have no route of their own. */
  readonly host: string | undefined;
  readonly prefix: string;
  /** The configured name: a credential's, `none`, or `deny`. */
  readonly credentialName: string;
  /** Absent for `none` and `deny`. */
  readonly credential: Credential | undefined;
  /** The credential's header, as `foldedName` gives it; `authorization` if it is in no header, or there is none. */
  readonly credentialHeader: string;
  /** Where the credential goes, if not into a header. */
  readonly queryOrCookie: QueryOrCookie | undefined;
  readonly denied: boolean;
  readonly methods: ReadonlySet<string> | undefined;
  /** The value of `Allow` (RFC 9110 §10.2.1). */
  readonly allow: string;
  readonly upstreamOrigin: string;
  /** The address to connect to, if it is not the origin's host. */
  readonly upstreamAddress: UpstreamAddress | undefined;
  readonly basePath: string;
  /** What replaces the prefix upstream: base path and rewrite, without a trailing slash. */
  readonly upstreamPrefix: string;
  /** How many characters of the client's path `replacement` replaces: 0 without a rewrite. */
  readonly replacedLength: number;
  readonly replacement: string;
  readonly timeouts: Timeouts;
  readonly clientAuthorization: 'replace' | 'keep' | 'reject';
  readonly scrub: boolean;
  readonly limit: RateLimit | undefined;
  /** Headers that name another path or method are sent: the route says so, or it has no credential. */
  readonly keepsOverrides: boolean;
  /** All routes of its table. Not stored: redirects are rare. */
  readonly neighbours: readonly Route[];
  /** All routes of its table to the same server, the longest upstream prefix first. Not stored either. */
  readonly siblings: readonly Route[];
  /** Routes of other tables to the same server, in the same order. A client of this host can't use their paths. */
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
      /** What to do about it, if that is more exact than the usual remedy of the code. Constant for each table. */
      readonly remedy?: string;
    };

export interface RouteTable {
  /** The host of its requests; undefined for all hosts without a table. */
  readonly host: string | undefined;
  readonly routes: readonly Route[];
  /** Chooses by method and raw path (without query). The `routes` command prints the result, too. */
  match(method: string, path: string): Match;
  /**
   * What the plain paths that lead to a session endpoint begin with, in lower case: by its own path, or with `route` by a
   * path that this route maps to it.
   */
  closedBeginnings(route?: Route): readonly string[];
}

/**
 * @param sessions the first path is closed for every request, and where a route maps another path to it; the others
 *   (session endpoints of single credentials) only where a route leads to them
 */
export function createRouteTable(facts: TableFacts<Route>, [session, ...others]: SessionPlaces): RouteTable {
  const { own: routes, host } = facts;
  const prefixes = new Prefixes(routes);
  const closed = new ClosedSessionPath(session);
  const sessionPaths = sessionPathsByRoute(routes, { closed, basePath: session.basePath }, others);
  const noRoute = { ok: false, code: 'no-route', route: undefined, ...unmatched(facts) } as const;

  function match(method: string, path: string): Match {
    if (method === 'TRACE' || method === 'CONNECT') {
      return refused('method-refused', undefined, 'the method is never forwarded');
    }
    const reading = readPath(path);
    if (!reading.ok) return refused('bad-path', undefined, 'the path can be read in more than one way');
    if (closed.closes(reading.readings)) {
      return refused('route-denied', undefined, 'the session endpoint is never forwarded');
    }
    const route = prefixes.find(path);
    if (!reading.readings.every((text) => prefixes.agrees(text, route))) {
      return refused('bad-path', route, 'another reading of the path leads to another route');
    }
    const denying = prefixes.deniedByEnding(reading.readings);
    if (denying !== undefined) {
      return refused('route-denied', denying, 'the route also denies its path with a format ending');
    }
    if (route === undefined) return noRoute;
    if (sessionPaths.get(route)?.some((each) => each.reaches(upstreamTarget(route, path, '')))) {
      return refused('route-denied', route, 'the session endpoint is never forwarded');
    }
    if (route.denied) return refused('route-denied', route, 'the route denies all requests');
    if (route.methods?.has(method) === false) {
      return refused('method-refused', route, 'the route does not accept this method');
    }
    return { ok: true, route };
  }

  function closedBeginnings(route?: Route): readonly string[] {
    if (route === undefined) return closed.beginnings;
    return (sessionPaths.get(route) ?? []).flatMap((each) => each.beginningsOn(route));
  }

  return { host, routes, match, closedBeginnings };
}

/** For each route, the session endpoints that it could lead to by another path, or that belong to single credentials. */
function sessionPathsByRoute(
  routes: readonly Route[],
  session: { readonly closed: ClosedSessionPath; readonly basePath: string },
  others: readonly SessionPlace[],
): ReadonlyMap<Route, readonly ClosedSessionPath[]> {
  const { closed, basePath } = session;
  const otherPaths = others.map((place) => new ClosedSessionPath(place));
  const byRoute = new Map<Route, ClosedSessionPath[]>();
  for (const route of routes) {
    const { prefix, upstreamPrefix, upstreamOrigin } = route;
    const reached = otherPaths.filter((each) => each.isAt(upstreamOrigin));
    // Only a route that changes the path can reach the session endpoint under another name.
    const isRenamed = upstreamPrefix !== basePath + withoutSlash(prefix);
    if (isRenamed && closed.isAt(upstreamOrigin)) reached.push(closed);
    if (reached.length > 0) byRoute.set(route, reached);
  }
  return byRoute;
}

function refused(code: ProblemCode, route: Route | undefined, why: string): Match {
  return { ok: false, code, route, why };
}

/** The upstream's target: base path and rewrite, then the client's own bytes. */
export function upstreamTarget(route: Route, path: string, query: string): string {
  return (route.replacement + path.slice(route.replacedLength) || '/') + query;
}

/** Empty for the root, so that a path can follow. */
export function withoutSlash(path: string): string {
  return path === '/' ? '' : path;
}
