import type { RequestEvent } from '../events.ts';
import type { Route } from '../routes/route-table.ts';
import { addNamed, RESPONSE_DROPS } from './hop-by-hop.ts';
import { clientLocation } from './location.ts';

/** What the response's way back depends on. */
export interface ResponseContext {
  readonly route: Route;
  readonly event: Pick<RequestEvent, 'requestId' | 'requestIdHeader'>;
  /** The client is a browser: the upstream's cookies are not for this port of localhost. */
  readonly dropCookies: boolean;
  /** The allowed origin that asked, if it was a cross-origin request from a browser. */
  readonly corsOrigin: string | undefined;
}

export interface ResponseHead {
  /** Flat pairs for `writeHead`, each character a byte. */
  readonly headers: string[];
  /** A `Content-Length` passes. */
  readonly hasLength: boolean;
  /** The upstream said how the body ends: by a length or in chunks. Else the connection's end ends it. */
  readonly framed: boolean;
}

/** 204 has no length (RFC 9110 §8.6), whatever the upstream says. */
const NO_CONTENT = 204;
/** 205 has no content (RFC 9110 §15.3.6), but needs a length to say so; the upstream may have forgotten it. */
export const RESET_CONTENT = 205;

/**
 * Strip, then add: order, repeats and bytes are the upstream's.
 *
 * @param raw names and values in turn, each character a byte
 * @returns undefined where the body is coded for this hop in a way that nobody asked for (`Transfer-Encoding: gzip`):
 *   it could be neither decoded nor passed on.
 */
export function responseHead(
  raw: readonly string[],
  status: number,
  context: ResponseContext,
): ResponseHead | undefined {
  const headers: string[] = [];
  let named: Set<string> | undefined;
  let hasLength = false;
  let framed = false;
  let recoded = false;
  const { requestId, requestIdHeader } = context.event;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length === 10 && raw[i]!.toLowerCase() === 'connection') named = addNamed(raw[i + 1]!, named);
  }
  for (let i = 0; i < raw.length; i += 2) {
    const header = raw[i]!;
    const name = header.toLowerCase();
    if (name === 'transfer-encoding') {
      if (!/^(?:chunked|identity)$/i.test(raw[i + 1]!.trim())) return undefined;
      framed = true;
    }
    if (RESPONSE_DROPS.has(name) || named?.has(name)) continue;
    if (name === requestIdHeader) continue;
    if (context.dropCookies && (name === 'set-cookie' || name === 'set-cookie2')) continue;
    if (context.corsOrigin !== undefined && name.startsWith('access-control-')) continue;
    let value = raw[i + 1]!;
    if (name === 'content-length') {
      framed = true;
      if (status === NO_CONTENT) continue;
      hasLength = true;
      recoded = Number(value) > 0;
    } else if (name === 'location') {
      value = clientLocation(value, context.route);
    } else if (name === 'content-disposition' && recoded) {
      value = twice(value);
    }
    headers.push(header, value);
  }
  if (status === RESET_CONTENT && !framed) {
    headers.push('content-length', '0');
    hasLength = true;
  }
  if (requestIdHeader !== undefined) headers.push(requestIdHeader, requestId);
  headers.push('via', '1.1 bearerd');
  if (context.corsOrigin !== undefined) {
    headers.push('access-control-allow-origin', context.corsOrigin);
    headers.push('access-control-expose-headers', '*');
    headers.push('vary', 'Origin');
  }
  return { headers, hasLength, framed };
}

/**
 * Node turns a `Content-Disposition` that follows a `Content-Length` other than 0 into bytes, and these by mistake into text as
 * UTF-8 (`processHeader` of `_http_outgoing.js`): undone beforehand. Plain ASCII stays what it is.
 */
function twice(value: string): string {
  return /[\x80-\xff]/.test(value) ? Buffer.from(value, 'utf8').toString('latin1') : value;
}
