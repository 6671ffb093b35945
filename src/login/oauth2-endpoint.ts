import type { Clock } from '../base/clock.ts';
import { LoginError } from '../base/login-error.ts';
import { Secret } from '../base/secret.ts';
import type { OAuth2CredentialConfig } from '../config/sections/credentials/oauth2.ts';
import { type ClientProof, proveClient } from './client-authentication.ts';
import { httpLogin, type Login } from './http-login.ts';
import type { IssuedToken } from './issued-token.ts';
import type { Discovery } from './issuer.ts';
import { parseJsonObject } from './json-object.ts';
import type { LoginAnswer } from './login-answer.ts';
import { LOGIN_TIMEOUT_MS, type LoginRequest } from './login-request.ts';
import type { TokenServers } from './login-server.ts';
import { grantParameters, isSigned } from './oauth2-grants.ts';
import { ServerClock } from './server-clock.ts';
import { signedLogin } from './signed-login.ts';
import { tokenInAnswer } from './token-in-answer.ts';
import { timeLimit } from './whole-answer.ts';

/** A login at a token endpoint (RFC 6749 §3.2). Refresh tokens are not used. */
export function createOAuth2Login(
  servers: TokenServers,
  config: OAuth2CredentialConfig,
  clock: Clock,
): Login {
  const { tokenEndpoint, issuer, tls } = config;
  const time = new ServerClock(clock);
  const judge = (answer: LoginAnswer) => {
    time.learn(answer);
    return readTokenAnswer(answer, config.scheme);
  };
  let discovery: Discovery | undefined;
  const find = async (signal: AbortSignal) => {
    const { createDiscovery } = await import('./issuer.ts'); // Loaded only if an issuer is configured.
    discovery ??= createDiscovery({ issuer: issuer!, withCertificate: tls !== undefined }, servers, clock);
    return discovery.find(signal);
  };
  const login: Login = async (signal) => {
    const endpoint = tokenEndpoint ?? (await find(signal));
    const limit = timeLimit(servers.timeoutMs ?? LOGIN_TIMEOUT_MS); // For its files, too.
    const ended = AbortSignal.any([signal, limit.signal]);
    const proof = await proveClient(config, endpoint, time, ended);
    const grant = await grantParameters(config, endpoint, time, ended);
    const request = encodeRequest(config, proof, grant);
    const server = await servers.at(endpoint.origin, ended);
    const at = { server, path: endpoint.path, limit };
    try {
      return await httpLogin(at, request, judge, clock)(signal);
    } catch (error) {
      // The token endpoint may have moved.
      if (error instanceof LoginError && error.code !== 'refused') discovery?.forget();
      throw error;
    }
  };
  return isSigned(config) ? signedLogin(login, time, clock) : login;
}

/**
 * Judges the answer of a token endpoint (RFC 6749 §5). Pure.
 *
 * @param scheme with which the token will be sent
 * @throws LoginError for every answer that is no login
 */
function readTokenAnswer(answer: LoginAnswer, scheme: string): IssuedToken {
  const issued = tokenInAnswer(answer, 'oauth-refused');
  const type = parseJsonObject(answer.body)?.token_type;
  const fits = typeof type !== 'string' || type.toLowerCase() === 'bearer';
  if (fits || scheme.toLowerCase() !== 'bearer') return issued;
  const warning = `token_type is not Bearer, and the token is sent with ${scheme} all the same`;
  return { ...issued, warnings: [...issued.warnings, warning] };
}

function encodeRequest(
  config: OAuth2CredentialConfig,
  proof: ClientProof,
  grant: Readonly<Record<string, Secret>>,
): LoginRequest {
  const { scope, audience, parameters } = config;
  const fields = [grant, proof.parameters, { scope, audience }, parameters].flatMap((each) =>
    Object.entries<string | Secret | undefined>(each),
  );
  return {
    headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
    authorization: proof.authorization,
    body: Secret.form(fields),
    to: 'token endpoint',
    secrets: secretsIn(config),
  };
}

function secretsIn(config: OAuth2CredentialConfig): Record<string, Secret> {
  return {
    ...(config.clientId !== undefined && { 'client ID': config.clientId }),
    ...('clientSecret' in config && { 'client secret': config.clientSecret }),
    ...(config.owner && { 'user name': config.owner.username, password: config.owner.password }),
  };
}
