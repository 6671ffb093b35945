import type { IncomingMessage } from 'node:http';
import { elements } from './request-head.ts';

/**
 * Protocols that carry further HTTP requests inside: those would go past the routes. Such an upgrade is ignored,
 * which RFC 9110 §7.8 always allows, and the request is answered as an ordinary one.
 */
const NOT_TUNNELLED = /^(?:h[23]|tls(?:\/|$))|^[^/]*http/i;

/** A protocol's name and version, both tokens (RFC 9110 §7.8). */
const PROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?$/;

/** True for an upgrade that is passed on: a request that asks for protocols that we may tunnel. */
export function isTunnelled(request: IncomingMessage): boolean {
  const { upgrade } = request.headers;
  if (upgrade === undefined || request.httpVersion !== '1.1') return false;
  const protocols = elements(upgrade);
  return (
    protocols.length > 0 &&
    protocols.every((protocol) => PROTOCOL.test(protocol) && !NOT_TUNNELLED.test(protocol))
  );
}
