import { fieldOf, OTHER } from '../base/fields.ts';
import { decode, foldCase } from './misreadings.ts';
import { PLAIN, PLAIN_LOWER } from './path.ts';
import { isUnder } from './prefixes.ts';
import { type Route, type RouteTable, upstreamTarget } from './route-table.ts';
import type { RoutesByHost } from './routes-by-host.ts';

/**
 * The part of the route table that a proxy can do which only compares text: a fast lane for plain paths, whose answer is
 * always the table's own. Requests of which it can't be sure go to bearerd. The first rule that fits decides.
 */
export interface LaneRule {
  /** In lower case; a path is compared with it without regard to case. */
  readonly begins: string;
  /** True where a path may go on with anything, else only behind a `/`. */
  readonly anyEnd: boolean;
  /** The route that a path with these very letters takes; undefined where bearerd has to see it. */
  readonly route: Route | undefined;
}

/** What holds for requests of one host. */
export interface LaneTable {
  /** Undefined for every host that has no table. */
  readonly host: string | undefined;
  readonly rules: readonly LaneRule[];
}

export interface Lanes {
  /** Those of hosts; at the end the one for every other. */
  readonly tables: readonly LaneTable[];
  /** Why a route has no fast lane. */
  readonly slow: ReadonlyMap<Route, string>;
  /**
   * The target that a client asked for, by what the fast lane made of it: with its host where routes have some, since the
   * lane has put the upstream's in its place. Undefined where none could have made that.
   */
  asked(sent: SentByLane): string | undefined;
}

/** A request that failed on the fast lane, which comes back as it was sent. */
export interface SentByLane {
  readonly method: string;
  /** `laneVia` of its route. */
  readonly via: string;
  readonly host: string | undefined;
  readonly target: string;
}

/**
 * What the fast lane adds as `Via`. It ends loops, as a request that has one is for bearerd; and it says on the way back
 * which route it was: two may send the same to one server, with another credential each.
 */
export function laneVia({ name }: Pick<Route, 'name'>): string {
  return `1.1 bearerd (${name})`;
}

/** Belongs to no table: no route has an address for its host. */
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
      const { path, query } = split(target);
      const asked = route && hostOf(route) === host ? askedPath(route, path) : undefined;
      if (route === undefined || asked === undefined) return undefined;
      // Asked of the table once more: it may be another one by now than the one that the lane was made from.
      const match = routes.at(route.host).match(method, asked);
      if (!match.ok || match.route !== route || upstreamTarget(route, asked, '') !== path) return undefined;
      return (ofHosts.length === 0 ? '' : `http://${route.host ?? ANY_OTHER_HOST}`) + asked + query;
    },
  };
}

/** The `Host` that an upstream is told. */
export function hostOf({ upstreamOrigin }: Pick<Route, 'upstreamOrigin'>): string {
  return new URL(upstreamOrigin).host;
}

function whySlow(route: Route): string | undefined {
  const { prefix, credential, elsewhere, clientAuthorization, scrub, limit, upstreamPrefix, timeouts } =
    route;
  if (route.denied) return 'it denies';
  if (credential === undefined) return 'it sends no credential';
  if (elsewhere !== undefined) return `its credential stands in the ${elsewhere.in}`;
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

/** The plain characters that mean nothing in any proxy's configuration. */
const SIMPLE = /^[a-z0-9/_.~-]+$/;
const SIMPLE_ANY_CASE = /^[A-Za-z0-9/_.~-]+$/;

/** The path that a client asks for, from the path that is sent upstream. */
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
      // The lane takes no path with a `;`.
      if (route.denied) rules.push({ begins: `${begins}.`, anyEnd: true, route: undefined });
    }
    const closed = fast.has(route) ? table.closedBeginnings(route) : [];
    for (const begins of closed) rules.push({ begins, anyEnd: true, route: undefined });
  }
  rules.sort((a, b) => b.begins.length - a.begins.length || Number(b.anyEnd) - Number(a.anyEnd));
  const closed = table.closedBeginnings().map((begins) => ({ begins, anyEnd: true, route: undefined }));
  return [...closed, ...rules].filter(({ begins }) => PLAIN.test(begins.replace(/\.$/, '')));
}

function split(target: string): { readonly path: string; readonly query: string } {
  const mark = target.indexOf('?');
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark) };
}
