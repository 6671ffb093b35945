import { fieldOf, OTHER } from '../base/fields.ts';
import { decode, foldCase } from './misreadings.ts';
import { PLAIN, PLAIN_LOWER, splitQuery } from './path.ts';
import { isUnder } from './prefixes.ts';
import { type Route, type RouteTable, upstreamTarget } from './route-table.ts';
import type { RoutesByHost } from './routes-by-host.ts';

/**
 * A part of the route table for a proxy that can only compare text: a fast lane for plain paths. Its decision is always
 * the table's; every other request goes to bearerd. The first rule that matches decides.
 */
export interface LaneRule {
  /** In lower case. A path is compared with it in any letter case. */
  readonly begins: string;
  /** True if anything may follow in a path; else only `/` or the end. */
  readonly anyEnd: boolean;
  /** The route of a path in exactly these letters; undefined if the request goes to bearerd. */
  readonly route: Route | undefined;
}

/** The rules for requests of one host. */
export interface LaneTable {
  /** Undefined for all hosts without a table. */
  readonly host: string | undefined;
  readonly rules: readonly LaneRule[];
}

export interface Lanes {
  /** The tables of hosts; the table for all other hosts comes last. */
  readonly tables: readonly LaneTable[];
  /** Why a route has no fast lane. */
  readonly slow: ReadonlyMap<Route, string>;
  /**
   * The target that the client asked for, found from the request that the fast lane sent. If routes have hosts it is in
   * absolute form, because the lane has replaced `Host`. Undefined if no lane can have sent this request.
   */
  asked(sent: SentByLane): string | undefined;
}

/** A request that failed on the fast lane and now comes to bearerd, as the lane had sent it upstream. */
interface SentByLane {
  readonly method: string;
  /** `laneVia` of its route. */
  readonly via: string;
  readonly host: string | undefined;
  readonly target: string;
}

/**
 * The `Via` that the fast lane adds. It prevents loops, because a request with it goes to bearerd. It also tells which
 * route a failed request took: two routes may send the same request to one server, each with another credential.
 */
export function laneVia({ name }: Pick<Route, 'name'>): string {
  return `1.1 bearerd (${name})`;
}

/** A host that is in no table, because a route's host is a name. */
const ANY_OTHER_HOST = '127.0.0.1';

export function createLanes(routes: RoutesByHost): Lanes {
  const slow = new Map<Route, string>();
  const fast = new Map<string, Route>();
  for (const route of routes.routes) {
    const why = whySlow(route);
    if (why === undefined) fast.set(laneVia(route), route);
    else slow.set(route, why);
  }
  const [others, ...ofHosts] = routes.tables;
  const quick = new Set(fast.values());
  return {
    tables: [...ofHosts, others].map((table) => ({ host: table.host, rules: rulesOf(table, quick) })),
    slow,
    asked: ({ method, via, host, target }) => {
      const route = fast.get(via);
      const { path, query } = splitQuery(target);
      const asked = route && hostOf(route) === host ? askedPath(route, path) : undefined;
      if (route === undefined || asked === undefined) return undefined;
      // Checked with the present table: the lane may have been made from an older one.
      const match = routes.at(route.host).match(method, asked);
      if (!match.ok || match.route !== route || upstreamTarget(route, asked, '') !== path) return undefined;
      return (ofHosts.length === 0 ? '' : `http://${route.host ?? ANY_OTHER_HOST}`) + asked + query;
    },
  };
}

/** The `Host` that the upstream gets. */
export function hostOf({ upstreamOrigin }: Pick<Route, 'upstreamOrigin'>): string {
  return new URL(upstreamOrigin).host;
}

function whySlow(route: Route): string | undefined {
  const { prefix, credential, queryOrCookie, clientAuthorization, scrub, limit, upstreamPrefix, timeouts } =
    route;
  if (route.denied) return 'it denies all requests';
  if (credential === undefined) return 'it sends no credential';
  if (queryOrCookie !== undefined) return `its credential stands in the ${queryOrCookie.in}`;
  const field = fieldOf(route.credentialHeader);
  if (field !== OTHER && route.credentialHeader !== 'authorization')
    return `its credential stands in ${credential.header}, which means something else, too`;
  if (clientAuthorization !== 'replace') return `clientAuthorization is ${clientAuthorization}`;
  if (limit !== undefined) return 'its limit is counted by bearerd';
  if (scrub) return 'scrub looks into its answers';
  if (!SIMPLE.test(prefix) || !PLAIN_LOWER.test(prefix)) return 'its prefix can be read in more than one way';
  if (upstreamPrefix !== '' && (!SIMPLE_ANY_CASE.test(upstreamPrefix) || !PLAIN.test(upstreamPrefix)))
    return 'the path that it sends can be read in more than one way';
  if (timeouts.responseMs !== timeouts.idleMs)
    return 'timeouts.response and timeouts.idle differ, and HAProxy has one limit for both';
  return undefined;
}

/** Plain characters without a meaning in any proxy's configuration. */
const SIMPLE = /^[a-z0-9/_.~-]+$/;
const SIMPLE_ANY_CASE = /^[A-Za-z0-9/_.~-]+$/;

/** The path that the client asked for, from the path that was sent upstream. */
function askedPath({ prefix, upstreamPrefix }: Route, path: string): string | undefined {
  const asked = prefix === '/' ? '' : prefix;
  if (path === '/' && upstreamPrefix === '') return asked || '/';
  return isUnder(path, upstreamPrefix) ? asked + path.slice(upstreamPrefix.length) || undefined : undefined;
}

function rulesOf(table: RouteTable, fast: ReadonlySet<Route>): readonly LaneRule[] {
  const rules: LaneRule[] = [];
  for (const route of table.routes) {
    for (const begins of new Set([foldCase(route.prefix), foldCase(decode(route.prefix))])) {
      const exact = fast.has(route) && begins === route.prefix;
      rules.push({ begins, anyEnd: false, route: exact ? route : undefined });
      // `;` needs no rule: a path with it is not plain.
      if (route.denied) rules.push({ begins: `${begins}.`, anyEnd: true, route: undefined });
    }
    const closed = fast.has(route) ? table.closedBeginnings(route) : [];
    for (const begins of closed) rules.push({ begins, anyEnd: true, route: undefined });
  }
  rules.sort((a, b) => b.begins.length - a.begins.length || Number(b.anyEnd) - Number(a.anyEnd));
  const closed = table.closedBeginnings().map((begins) => ({ begins, anyEnd: true, route: undefined }));
  return [...closed, ...rules].filter(({ begins }) => PLAIN.test(begins.replace(/\.$/, '')));
}
