import { LoginError, type LoginFailure } from '../errors.ts';
import { parseHttpDate, parseRetryAfter } from './http-date.ts';
import { parseJsonObject } from './json-object.ts';
import { hostOf, type IssuedToken, readSessionAnswer, type SessionAnswer } from './session-response.ts';

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
  if (answer.status !== 200) throw failureOf(answer);
  const issued = readSessionAnswer(answer);
  const type = parseJsonObject(answer.body)?.token_type;
  const fits = typeof type !== 'string' || type.toLowerCase() === 'bearer';
  if (fits || scheme.toLowerCase() !== 'bearer') return issued;
  const warning = `token_type is not Bearer, and the token is sent with ${scheme} all the same`;
  return { ...issued, warnings: [...issued.warnings, warning] };
}

function failureOf(answer: SessionAnswer): LoginError {
  const { status, headers, receivedWallMs } = answer;
  const retryAfterMs = parseRetryAfter(headers.retryAfter, parseHttpDate(headers.date) ?? receivedWallMs);
  const error = parseJsonObject(answer.body)?.error;
  const known = ERRORS.get(error);
  const why = known === undefined ? `status ${status}` : `status ${status}, ${error}`;
  const failure = (code: LoginFailure, what: string) =>
    new LoginError(code, `the token endpoint ${what} (${why})`, { status, retryAfterMs });

  if (status >= 300 && status < 400)
    return failure('redirected', `redirects to ${hostOf(headers.location)}, which is never followed`);
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
    return failure('rate-limited', 'asks to wait');
  }
  const refusal = status === 400 || status === 401 || status === 403;
  if ((known ?? (refusal ? 'refused' : 'server-error')) === 'refused') {
    return failure('refused', 'refuses the login');
  }
  return failure('server-error', 'gives no token');
}
