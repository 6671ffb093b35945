import type { RequestEvent } from '../../base/events.ts';
import {
  CONTENT_DISPOSITION,
  CONTENT_LENGTH,
  type FieldLines,
  LINK,
  LOCATION,
  SET_COOKIE,
} from '../../base/fields.ts';
import type { Route } from '../../routes/route-table.ts';
import type { ReplyHead } from '../client/reply.ts';
import { DROPPED_FROM_RESPONSES, namedByConnection } from './hop-by-hop.ts';
import { clientLinks } from './link.ts';
import { clientLocation } from './location.ts';
import { withoutOurs } from './returned-credential.ts';

/** What the response's way back depends on. */
export interface ResponseContext {
  readonly route: Route;
  readonly event: Pick<RequestEvent, 'requestId' | 'requestIdHeader'>;
  /** The credential that went up is the client's own. */
  readonly keepsClientCredential: boolean;
  /** The client is a browser: the upstream's cookies are not for this port of localhost. */
  readonly dropCookies: boolean;
  /** The allowed origin that asked, if it was a cross-origin request from a browser. */
  readonly corsOrigin: string | undefined;
}

/** 204 has no length (RFC 9110 §8.6), whatever the upstream says. */
const NO_CONTENT = 204;
/** 205 has no content (RFC 9110 §15.3.6), but needs a length to say so; the upstream may have forgotten it. */
const RESET_CONTENT = 205;

/**
 * Strip, then add: order, repeats and bytes are the upstream's.
 *
 * @param framed the upstream said how the body ends
 */
export function replyHead(
  given: FieldLines,
  status: number,
  framed: boolean,
  { route, dropCookies, corsOrigin, event, keepsClientCredential }: ResponseContext,
): ReplyHead {
  const { elsewhere } = route;
  const lines = elsewhere === undefined || keepsClientCredential ? given : withoutOurs(given, elsewhere);
  const { pairs, fields } = lines;
  const named = namedByConnection(lines);
  const headers: string[] = [];
  let hasLength = false;
  let recoded = false;
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
      recoded = value !== '0' && Number(value) > 0;
    } else if (field === LOCATION) {
      value = clientLocation(value, route);
    } else if (field === LINK) {
      value = clientLinks(value, route);
    } else if (field === CONTENT_DISPOSITION && recoded) {
      value = twice(value);
    }
    headers.push(name, value);
  }
  if (status === RESET_CONTENT && !framed) {
    headers.push('content-length', '0');
    hasLength = true;
  }
  if (requestIdHeader !== undefined) headers.push(requestIdHeader, requestId);
  headers.push('via', '1.1 bearerd');
  if (corsOrigin !== undefined) {
    headers.push('access-control-allow-origin', corsOrigin);
    headers.push('access-control-expose-headers', '*');
    headers.push('vary', 'Origin');
  }
  return { headers, hasLength };
}

/**
 * Node turns a `Content-Disposition` that follows a `Content-Length` other than 0 into bytes, and these by mistake into text as
 * UTF-8 (`processHeader` of `_http_outgoing.js`): undone beforehand. Plain ASCII stays what it is.
 */
function twice(value: string): string {
  return /[\x80-\xff]/.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value;
}
