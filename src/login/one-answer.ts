import http, { type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { USER_AGENT } from '../base/version.ts';

/** A server that logins are sent to. Each login gets a new connection: a POST on a stale one can't be sent again. */
export interface LoginServer {
  readonly origin: string;
  /** For `Host`. */
  readonly host: string;
  /** How long an answer's head may be. */
  readonly headerSizeBytes: number;
  /** Opens a connection, and verifies the server's TLS certificate; no longer tries once `signal` has aborted. */
  connect(
    callback: (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void,
    signal: AbortSignal,
  ): void;
}

/** A request; headers are name and value in turn. */
export interface Question {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

/** Records how far a login gets. */
export interface Steps {
  connected: boolean;
  answered: boolean;
}

/**
 * One question and the head of its answer, on a connection of its own. By `node:http`, which passes over each 1xx,
 * asked for or not (RFC 9110 §15.2); to undici a 100 is the end.
 */
export function answerOf(
  server: LoginServer,
  { method, path, headers, body }: Question,
  steps: Steps,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // A request that has no connection yet doesn't tell that it was ended; the code that opens it may say how far it got.
    signal.addEventListener('abort', () => setImmediate(() => reject(signal.reason)), { once: true });
    http
      .request({
        method,
        path,
        headers: [
          ...['host', server.host, 'connection', 'close', 'user-agent', USER_AGENT],
          // Asked for or not, a coding may come: this keeps it away from most servers.
          ...['accept-encoding', 'identity', ...headers],
        ],
        setHost: false,
        maxHeaderSize: server.headerSizeBytes,
        insecureHTTPParser: false, // Whatever NODE_OPTIONS says.
        signal,
        createConnection: (_options, done) => {
          server.connect((error, socket) => {
            if (error === null) steps.connected = true;
            else reject(error);
            done(error, socket as Socket);
          }, signal);
          return undefined;
        },
      })
      .on('response', resolve)
      .on('error', (error) => reject(withoutBytes(error)))
      .end(body);
  });
}

/** A parser attaches what it could not read to its error, and that may be the token. */
function withoutBytes(error: Error): Error {
  if ('rawPacket' in error) error.rawPacket = undefined;
  return error;
}
