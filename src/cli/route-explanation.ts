import { PROBLEM_REMEDIES } from '../base/failures/problem-remedies.ts';
import { PROBLEMS, Problem, type ProblemCode } from '../base/problem.ts';
import type { Config } from '../config/config.ts';
import { formatRate } from '../config/values/rates.ts';
import { removedHeaders } from '../forward/headers/removed-headers.ts';
import { asksForServer, ILLEGAL_IN_QUERY } from '../listen/admission.ts';
import { createGuard } from '../listen/guard.ts';
import { readPath, splitTarget } from '../routes/path.ts';
import { isUnder } from '../routes/prefixes.ts';
import { type Route, type RouteTable, upstreamTarget } from '../routes/route-table.ts';
import type { RoutesByHost } from '../routes/routes-by-host.ts';
import type { OneRequest } from './one-request.ts';

/** What becomes of one request. The names are those of `routes --json`. */
interface Explanation {
  readonly decision: 'forward' | 'refuse';
  readonly code: ProblemCode | null;
  readonly status: number | null;
  /** The route's name: its prefix, or `//HOST/PREFIX`. */
  readonly route: string | null;
  readonly credential: string | null;
  readonly upstream: string | null;
  /** Headers of the client that do not go upstream. */
  readonly removed: readonly string[];
  readonly why: string;
  /** `60/1m`: past it a request is refused with 429. There only if the route has one. */
  readonly limit?: string;
  /** What to do about a refusal, if more than the code's own words is known; for a person only. */
  readonly remedy?: string | undefined;
}

/** At which address a connection arrives is not known here. */
const NOWHERE = { byUnixSocket: false, byTls: false, forRetries: false, address: undefined };

/** `OPTIONS *`: no route is looked for, and nothing is refused. */
const ANSWERED_HERE: Explanation = {
  decision: 'refuse',
  code: null,
  status: 204,
  route: null,
  credential: null,
  upstream: null,
  removed: [],
  why: 'it asks about the server itself, which bearerd answers',
};

export function explain(tables: RoutesByHost, config: Config, { method, target }: OneRequest): Explanation {
  if (method === 'CONNECT' || method === 'TRACE')
    return refusal('method-refused', 'the method is never forwarded', undefined);
  const split = splitTarget(target);
  const forServer = asksForServer(method, target);
  if (split === undefined && !forServer)
    return refusal('bad-path', 'a target begins with / and holds no #', undefined);
  const host = createGuard(config).checkHosts(undefined, split?.authority, NOWHERE);
  if (host instanceof Problem)
    return refusal('host-refused', `${split?.authority} is not a name of this proxy`, undefined);
  if (split === undefined || forServer) return ANSWERED_HERE;
  if (ILLEGAL_IN_QUERY.test(split.query))
    return refusal('bad-path', 'a query holds no blank and no control character', undefined);
  const table = tables.at(host);
  const match = table.match(method, split.path);
  if (!match.ok) {
    const misread = match.code === 'bad-path' ? misreading(table, split.path) : undefined;
    return { ...refusal(match.code, misread ?? match.why, match.route), remedy: match.remedy };
  }
  const { route } = match;
  return {
    decision: 'forward',
    code: null,
    status: null,
    route: route.name,
    credential: route.credentialName,
    upstream: route.upstreamOrigin + upstreamTarget(route, split.path, split.query),
    removed: removedHeaders(route, config.log.requestIdHeader),
    why: `${route.name} is the longest prefix that matches ${split.path} at a segment boundary`,
    ...(route.limit && { limit: formatRate(route.limit) }),
  };
}

/** How an upstream might read a path, if that belongs to a route that the path as written doesn't reach. */
function misreading({ routes }: RouteTable, path: string): string | undefined {
  const reading = readPath(path);
  if (!reading.ok) return undefined;
  const longestFirst = [...routes].sort((a, b) => b.prefix.length - a.prefix.length);
  for (const text of reading.readings) {
    const route = longestFirst.find(({ prefix }) => isUnder(text, prefix.toLowerCase()));
    if (route === undefined || isUnder(path, route.prefix)) continue;
    const isCase = text === path.toLowerCase();
    const how = isCase ? `only in letter case is ${path} not below` : `${path} may be read as ${text}, below`;
    return `${how} ${route.prefix}: an upstream may take both for one. Write ${route.prefix} as the route does`;
  }
  return undefined;
}

function refusal(code: ProblemCode, why: string, route: Route | undefined): Explanation {
  return {
    decision: 'refuse',
    code,
    status: PROBLEMS[code].status,
    route: route?.name ?? null,
    credential: route === undefined || code === 'bad-path' ? null : route.credentialName,
    upstream: null,
    removed: [],
    why,
  };
}

function resultText({ decision, code, status }: Explanation): string {
  if (decision === 'forward') return 'forwarded';
  return code === null ? `answered by bearerd with ${status}` : `refused with ${status} ${code}`;
}

/** The same for a person. */
export function explanationText(explanation: Explanation): string {
  const { code, route, credential, upstream, removed, why, limit, remedy } = explanation;
  const lines: [string, string | null][] = [
    ['result', resultText(explanation)],
    ['route', route ?? 'none'],
    ['credential', credential ?? 'none'],
    ['upstream', upstream],
    ['removed', removed.length === 0 ? null : removed.join(', ')],
    ['limit', limit ?? null],
    ['why', why],
    ['what to do', code === null ? null : (remedy ?? PROBLEM_REMEDIES[code])],
  ];
  return lines
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${`${key}:`.padEnd(12)}${value}\n`)
    .join('');
}
