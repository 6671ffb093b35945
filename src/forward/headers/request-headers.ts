import {
  AUTHORIZATION,
  COOKIE,
  type FieldLines,
  fieldOf,
  foldedName,
  isSameHeader,
  OTHER,
} from '../../base/fields.ts';
import type { Secret } from '../../base/secret.ts';
import type { QueryOrCookie } from '../../config/sections/credentials/placement.ts';
import type { AccessToken } from '../../login/access-token.ts';
import type { Credential } from '../../login/credential.ts';
import type { Forwardable } from '../forwardable.ts';
import { DROPPED_FROM_REQUESTS, DROPPED_WITH_OVERRIDES, namedByConnection } from './hop-by-hop.ts';
import { cookieValues, parameterValues, withoutCookie, withParameter } from './query-and-cookie.ts';

/** What is added to a request, and what is removed for it. */
interface Injection {
  /** The name and value of the credential's header; undefined if it is in no header, or there is none. */
  readonly credential: { readonly header: string; readonly value: string } | undefined;
  /** The cookie that holds the credential: the client's cookies of that name are removed, and `line` is sent if it is set. */
  readonly cookie: { readonly name: string; readonly line: string | undefined } | undefined;
  /** The client's own credential passes (`clientAuthorization: keep`). */
  readonly keepClientCredential: boolean;
  /** The header of this route's credential, as `foldedName` gives it. */
  readonly credentialHeader: string;
  readonly dropCookies: boolean;
  /** Headers that name another path or method pass. */
  readonly keepOverrides: boolean;
  /** The request's ID and its header, in lower case; undefined if IDs are not sent. */
  readonly id: { readonly header: string; readonly value: string } | undefined;
  /** The answer will be searched for credentials, and must come whole and without a content coding. */
  readonly scrub: boolean;
  /** `1.1 bearerd (id)`. */
  readonly via: string;
}

/**
 * Removed with scrub: a token in two ranges, coded, or in UTF-16 can't be found. Some servers read `Request-Range` as
 * `Range`; `A-IM` asks for codings and ranges, too (RFC 3229).
 */
export const NOT_WITH_SCRUB = new Set([
  'accept-encoding',
  'accept-charset',
  'a-im',
  'range',
  'if-range',
  'request-range',
]);

const USUALLY_WITH_BODY = new Set(['POST', 'PUT', 'PATCH', 'QUERY', 'PROPFIND', 'PROPPATCH']);

/** The headers of a request to the upstream. @param token the present token; undefined unless the route sends one */
export function headersUpstream(
  { head, route, keepsClientCredential, dropCookies, event }: Forwardable,
  token: AccessToken | undefined,
  via: string,
): string[] {
  const credential = keepsClientCredential ? undefined : route.credential;
  const value = valueToSend(credential, token);
  const { queryOrCookie } = route;
  const headers = requestHeaders(head.lines, {
    credential:
      credential === undefined || value === undefined || queryOrCookie !== undefined
        ? undefined
        : { header: credential.header, value: value.expose() },
    cookie:
      queryOrCookie?.in !== 'cookie' || credential === undefined
        ? undefined
        : { name: queryOrCookie.name, line: value && `${queryOrCookie.name}=${value.expose()}` },
    keepClientCredential: keepsClientCredential,
    credentialHeader: route.credentialHeader,
    dropCookies,
    keepOverrides: route.keepsOverrides,
    id:
      event.requestIdHeader === undefined
        ? undefined
        : { header: event.requestIdHeader, value: event.requestId },
    scrub: route.scrub,
    via,
  });
  if (head.contentLengthText !== undefined) headers.push('content-length', head.contentLengthText);
  // RFC 9110 §8.6: a method that usually has a body says that there is none.
  else if (!head.hasBody && USUALLY_WITH_BODY.has(event.method)) headers.push('content-length', '0');
  return headers;
}

/** A credential's own value, or else the present token's. */
function valueToSend(credential: Credential | undefined, token: AccessToken | undefined): Secret | undefined {
  return credential?.kind === 'fixed' ? credential.headerValue : token?.headerValue;
}

