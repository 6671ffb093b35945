import http, { type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type AccessToken, isUsable } from '../credentials/access-token.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { headersUpstream } from './request-headers.ts';

/**
 * Protocols that carry further HTTP requests inside: those would go past the routes. Such an upgrade is ignored,
 * which RFC 9110 §7.8 always allows, and the request is answered as an ordinary one.
 */
const NOT_TUNNELLED = /^(?:h2c?|http\/|tls\/)/i;

/** A protocol's name and version, both tokens (RFC 9110 §7.8). */
const PROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?$/;

/** True for an upgrade that is passed on: a request without a body that asks for a protocol we may tunnel. */
export function isTunnelled(request: IncomingMessage): boolean {
  const { upgrade } = request.headers;
  if (upgrade === undefined || request.httpVersion !== '1.1' || announcesBody(request)) return false;
  // Empty elements of a list are none (RFC 9110 §5.6.1).
  const protocols = upgrade
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');
  return (
    protocols.length > 0 &&
    protocols.every((protocol) => PROTOCOL.test(protocol) && !NOT_TUNNELLED.test(protocol))
  );
}

/** A body follows the head, or what claims to be one. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** For these Node, too, takes it that there is no body where no length is said. */
const WITHOUT_LENGTH = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

const hasLength = ({ headers }: IncomingMessage) => headers['content-length'] !== undefined;

/** How a handshake with the upstream may end; exactly one of them is called. */
export interface HandshakeOutcome {
  switched(response: IncomingMessage, upstream: Socket, early: Buffer): void;
  refused(response: IncomingMessage): void;
  /** Also after `refused`: the body of the answer has broken off. */
  failed(error: Error): void;
  /** It took long to connect, and the token is over; nothing has been sent. */
  tokenExpired(): void;
}

/**
 * Asks the upstream to switch protocols. `node:http` asks, on a connection of our connector: undici itself
 * destroys the connection when an upgrade is refused, and the refusal with it.
 */
export function shakeHands(
  forwardable: Forwardable,
  token: AccessToken | undefined,
  { via, clock }: ForwardContext,
  outcome: HandshakeOutcome,
): http.ClientRequest {
  const { request, pool, target, head } = forwardable;
  const headers = headersUpstream(forwardable, token, via);
  headers.push('host', pool.host, 'connection', 'Upgrade', 'upgrade', head.upgrade!);
  // There is no body: Node would announce one in chunks where the method usually has one.
  if (!WITHOUT_LENGTH.has(request.method!) && !hasLength(request)) headers.push('content-length', '0');
  const asked = http.request({
    method: request.method!,
    path: target,
    headers,
    setHost: false,
    maxHeaderSize: pool.headerSizeBytes,
    createConnection: (_options, done) => {
      pool.connect((error, socket) => {
        if (error === null && token !== undefined && !isUsable(token, clock)) {
          socket.destroy();
          outcome.tokenExpired();
        } else {
          done(error, socket as Socket);
        }
      });
      return undefined;
    },
  });
  asked
    .on('upgrade', (response, socket, early) => outcome.switched(response, socket as Socket, early))
    .on('response', (response) => outcome.refused(response))
    .on('error', (error) => outcome.failed(error));
  asked.end();
  return asked;
}

/** Our own 101, each character a byte. */
export function switchingHead(protocol: string, headers: readonly string[]): string {
  let text = `HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${protocol}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
