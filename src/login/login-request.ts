import type { Clock } from '../base/clock.ts';
import type { Secret } from '../base/secret.ts';
import type { LoginAnswer } from './login-answer.ts';
import type { LoginServer } from './login-server.ts';
import { type TimeLimit, timeLimit, wholeAnswer } from './whole-answer.ts';

/** The time limit of a login, from the reading of its files to the last byte of the answer (docs/tokens.md). */
export const LOGIN_TIMEOUT_MS = 10_000;

export interface LoginEndpoint {
  readonly server: LoginServer;
  readonly path: string;
  /** `LOGIN_TIMEOUT_MS` unless a test sets less. */
  readonly timeoutMs?: number;
  /** The limit, if it began before the request. */
  readonly limit?: TimeLimit;
}

/** The parts of a request that differ between logins. Headers alternate name and value. */
export interface LoginRequest {
  readonly headers: readonly string[];
  readonly authorization?: Secret | undefined;
  readonly body: Secret;
  /** The name of the endpoint in messages. */
  readonly to: string;
  /** The secrets that it sends, by their names in messages. */
  readonly secrets: Readonly<Record<string, Secret>>;
}

/**
 * One POST and its whole answer.
 *
 * @throws LoginError if no answer comes, or if that of a login can't be read or is too large
 */
export async function postLogin(
  { server, path, timeoutMs = LOGIN_TIMEOUT_MS, limit = timeLimit(timeoutMs) }: LoginEndpoint,
  request: LoginRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<LoginAnswer> {
  const body = Buffer.from(request.body.expose());
  const { authorization } = request;
  const proof = authorization === undefined ? [] : ['authorization', authorization.expose()];
  const headers = [...request.headers, ...proof, 'content-length', `${body.byteLength}`];
  const question = { method: 'POST', path, headers, body };
  return wholeAnswer({ server, question, limit, unreadable: 'no-token' }, clock, signal);
}
