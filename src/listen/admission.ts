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

/** What a request is measured by; one immutable set for each configuration. */
export interface AdmissionRules {
  readonly guard: Guard;
  readonly routes: RoutesByHost;
  readonly browserCookies: boolean;
  /** What our own `Via` holds, in lower case: a request that has it has been here before. */
  readonly loopMark: string;
  readonly headerSizeBytes: number;
}

/** What Node has a name for; its parser knows some more (RTSP's). */
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
/** Nothing of a fragment leaves (RFC 9112 §3.2), and no control character; all other bytes pass as they are. */
const ILLEGAL_IN_QUERY = /[\x00-\x20\x7f#]/;

export type Admit = typeof admit;

/**
 * Guard and match: may this request be forwarded, and by which route? Pure but for the socket's own address;
 * fills in what the access log wants to know. Upgrades go through it like any other request.
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

/** A path with more than so much behind it gets memory of its own. */
const LONG_REST = 256;

function ownPath(path: string, target: string): string {
  return target.length - path.length > LONG_REST ? ownCopy(path) : path;
}

/** `OPTIONS *` is about the server and no resource; an absolute target without a path says the same (RFC 9112 §3.2.4). */
export function asksForServer(method: string, target: string): boolean {
  return method === 'OPTIONS' && (target === '*' || WITHOUT_PATH.test(target));
}

const WITHOUT_PATH = /^https?:\/\/[^/?#]*$/i;

/** Is the key good where it stands, and may its holder use this route? Before all else that would tell of the route. */
function checkCaller(known: Identification, match: Match, event: RequestEvent): Problem | undefined {
  if (!match.ok && match.code === 'bad-path') return undefined; // It leads to no route for certain.
  const { route } = match;
  const caller = route === undefined ? known.caller : known.callerOn(route);
  if (caller === undefined) return KEY_REQUIRED;
  event.caller = caller.name;
  const { routes } = caller;
  return routes === undefined || (route !== undefined && routes.has(route.name)) ? undefined : ROUTE_DENIED;
}

/** Has the client a credential of its own that goes in the place of ours? A Problem where it may not send one. */
function keepsClientCredential(lines: FieldLines, target: string, route: Route): boolean | Problem {
  if (route.clientAuthorization === 'replace') return false;
  const { any, usable, repeated } = clientCredentials(
    lines,
    route.credentialHeader,
    route.elsewhere && { place: route.elsewhere, target },
  );
  if (any && route.clientAuthorization === 'reject') return new Problem('client-authorization');
  // Of two, the upstream might read either.
  return repeated ? new Problem('bad-request') : usable;
}

function refuse(problem: Problem, corsOrigin?: string): Admission {
  return { kind: 'refuse', problem, corsOrigin };
}