/** The target of a request to the upstream, with the credential if it belongs in the query. */
export function targetUpstream(
  { target, route, keepsClientCredential }: Forwardable,
  token: AccessToken | undefined,
): string {
  const { queryOrCookie, credential } = route;
  if (queryOrCookie?.in !== 'query' || credential === undefined || keepsClientCredential) return target;
  const value = valueToSend(credential, token);
  return value === undefined ? target : withParameter(target, queryOrCookie.name, value.expose());
}

/**
 * Strips, then injects. Names and values in turn, in the client's order and bytes (each character is a byte). Headers that
 * the client's `Connection` names are removed before ours are added, so that it can't remove the credential.
 */
export function requestHeaders(lines: FieldLines, injection: Injection): string[] {
  const { pairs, fields } = lines;
  const named = namedByConnection(lines);
  const { credentialHeader, keepClientCredential, dropCookies, credential, cookie, id, scrub } = injection;
  const dropped = injection.keepOverrides ? DROPPED_FROM_REQUESTS : DROPPED_WITH_OVERRIDES;
  const idHeader = id && foldedName(id.header);
  const result: string[] = [];
  for (let i = 0; i < fields.length; i++) {
    const name = pairs[2 * i]!;
    const field = fields[i]!;
    if (isCredential(field, name, credentialHeader)) {
      if (!keepClientCredential) continue;
    } else if (dropped[field] || (dropCookies && field === COOKIE)) {
      continue;
    }
    if (named?.has(name.toLowerCase()) || (idHeader !== undefined && isSameHeader(name, idHeader))) continue;
    if (scrub && field === OTHER && NOT_WITH_SCRUB.has(foldedName(name))) continue;
    if (cookie !== undefined && field === COOKIE) {
      const kept = withoutCookie(pairs[2 * i + 1]!, cookie.name);
      if (kept !== '') result.push(name, kept);
    } else result.push(name, pairs[2 * i + 1]!);
  }
  if (cookie?.line !== undefined) addCookie(result, cookie.line);
  if (scrub) result.push('accept-encoding', 'identity');
  if (credential !== undefined) result.push(credential.header, credential.value);
  if (id !== undefined) result.push(id.header, id.value);
  result.push('via', injection.via);
  return result;
}

/** Appends to the client's `Cookie`: HTTP/1.1 allows only one such line (RFC 6265 §5.4). */
function addCookie(headers: string[], line: string): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (fieldOf(headers[i]!) !== COOKIE) continue;
    headers[i + 1] = `${headers[i + 1]!.replace(/[ \t;]+$/, '')}; ${line}`;
    return;
  }
  headers.push('cookie', line);
}

/**
 * The client's own credentials: `Authorization`, and whatever this route's credential would be sent in. One that is empty,
 * or that `Connection` names, is not usable upstream.
 */
export function clientCredentials(
  lines: FieldLines,
  credentialHeader: string,
  queryOrCookie?: { readonly place: QueryOrCookie; readonly target: string },
): { readonly any: boolean; readonly usable: boolean; readonly repeated: boolean } {
  const { pairs, fields } = lines;
  const named = namedByConnection(lines);
  const { place, target } = queryOrCookie ?? {};
  let usable = false;
  let authorizations = 0;
  let others = 0;
  if (place?.in === 'query') {
    const values = parameterValues(target!, place.name);
    if (values.length > 0) others++;
    usable = values.some(isFilled);
  }
  for (let i = 0; i < fields.length; i++) {
    const name = pairs[2 * i]!;
    const field = fields[i]!;
    const isCookie = field === COOKIE && place?.in === 'cookie';
    const values = isCookie ? cookieValues(pairs[2 * i + 1]!, place.name) : [pairs[2 * i + 1]!];
    if (field === AUTHORIZATION) authorizations++;
    else if (isCookie ? values.length > 0 : isCredential(field, name, credentialHeader)) others++;
    else continue;
    if (values.some(isFilled) && named?.has(name.toLowerCase()) !== true) usable = true;
  }
  return { any: authorizations + others > 0, usable, repeated: authorizations > 1 || others > 1 };
}

function isFilled(value: string): boolean {
  return value.trim() !== '';
}

/**
 * True for `Authorization` and for the header of the route's credential. CGI and WSGI read `X_Api_Key` as `X-Api-Key`, so
 * both spellings count.
 */
function isCredential(field: number, name: string, credentialHeader: string): boolean {
  return field === AUTHORIZATION || isSameHeader(name, credentialHeader);
}
