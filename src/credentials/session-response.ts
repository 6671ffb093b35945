import { LoginError } from '../errors.ts';
import { parseHttpDate, parseRetryAfter } from './http-date.ts';
import { firstFilled, type IssuedToken, issueToken, unusable } from './issued-token.ts';
import { parseJsonObject } from './json-object.ts';

export type { IssuedToken };

/** What came back from the session endpoint. */
export interface SessionAnswer {
  readonly status: number;
  /** First value of each header that matters here. */
  readonly headers: {
    readonly date?: string | undefined;
    readonly retryAfter?: string | undefined;
    readonly location?: string | undefined;
  };
  readonly body: Uint8Array;
  readonly receivedWallMs: number;
  readonly elapsedMs: number;
}

/**
 * Judges an answer. Pure.
 *
 * @throws LoginError for everything that is not a login: only status 200 is one, and only with a usable token.
 */
export function readSessionAnswer(answer: SessionAnswer): IssuedToken {
  if (answer.status !== 200) throw failureOf(answer);
  const fields = parseJsonObject(answer.body);
  if (fields === undefined) throw unusable('the answer is not JSON, or no JSON object', 200);
  const token = firstFilled([fields.accessToken, fields.access_token]);
  if (token === undefined) throw unusable('the answer holds no accessToken or access_token', 200);
  const { receivedWallMs, elapsedMs } = answer;
  const timing = { receivedWallMs, elapsedMs, serverDateMs: parseHttpDate(answer.headers.date) };
  return issueToken(fields, token, timing, 200);
}

function failureOf({ status, headers, receivedWallMs }: SessionAnswer): LoginError {
  const retryAfterMs = parseRetryAfter(headers.retryAfter, parseHttpDate(headers.date) ?? receivedWallMs);
  const detail = { status, retryAfterMs };
  if (status === 400 || status === 401 || status === 403) {
    return new LoginError(
      'refused',
      `the session endpoint refuses the credentials (status ${status})`,
      detail,
    );
  }
  if (status === 429 || (status === 503 && retryAfterMs !== undefined)) {
    return new LoginError('rate-limited', `the session endpoint asks to wait (status ${status})`, detail);
  }
  if (status >= 300 && status < 400) {
    return new LoginError(
      'redirected',
      `the session endpoint redirects to ${hostOf(headers.location)}, which is never followed (status ${status})`,
      detail,
    );
  }
  return new LoginError('server-error', `the session endpoint answers with status ${status}`, detail);
}

/** Where a redirect points. Only the host: path and query of a redirect may hold anything. */
export function hostOf(location: string | undefined): string {
  const url = location === undefined ? null : URL.parse(location, 'relative://');
  return url === null || url.host === '' ? 'another place' : url.host;
}
