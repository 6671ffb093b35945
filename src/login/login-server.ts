import http, { type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { USER_AGENT } from '../base/version.ts';

/** A server for logins. Each request uses a new connection: a POST on a stale one could not be sent again. */
export interface LoginServer {
  readonly origin: string;
  /** For `Host`. */
  readonly host: string;
  /** The largest head of an answer. */
  readonly headerSizeBytes: number;
  /** Opens a connection, and verifies the server's TLS certificate. Gives up when `signal` aborts. */
  connect(
    callback: (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void,
    signal: AbortSignal,
  ): void;
}

/** Connects to the servers of one credential: its token endpoint, and its issuer. */
export interface TokenServers {
  /**
   * The server of an origin; uses the credential's client certificate if it has one, and reads its files until `signal`
   * aborts. Rejects with a LoginError.
   */
  at(origin: string, signal: AbortSignal): Promise<LoginServer>;
  /** The time limit of a login, and of a discovery; 10 s unless a test sets less. */
  readonly timeoutMs?: number;
}

/** A request. */
export interface Question {
  readonly method: string;
  readonly path: string;
  /** Name and value alternate. One of them replaces ours of that name. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

/** How far a login has got. */
export interface Steps {
  connected: boolean;
  answered: boolean;
}

/**
 * Sends a request on a new connection, and gives the head of the answer. Uses `node:http`, which skips each 1xx but 101
 * (RFC 9110 §15.2); undici fails at a 100. Follows no redirect. `steps` says how far it got if it fails.
 */
export function answerOf(
  server: LoginServer,
  { method, path, headers, body }: Question,
  steps: Steps,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // A request without a connection emits nothing when it is aborted. Deferred, since an error of `connect` says more.
    signal.addEventListener('abort', () => setImmediate(() => reject(signal.reason)), { once: true });
    const answered = (answer: IncomingMessage) => {
      steps.answered = true;
      resolve(answer);
    };
    http
      .request({
        method,
        path,
        headers: [...ownHeaders(server, headers), ...headers],
        setHost: false,
        maxHeaderSize: server.headerSizeBytes,
        insecureHTTPParser: false, // NODE_OPTIONS may set it for the process.
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
      .on('response', answered)
      // A 101 that names a protocol is no `response`. None was asked for, so it is an answer like any other.
      .on('upgrade', (answer, socket) => {
        socket.destroy();
        answered(answer);
      })
      .on('error', (error) => reject(withoutBytes(error)))
      // Changes nothing after the above. Without it, a request that ends in another way would never settle.
      .on('close', () => reject(Object.assign(new Error('closed without an answer'), { code: 'ECONNRESET' })))
      .end(body);
  });
}

function ownHeaders({ host }: LoginServer, given: readonly string[]): string[] {
  const names = new Set(given.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const own: Readonly<Record<string, string>> = {
    host,
    connection: 'close',
    'user-agent': USER_AGENT,
    'accept-encoding': 'identity', // Most servers then send no content coding.
  };
  return Object.entries(own)
    .filter(([name]) => !names.has(name))
    .flat();
}

/** A parser attaches the bytes that it could not read to its error, and they may hold the token. */
function withoutBytes(error: Error): Error {
  if ('rawPacket' in error) error.rawPacket = undefined;
  return error;
}
