import type { Clock } from '../base/clock.ts';
import { LoginError } from '../base/login-error.ts';
import { withSubject } from './connection-failure.ts';
import type { IssuedToken } from './issued-token.ts';
import type { LoginAnswer } from './login-answer.ts';
import { type LoginEndpoint, type LoginRequest, postLogin } from './login-request.ts';

/**
 * One login: gives a token, or rejects with a LoginError. Follows no redirect, and ends soon after `signal` aborts.
 */
export type Login = (signal: AbortSignal) => Promise<IssuedToken>;

/** A login by one POST. Its errors name the URL. */
export function httpLogin(
  endpoint: LoginEndpoint,
  request: LoginRequest,
  judge: (answer: LoginAnswer) => IssuedToken,
  clock: Clock,
): Login {
  const subject = `the ${request.to} ${endpoint.server.origin}${withoutQuery(endpoint.path)}`;
  return async (signal) => {
    try {
      return judge(await postLogin(endpoint, request, clock, signal));
    } catch (error) {
      throw error instanceof LoginError ? withSubject(subject, error, { secrets: request.secrets }) : error;
    }
  };
}

/** A query may hold a secret. */
function withoutQuery(path: string): string {
  return path.replace(/\?.*/s, '');
}
