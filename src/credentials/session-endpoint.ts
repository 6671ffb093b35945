import type { Clock } from '../clock.ts';
import type { SessionGrant } from '../config/config.ts';
import { type LoginEndpoint, postLogin } from './login-request.ts';
import { type IssuedToken, readSessionAnswer } from './session-response.ts';

/**
 * One login: gives a token, or rejects with a LoginError. Never retries, never follows a redirect, and ends soon
 * after `signal` aborts.
 */
export type Login = (signal: AbortSignal) => Promise<IssuedToken>;

export function createLogin(endpoint: LoginEndpoint, grant: SessionGrant, clock: Clock): Login {
  const request = { ...encodeGrant(grant), to: 'session endpoint', readsFailures: false };
  return async (signal) => readSessionAnswer(await postLogin(endpoint, request, clock, signal));
}

/** Headers and body of the login, exactly as the API documents the two grants. */
export function encodeGrant(grant: SessionGrant): { headers: string[]; body: string } {
  if (grant.kind === 'service-account') {
    const body = JSON.stringify({
      grantType: 'clientCredentials',
      clientId: grant.clientId.expose(),
      clientSecret: grant.clientSecret.expose(),
    });
    return { headers: ['content-type', 'application/json', 'accept', 'application/json'], body };
  }
  const form = new URLSearchParams([
    ['username', grant.username.expose()],
    ['password', grant.password.expose()],
  ]);
  return {
    headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
    body: form.toString(),
  };
}
