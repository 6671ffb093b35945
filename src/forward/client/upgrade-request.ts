import type { IncomingMessage } from 'node:http';
import { elements } from './request-head.ts';

/**
 * Protocols that carry further HTTP requests, which would bypass the routes. An upgrade to one is ignored, as RFC 9110 §7.8
 * always allows, and the request is answered as an ordinary one.
 */
export const NOT_TUNNELLED = /^(?:h[23]|tls(?:\/|$))|^[^/]*http/i;

/** The name and version of a protocol, both tokens (RFC 9110 §7.8). */
const PROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?$/;

/** True if the request asks only for protocols that may be tunnelled. */
export function isTunnelled(request: IncomingMessage): boolean {
  const { upgrade } = request.headers;
  if (upgrade === undefined || request.httpVersion !== '1.1') return false;
  const protocols = elements(upgrade);
  return protocols.length > 0 && protocols.every(mayBeTunnelled);
}

/** The protocols of an `Upgrade` that may be tunnelled, as a list. */
export function tunnelledProtocols(upgrade: string): string {
  return elements(upgrade).filter(mayBeTunnelled).join(', ');
}

function mayBeTunnelled(protocol: string): boolean {
  return PROTOCOL.test(protocol) && !NOT_TUNNELLED.test(protocol);
}
