import type { IncomingMessage } from 'node:http';
import { ApiError, badRequest } from './http.ts';
import type { TokenState } from './issued-tokens.ts';
import type { MockState } from './state.ts';

export type CredentialKind = 'token' | 'api-key';

/** The kinds of credential that a path takes; none at all means that anybody may call it. */
export type Accepted = readonly CredentialKind[];

const DEAD_TOKEN: Record<Exclude<TokenState, 'live'>, string> = {
  expired: 'the access token has expired',
  revoked: 'the access token was revoked',
  unknown: 'this is neither an access token nor an API key of this service',
};

/** The kind of credential that the request has. Throws the 401 for one that is missing, dead or of another kind. */
export function authorize(
  mock: MockState,
  request: IncomingMessage,
  accepted: Accepted,
): CredentialKind | undefined {
  if (accepted.length === 0) return undefined;
  const kind = credentialKind(mock, request.headersDistinct.authorization ?? []);
  // The status for an API key where a token is needed is not known of the real API: 401 is the mock's choice.
  if (!accepted.includes(kind)) throw unauthorized(`this path does not take a credential of kind ${kind}`);
  return kind;
}

/** Throws unless `authorization` is one good credential. Two lines are a proxy's fault, so they are told apart. */
function credentialKind(mock: MockState, authorization: readonly string[]): CredentialKind {
  const [line, ...more] = authorization;
  if (line === undefined) throw unauthorized('there is no Authorization header');
  if (more.length > 0) throw badRequest('there is more than one Authorization header');
  const [, credential] = /^Bearer +(\S+)$/i.exec(line) ?? [];
  if (credential === undefined)
    throw unauthorized('the Authorization header is not of the form "Bearer ..."');
  if (credential === mock.options.apiKey) return 'api-key';
  const state = mock.tokens.state(credential);
  if (state === 'live') return 'token';
  throw unauthorized(DEAD_TOKEN[state]);
}

function unauthorized(message: string): ApiError {
  const challenge = { 'www-authenticate': 'Bearer error="invalid_token"' };
  return new ApiError(401, 'invalid_token', message, challenge);
}
