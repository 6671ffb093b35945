import { type IncomingMessage, METHODS } from 'node:http';
import type { RequestEvent } from '../base/events.ts';
import type { FieldLines } from '../base/fields.ts';
import { ownCopy } from '../base/own-copy.ts';
import { Problem } from '../base/problem.ts';
import type { RequestHead } from '../forward/client/request-head.ts';
import { clientCredentials } from '../forward/headers/request-headers.ts';
import { splitTarget } from '../routes/path.ts';
import { type Match, type Route, upstreamTarget } from '../routes/route-table.ts';
import type { RoutesByHost } from '../routes/routes-by-host.ts';
import type { Identification } from './callers.ts';
import { arrivalOf } from './client-connection.ts';
import type { Guard } from './guard.ts';
import { headOf } from './joined-request.ts';
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
      readonly dropCookies: boolean;
      readonly keepsClientCredential: boolean;
    }
  | { readonly kind: 'preflight'; readonly head: RequestHead; readonly corsOrigin: string }
  | { readonly kind: 'options'; readonly corsOrigin: string | undefined }
  | { readonly kind: 'refuse'; readonly problem: Problem; readonly corsOrigin: string | undefined };

const KEY_REQUIRED = new Problem('caller-key-required');
const ROUTE_DENIED = new Problem('route-denied');
/** Illegal in a query: a fragment (RFC 9112 §3.2), blanks and control characters. All other bytes pass as they are. */
const ILLEGAL_IN_QUERY = /[\x00-\x20\x7f#]/;

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
  if (method === 'TRACE') return refuse(new Problem('method-refused'));
  if (!METHOD_NAMES.has(method)) return refuse(new Problem('bad-request'));
  const head = headOf(request);
  const malformed = headProblem({ method, target, httpVersion }, head, rules.headerSizeBytes);
  if (malformed !== undefined) return refuse(malformed);
  const split = splitTarget(target);
  if (split !== undefined) event.path = ownPath(split.path, target);
  const arrival = arrivalOf(request.socket);
  const host = rules.guard.checkHosts(head.host, split?.authority, arrival);
  if (host instanceof Problem) return refuse(host);
  const origin = rules.guard.checkOrigin(head, split?.authority, arrival);
  if (origin instanceof Problem) return refuse(origin);
  if (origin !== undefined && method === 'OPTIONS' && head.preflightMethod !== undefined) {
    return { kind: 'preflight', head, corsOrigin: origin };
  }
  let known: Identification | undefined;
  if (rules.guard.callers !== undefined) {
    known = rules.guard.callers.identify(head, split?.query ?? '');
    if (known === undefined) return refuse(KEY_REQUIRED, origin);
    event.caller = known.caller.name;
  }
  if (head.expectation === 'unknown' && httpVersion !== '1.0') {
    return refuse(new Problem('expectation-failed'), origin);
  }
  if (head.via !== '' && head.via.toLowerCase().includes(rules.loopMark))
    return refuse(new Problem('loop-detected'), origin);
  if (asksForServer(method, target)) return { kind: 'options', corsOrigin: origin };
  if (split === undefined || ILLEGAL_IN_QUERY.test(split.query))
    return refuse(new Problem('bad-path'), origin);

  const match = rules.routes.at(host).match(method, split.path);
  if (match.route !== undefined) noteRoute(event, match.route);
  const callerProblem = known === undefined ? undefined : checkCaller(known, match, event);
  if (callerProblem !== undefined) return refuse(callerProblem, origin);
  if (!match.ok) {
    event.why = match.why;
    return refuse(new Problem(match.code, { allow: match.route?.allow, remedy: match.remedy }), origin);
  }
  const { route } = match;
  const own = known?.head ?? head;
  const query = known?.query ?? split.query;
  const keeps = keepsClientCredential(own.lines, split.path + query, route);
  if (keeps instanceof Problem) return refuse(keeps, origin);
  return {
    kind: 'forward',
    head: own,
    route,
    target: upstreamTarget(route, split.path, query),
    corsOrigin: origin,
    dropCookies: head.fromBrowser && !rules.browserCookies,
    keepsClientCredential: keeps,
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

/** Checks whether the key counts on this route and its caller may use it, before any answer that tells of the route. */
function checkCaller(known: Identification, match: Match, event: RequestEvent): Problem | undefined {
  if (!match.ok && match.code === 'bad-path') return undefined; // Which route the path leads to is uncertain.
  const { route } = match;
  const caller = route === undefined ? known.caller : known.callerOn(route);
  if (caller === undefined) return KEY_REQUIRED;
  event.caller = caller.name;
  const { routes } = caller;
  return routes === undefined || (route !== undefined && routes.has(route.name)) ? undefined : ROUTE_DENIED;
}

/** True if the client's own credential is sent in place of the route's. A Problem if the client may not send one. */
function keepsClientCredential(lines: FieldLines, target: string, route: Route): boolean | Problem {
  if (route.clientAuthorization === 'replace') return false;
  const { any, usable, repeated } = clientCredentials(
    lines,
    route.credentialHeader,
    route.elsewhere && { place: route.elsewhere, target },
  );
  if (any && route.clientAuthorization === 'reject') return new Problem('client-authorization');
  // The upstream might read either of two.
  return repeated ? new Problem('bad-request') : usable;
}

function refuse(problem: Problem, corsOrigin?: string): Admission {
  return { kind: 'refuse', problem, corsOrigin };
}
