import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SESSION_PATH } from '../support/raw-upstream.ts';
import { type Pace, simulatedMs } from './pace.ts';

const LIFETIME_MS = 15 * 60_000;
/** A part of each token. */
export const TOKEN_CANARY = 'canary-of-a-token';
export const SECRET_CANARY = 'canary-of-a-secret';

/** True if the API accepts the token. The token's text has its number and its end. */
export function isGood(token: string, revokedUpTo: number, atMs: number): boolean {
  const [, number, endsMs] = /-(\d+)-(\d+)$/.exec(token) ?? [];
  return Number(number) > revokedUpTo && atMs < Number(endsMs);
}

/** The session endpoint, and the API behind the real proxies. All times are simulated. */
export class Issuer {
  readonly #pace: Pace;
  readonly #server: Server;
  /** Times of the logins that got a token, and of those that got a 429. */
  readonly grantedAt: number[] = [];
  readonly deniedAt: number[] = [];
  revokedUpTo = 0;
  /** If set, the next login gets a 429 with this `Retry-After`. */
  denyForS: number | undefined;
  /** Logins during the `Retry-After` of another, more than a second after its start. */
  disobeyed = 0;
  #deniedUntilMs = 0;

  constructor(pace: Pace) {
    this.#pace = pace;
    this.#server = createServer((request, response) => {
      request.resume();
      const atMs = simulatedMs(pace);
      if (request.url === SESSION_PATH) return this.#logIn(atMs, response);
      const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
      response.writeHead(isGood(token, this.revokedUpTo, atMs) ? 200 : 401).end();
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get now(): number {
    return simulatedMs(this.#pace);
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #logIn(atMs: number, response: ServerResponse): void {
    const lastDenied = this.deniedAt.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (atMs < this.#deniedUntilMs && atMs > lastDenied + 1_000) this.disobeyed++;
    if (this.denyForS !== undefined) {
      this.deniedAt.push(atMs);
      this.#deniedUntilMs = atMs + this.denyForS * 1_000;
      response.writeHead(429, { 'retry-after': `${this.denyForS}` }).end();
      this.denyForS = undefined;
      return;
    }
    const number = this.grantedAt.push(atMs);
    const accessToken = `${TOKEN_CANARY}-${number}-${Math.round(atMs + LIFETIME_MS)}`;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ accessToken, expires_in: LIFETIME_MS / 1_000 }));
  }
}
