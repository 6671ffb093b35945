import type { LoginFailure } from '../base/errors.ts';
import { failureOf, type OAuthError } from './answer-failure.ts';
import { parseJsonObject } from './json-object.ts';
import { type IssuedToken, readSessionAnswer, type SessionAnswer } from './session-response.ts';

/**
 * What the `error` of an answer means (RFC 6749 §4.1.2.1 and §5.2, RFC 8707 §2, RFC 8628 §3.5). Only these get into
 * a message: whatever else stands there is somebody else's text.
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

/**
 * Judges the answer of a token endpoint (RFC 6749 §5). Pure.
 *
 * @param scheme what the token is going to be sent with.
 * @throws LoginError for everything that is not a login.
 */
export function readTokenAnswer(answer: SessionAnswer, scheme: string): IssuedToken {
  if (answer.status !== 200) throw failureOf(answer, errorIn(answer));
  const issued = readSessionAnswer(answer);
  const type = parseJsonObject(answer.body)?.token_type;
  const fits = typeof type !== 'string' || type.toLowerCase() === 'bearer';
  if (fits || scheme.toLowerCase() !== 'bearer') return issued;
  const warning = `token_type is not Bearer, and the token is sent with ${scheme} all the same`;
  return { ...issued, warnings: [...issued.warnings, warning] };
}

function errorIn({ body }: SessionAnswer): OAuthError | undefined {
  const name = parseJsonObject(body)?.error;
  const means = ERRORS.get(name);
  return means === undefined ? undefined : { name: String(name), means };
}
