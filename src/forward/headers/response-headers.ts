import type { RequestEvent } from '../../base/events.ts';
import {
  CONTENT_DISPOSITION,
  CONTENT_LENGTH,
  type FieldLines,
  LINK,
  LOCATION,
  SET_COOKIE,
  UPGRADE,
} from '../../base/fields.ts';
import type { Route } from '../../routes/route-table.ts';
import type { ReplyHead } from '../client/reply.ts';
import { tunnelledProtocols } from '../client/upgrade-request.ts';
import { DROPPED_FROM_RESPONSES, namedByConnection } from './hop-by-hop.ts';
import { clientLinks } from './link.ts';
import { clientLocation } from './location.ts';
import { withoutCredential } from './returned-credential.ts';

/** What the headers of the client's response depend on. */
interface ResponseContext {
  readonly route: Route;
  readonly event: Pick<RequestEvent, 'requestId' | 'requestIdHeader'>;
  /** The client's own credential was sent upstream. */
  readonly keepsClientCredential: boolean;
  /** The client is a browser: cookies of the upstream don't belong to this port of localhost. */
  readonly dropCookies: boolean;
  /** The allowed origin of a cross-origin request from a browser; else undefined. */
  readonly corsOrigin: string | undefined;
  /** Pages of other origins may call: a browser must not give them an answer that it kept for another client of ours. */
  readonly variesByOrigin: boolean;
  /** The names of the routes that the caller may use; undefined for all. */
  readonly ownRoutes: ReadonlySet<string> | undefined;
}

/** A 204 has no `Content-Length` (RFC 9110 §8.6), even if the upstream sent one. */
const NO_CONTENT = 204;
/** A 205 has no content (RFC 9110 §15.3.6); if the upstream has sent no length, we add one of 0. */
const RESET_CONTENT = 205;
/** A 426 must say which protocol it requires (RFC 9110 §15.5.22); other answers need no `Upgrade`. */
const UPGRADE_REQUIRED = 426;

/**
 * Strips, then adds; order, repeats and bytes stay as the upstream sent them.
 *
 * @param framed the upstream said where the body ends
 */
export function replyHead(
  given: FieldLines,
  status: number,
  framed: boolean,
  {
    route,
    dropCookies,
    corsOrigin,
    variesByOrigin,
    event,
    keepsClientCredential,
    ownRoutes,
  }: ResponseContext,
): ReplyHead {
  const { queryOrCookie } = route;
  const lines =
    queryOrCookie === undefined || keepsClientCredential ? given : withoutCredential(given, queryOrCookie);
  const { pairs, fields } = lines;
  const named = namedByConnection(lines);
  const headers: string[] = [];
  let hasLength = false;
  let nodeDecodes = false;
  const { requestId, requestIdHeader } = event;
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    const name = pairs[2 * i]!;
    if (DROPPED_FROM_RESPONSES[field] || (dropCookies && field === SET_COOKIE)) continue;
    if (named?.has(name.toLowerCase())) continue;
    if (requestIdHeader !== undefined && name.toLowerCase() === requestIdHeader) continue;
    if (corsOrigin !== undefined && /^access-control-/i.test(name)) continue;
    let value = pairs[2 * i + 1]!;
    if (field === CONTENT_LENGTH) {
      if (status === NO_CONTENT) continue;
      hasLength = true;
      nodeDecodes = Number(value) > 0;
    } else if (field === LOCATION) {
      value = clientLocation(value, route, ownRoutes);
    } else if (field === LINK) {
      value = clientLinks(value, route, ownRoutes);
    } else if (field === CONTENT_DISPOSITION && nodeDecodes) {
      value = encodedForNode(value);
    }
    headers.push(name, value);
  }
  if (status === RESET_CONTENT && !framed) {
    headers.push('content-length', '0');
    hasLength = true;
  }
  const protocols = status === UPGRADE_REQUIRED ? requiredProtocols(lines) : '';
  if (protocols !== '') headers.push('upgrade', protocols);
  if (requestIdHeader !== undefined) headers.push(requestIdHeader, requestId);
  headers.push('via', '1.1 bearerd');
  if (corsOrigin !== undefined) {
    headers.push('access-control-allow-origin', corsOrigin);
    headers.push('access-control-expose-headers', '*');
  }
  if (variesByOrigin) headers.push('vary', 'Origin');
  return { headers, hasLength, hasUpgrade: protocols !== '' };
}

/** The protocols that the upstream requires, as far as a client may ask for them through us; empty if there are none. */
function requiredProtocols({ pairs, fields }: FieldLines): string {
  const values = fields.flatMap((field, i) => (field === UPGRADE ? [pairs[2 * i + 1]!] : []));
  return tunnelledProtocols(values.join(', '));
}

/**
 * After a `Content-Length` other than 0, Node decodes the bytes of a `Content-Disposition` as UTF-8 and writes the result as
 * Latin-1 (`processHeader` of `_http_outgoing.js`). Encoding the value as UTF-8 beforehand undoes that.
 */
function encodedForNode(value: string): string {
  return /[\x80-\xff]/.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value;
}
