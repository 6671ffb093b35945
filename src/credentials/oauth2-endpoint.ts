import type { Clock } from '../clock.ts';
import type { OAuth2CredentialConfig } from '../config/config.ts';
import { type LoginEndpoint, type LoginRequest, postLogin } from './login-request.ts';
import { readTokenAnswer } from './oauth2-response.ts';
import type { Login } from './session-endpoint.ts';

/** The client credentials grant (RFC 6749 §4.4): the program acts for itself, and there is no refresh token. */
export function createOAuth2Login(
  endpoint: LoginEndpoint,
  config: OAuth2CredentialConfig,
  clock: Clock,
): Login {
  return async (signal) =>
    readTokenAnswer(await postLogin(endpoint, encodeRequest(config), clock, signal), config.scheme);
}

/** Headers and body of the request. */
function encodeRequest(config: OAuth2CredentialConfig): LoginRequest {
  const { clientAuthentication, scope, audience, parameters } = config;
  const [id, secret] = [config.clientId.expose(), config.clientSecret.expose()];
  const inBody = clientAuthentication === 'body';
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(inBody && { client_id: id, client_secret: secret }),
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
  });
  for (const [name, value] of Object.entries(parameters)) form.append(name, value.expose());
  const headers = ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'];
  if (!inBody) headers.push('authorization', basic(id, secret));
  return { headers, body: form.toString(), to: 'token endpoint', readsFailures: true };
}

/**
 * Both parts are form-encoded before they are joined (RFC 6749 §2.3.1), which `Basic` alone doesn't ask for: an ID
 * may hold a colon, and both may hold what is no Latin-1.
 */
function basic(id: string, secret: string): string {
  const pair = [id, secret].map(formEncoded).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}
