import type { Clock } from '../base/clock.ts';
import { Secret } from '../base/secret.ts';
import type { SessionGrant } from '../config/sections/credentials/session.ts';
import { httpLogin, type Login } from './http-login.ts';
import type { LoginEndpoint, LoginRequest } from './login-request.ts';
import { tokenInAnswer } from './token-in-answer.ts';

export function createSessionLogin(endpoint: LoginEndpoint, grant: SessionGrant, clock: Clock): Login {
  const request = {
    ...encodeGrant(grant),
    to: 'session endpoint',
    secrets: secretsOf(grant),
  };
  return httpLogin(endpoint, request, (answer) => tokenInAnswer(answer, 'oauth-at-session'), clock);
}

function secretsOf(grant: SessionGrant): Record<string, Secret> {
  return grant.kind === 'service-account'
    ? { 'client ID': grant.clientId, 'client secret': grant.clientSecret }
    : { 'user name': grant.username, password: grant.password };
}

/** Headers and body of the login, as the API documents its two grants. */
function encodeGrant(grant: SessionGrant): Pick<LoginRequest, 'headers' | 'body'> {
  if (grant.kind === 'service-account') {
    const { clientId, clientSecret } = grant;
    const body = Secret.json({ grantType: 'clientCredentials', clientId, clientSecret });
    return { headers: ['content-type', 'application/json', 'accept', 'application/json'], body };
  }
  return {
    headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
    body: Secret.form(Object.entries({ username: grant.username, password: grant.password })),
  };
}
