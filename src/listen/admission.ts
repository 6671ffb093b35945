import { type IncomingMessage, METHODS } from 'node:http';
import { ownCopy } from '../base/bytes.ts';
import type { RequestEvent } from '../base/events.ts';
import type { FieldLines } from '../base/fields.ts';
import { Problem } from '../base/problem.ts';
import type { RequestHead } from '../forward/client/request-head.ts';
import { clientCredentials } from '../forward/headers/request-headers.ts';
import { splitTarget } from '../routes/path.ts';
import { type Match, type Route, upstreamTarget } from '../routes/route-table.ts';
import type { RoutesByHost } from '../routes/routes-by-host.ts';
import type { Arrival } from './arrival.ts';
import { type Caller, type Identification, mayUse, type OwnRoutes } from './callers.ts';
import { arrivalOf } from './client-connection.ts';
import type { Guard } from './guard.ts';
import { headOf } from './joined-request.ts';
import { forwardedOnce, isLastForward } from './max-forwards.ts';
import { headProblem } from './well-formed.ts';

/** The rules of one configuration that requests are judged by; immutable. */
export interface AdmissionRules {
  readonly guard: Guard;
  readonly routes: RoutesByHost;
  readonly browserCookies: boolean;
  /** The ID in our own `Via`, in lower case: a request that holds it has come back to this process. */
  readonly loopMark: string;
  readonly headerSizeBytes: number;
}

/** The methods that Node has names for; its parser knows more (those of RTSP). */
export const METHOD_NAMES: ReadonlySet<string> = new Set(METHODS);

export type Admission =
  | {
      readonly kind: 'forward';
      readonly head: RequestHead;
      readonly route: Route;
      readonly target: string;
      readonly corsOrigin: string | undefined;
      readonly variesByOrigin: boolean;
      readonly dropCookies: boolean;
      readonly keepsClientCredential: boolean;
      readonly ownRoutes: ReadonlySet<string> | undefined;
    }
  | { readonly kind: 'preflight'; readonly head: RequestHead; readonly corsOrigin: string }
  | { readonly kind: 'options'; readonly corsOrigin: string | undefined }
  | { readonly kind: 'refuse'; readonly problem: Problem; readonly corsOrigin: string | undefined };

