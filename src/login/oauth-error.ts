import type { LoginFailure } from '../base/login-error.ts';
import { parseJsonObject } from './json-object.ts';

/** A known `error` of a token endpoint, and its class. */
export interface OAuthError {
  readonly name: string;
  readonly means: LoginFailure;
}

/**
 * Known values of `error` (RFC 6749 §4.1.2.1 and §5.2, RFC 8707 §2, RFC 8628 §3.5). Only these appear in messages:
 * other text comes from the server.
 */
const ERRORS: ReadonlyMap<unknown, LoginFailure> = new Map([
  ['invalid_client', 'refused'],
  ['unauthorized_client', 'refused'],
  ['invalid_grant', 'refused'],
  ['invalid_scope', 'refused'],
  ['invalid_target', 'refused'],
  ['unsupported_grant_type', 'refused'],
  ['invalid_request', 'refused'],
  ['access_denied', 'refused'],
  ['temporarily_unavailable', 'server-error'],
  ['server_error', 'server-error'],
  ['slow_down', 'server-error'],
]);

/** The `error` of a body with any status: some servers send it with 200. An empty, null or unknown error is ignored. */
export function oauthErrorIn(body: Uint8Array): OAuthError | undefined {
  const name = parseJsonObject(body)?.error;
  const means = ERRORS.get(name);
  return means === undefined ? undefined : { name: String(name), means };
}
