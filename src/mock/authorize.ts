import type { IncomingMessage } from 'node:http';
import { ApiError, badRequest } from './http.ts';
import type { TokenState } from './issued-tokens.ts';
import type { MockState } from './state.ts';

type CredentialKind = 'token' | 'api-key';

/** A valid credential and its account. */
export interface Known {
  readonly kind: CredentialKind;
  /** The account that logged in; undefined for the API key. */
  readonly account: string | undefined;
}

/** The kinds of credential that a path accepts; an empty list needs no credential. */
export type Accepted = readonly CredentialKind[];

const DEAD_TOKEN: Record<Exclude<TokenState, 'live'>, string> = {
  expired: 'the access token has expired',
  revoked: 'the access token was revoked',
  unknown: 'this is neither an access token nor an API key of this service',
};

/** The credential in the request. Throws the 401 if it is missing, invalid or of another kind. */
export function authorize(mock: MockState, request: IncomingMessage, accepted: Accepted): Known | undefined {
  if (accepted.length === 0) return undefined;
  const known = knownCredential(mock, request.headersDistinct.authorization ?? []);
  const { kind } = known;
  // The real API's status for an API key in place of a token is unknown: 401 is the mock's choice.
  if (!accepted.includes(kind)) throw unauthorized(`this path does not take a credential of kind ${kind}`);
  return known;
}

/** Throws unless `authorization` is one valid credential. Two lines are a fault of the proxy, so they get a 400. */
function knownCredential(mock: MockState, authorization: readonly string[]): Known {
  const [line, ...more] = authorization;
  if (line === undefined) throw unauthorized('there is no Authorization header');
  if (more.length > 0) throw badRequest('there is more than one Authorization header');
  const [, credential] = /^Bearer +(\S+)$/i.exec(line) ?? [];
  if (credential === undefined)
    throw unauthorized('the Authorization header is not of the form "Bearer ..."');
  if (credential === mock.options.apiKey) return { kind: 'api-key', account: undefined };
  const state = mock.tokens.state(credential);
  if (state === 'live') return { kind: 'token', account: mock.tokens.subject(credential) };
  throw unauthorized(DEAD_TOKEN[state]);
}

function unauthorized(message: string): ApiError {
  const challenge = { 'www-authenticate': 'Bearer error="invalid_token"' };
  return new ApiError(401, 'invalid_token', message, challenge);
}