const KEY_REQUIRED = new Problem('caller-key-required');
const ROUTE_DENIED = new Problem('route-denied');
const BAD_PATH = new Problem('bad-path');
/** Illegal in a query: a fragment (RFC 9112 §3.2), blanks and control characters. All other bytes pass as they are. */
export const ILLEGAL_IN_QUERY = /[\x00-\x20\x7f#]/;

export type Admit = typeof admit;

/**
 * Guard and match: may this request be forwarded, and by which route? Fills in the event; otherwise pure, but for the
 * address of the socket. Upgrades are judged like any other request.
 */
export function admit(
  request: IncomingMessage,
  target: string,
  rules: AdmissionRules,
  event: RequestEvent,
): Admission {
  const { httpVersion } = request;
  const method = request.method!;
  const split = splitTarget(target);
  if (split !== undefined) event.path = ownPath(split.path, target);
  if (method === 'TRACE') return refuse(new Problem('method-refused'));
  if (!METHOD_NAMES.has(method)) return refuse(new Problem('bad-request'));
  const head = headOf(request);
  const malformed = headProblem({ method, target, httpVersion }, head, rules.headerSizeBytes);
  if (malformed !== undefined) return refuse(malformed);
  const arrival = arrivalOf(request.socket);
  const { guard } = rules;
  const host = guard.checkHosts(head.host, split?.authority, arrival);
  if (host instanceof Problem && !(guard.hidesHosts && host.code === 'host-refused')) return refuse(host);
  const origin = guard.checkOrigin(head, split?.authority, arrival);
  if (origin instanceof Problem) return refuse(origin);
  if (origin !== undefined && method === 'OPTIONS' && head.preflightMethod !== undefined) {
    return { kind: 'preflight', head, corsOrigin: origin };
  }
  let known: Identification | undefined;
  if (guard.callers !== undefined) {
    known = guard.callers.identify(head, split?.query ?? '');
    const hidden = checkKnown(known, guard, [head.host, split?.authority], arrival, event);
    if (hidden !== undefined) return refuse(hidden, origin);
  }
  if (host instanceof Problem) return refuse(host);
  if (head.expectation === 'unknown' && httpVersion !== '1.0') {
    return refuse(new Problem('expectation-failed'), origin);
  }
  if (head.via !== '' && head.via.toLowerCase().includes(rules.loopMark))
    return refuse(new Problem('loop-detected'), origin);
  if (method === 'OPTIONS' && (asksForServer(method, target) || isLastForward(head)))
    return { kind: 'options', corsOrigin: origin };
  if (split === undefined || ILLEGAL_IN_QUERY.test(split.query)) return refuse(BAD_PATH, origin);

  const match = rules.routes.at(host).match(method, split.path);
  if (match.route !== undefined) noteRoute(event, match.route);
  const caller =
    known &&
    checkCaller(
      known,
      match,
      ({ names }) => rules.routes.only(names).at(host).match(method, split.path),
      event,
    );
  if (caller instanceof Problem) return refuse(caller, origin);
  if (!match.ok) {
    event.why = match.why;
    return refuse(new Problem(match.code, { allow: match.route?.allow, remedy: match.remedy }), origin);
  }
  const { route } = match;
  const own = known?.head ?? head;
  const query = known?.query ?? split.query;
  const dropCookies = head.fromBrowser && !rules.browserCookies;
  const keeps = keepsClientCredential(own.lines, split.path + query, route, dropCookies);
  if (keeps instanceof Problem) return refuse(keeps, origin);
  return {
    kind: 'forward',
    head: method === 'OPTIONS' ? forwardedOnce(own) : own,
    route,
    target: upstreamTarget(route, split.path, query),
    corsOrigin: origin,
    variesByOrigin: guard.allowsOrigins,
    dropCookies,
    keepsClientCredential: keeps,
    ownRoutes: caller?.own?.names,
  };
}

function noteRoute(event: RequestEvent, { name, credentialName }: Route): void {
  event.route = name;
  event.credential = credentialName;
}

/** If a target is longer than its path by more than this, the path is copied, so that it doesn't keep the target alive. */
const LONG_REST = 256;

function ownPath(path: string, target: string): string {
  return target.length - path.length > LONG_REST ? ownCopy(path) : path;
}

/** `OPTIONS *` asks about the server, and so does an absolute target without a path (RFC 9112 §3.2.4). */
export function asksForServer(method: string, target: string): boolean {
  return method === 'OPTIONS' && (target === '*' || WITHOUT_PATH.test(target));
}

const WITHOUT_PATH = /^https?:\/\/[^/?#]*$/i;

/** Checks whether there is a key, and whether its caller may know the hosts of the request. */
function checkKnown(
  known: Identification | undefined,
  guard: Guard,
  hosts: readonly (string | undefined)[],
  arrival: Arrival,
  event: RequestEvent,
): Problem | undefined {
  if (known !== undefined) event.caller = known.name;
  if (known?.caller === undefined) return KEY_REQUIRED;
  return guard.hidesHosts && !guard.mayKnowHosts(known.caller, hosts, arrival) ? ROUTE_DENIED : undefined;
}

/**
 * Checks whether the key counts on this route and its caller may use it, before any answer that tells of the route. What a
 * caller gets outside its own routes depends on these alone. @param among matches as if there were only its own routes
 */
function checkCaller(
  known: Identification,
  match: Match,
  among: (own: OwnRoutes) => Match,
  event: RequestEvent,
): Problem | Caller {
  const { route } = match;
  const here = known.callerOn(route);
  const caller = here ?? known.caller!;
  event.caller = caller.name;
  if (here !== undefined && mayUse(here, route) && !isAmbiguous(match)) return here;
  if (caller.own === undefined) return isAmbiguous(match) ? caller : KEY_REQUIRED;
  const view = among(caller.own);
  if (isAmbiguous(view) || (isAmbiguous(match) && view.route !== undefined)) return BAD_PATH;
  return here === undefined ? KEY_REQUIRED : ROUTE_DENIED;
}

/** Which route the path leads to is uncertain. */
function isAmbiguous(match: Match): boolean {
  return !match.ok && match.code === 'bad-path';
}

/**
 * True if the client's own credential is sent in place of the route's. A Problem if the client may not send one. Cookies that
 * are dropped don't count: the upstream would get no credential at all.
 */
function keepsClientCredential(
  lines: FieldLines,
  target: string,
  route: Route,
  dropCookies: boolean,
): boolean | Problem {
  if (route.clientAuthorization === 'replace') return false;
  const { credentialHeader, queryOrCookie } = route;
  const place = dropCookies && queryOrCookie?.in === 'cookie' ? undefined : queryOrCookie;
  const { any, usable, repeated } = clientCredentials(lines, credentialHeader, place && { place, target });
  if (any && route.clientAuthorization === 'reject') return new Problem('client-authorization');
  // The upstream might read either of two.
  return repeated ? new Problem('bad-request') : usable;
}

export function refuse(problem: Problem, corsOrigin?: string): Admission {
  return { kind: 'refuse', problem, corsOrigin };
}
