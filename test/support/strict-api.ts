import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it arrived, judged by nothing but this file: no code of the product is used here. */
export interface Arrival {
  readonly method: string;
  readonly url: string;
  /** All `authorization` lines, in order. */
  readonly authorization: readonly string[];
  readonly body: string;
  readonly atMs: number;
}

export interface StrictApi {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** Every token that was given out, with the time of its death. */
  readonly tokens: ReadonlyMap<string, number>;
  readonly logins: number;
  /** How the next logins go. */
  session: { lifetimeMs: number; delayMs: number; status: number; down: boolean };
  close(): Promise<void>;
}

const SESSION_PATH = '/api/identity/v1/session';
export const CLIENT_ID = 'sa-1';
export const CLIENT_SECRET = 'client-secret "é\\';
export const API_KEY = 'key_abcdef';

/** A hand-written upstream: issues `tok-1`, `tok-2`, … and writes down every request exactly as it came. */
export async function startStrictApi(lifetimeMs: number): Promise<StrictApi> {
  const arrivals: Arrival[] = [];
  const tokens = new Map<string, number>();
  const session = { lifetimeMs, delayMs: 0, status: 200, down: false };
  let logins = 0;

  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      if (request.url === SESSION_PATH) return logIn(request, response, body);
      const raw = request.rawHeaders;
      const authorization = raw.flatMap((name, i) =>
        i % 2 === 0 && name.toLowerCase() === 'authorization' ? [raw[i + 1]!] : [],
      );
      arrivals.push({ method: request.method!, url: request.url!, authorization, body, atMs: Date.now() });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ url: request.url, length: body.length }));
    });
  });

  function logIn(request: http.IncomingMessage, response: http.ServerResponse, body: string): void {
    logins++;
    if (session.down) return void request.socket.destroy();
    setTimeout(() => {
      if (session.status !== 200) return void response.writeHead(session.status).end('{"error":"no"}');
      const { grantType, clientId, clientSecret } = JSON.parse(body) as Record<string, unknown>;
      const right =
        grantType === 'clientCredentials' && clientId === CLIENT_ID && clientSecret === CLIENT_SECRET;
      if (!right || request.headers['content-type'] !== 'application/json')
        return void response.writeHead(401).end();
      const token = `tok-${tokens.size + 1}`;
      const expires = Date.now() + session.lifetimeMs;
      tokens.set(token, expires);
      const expiresAt = `${new Date(expires).toISOString().slice(0, -1)}000`;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ accessToken: token, expiresAt }));
    }, session.delayMs);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals,
    tokens,
    get logins() {
      return logins;
    },
    session,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
