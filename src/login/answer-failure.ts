import type { LoginError, LoginFailure } from '../base/errors.ts';
import type { AnswerFailure } from '../base/failures/login-words.ts';
import { parseHttpDate, parseRetryAfter } from './http-date.ts';
import { answerFailure } from './login-failure.ts';
import type { SessionAnswer } from './session-response.ts';

/** An `error` of RFC 6749 that is known, and what it means. */
export interface OAuthError {
  readonly name: string;
  readonly means: LoginFailure;
}

/** Judges an answer that is no login by its status, and by its OAuth error where there is one. Pure. */
export function failureOf(answer: SessionAnswer, error?: OAuthError): LoginError {
  const { status, headers, receivedWallMs } = answer;
  const retryAfterMs = parseRetryAfter(headers.retryAfter, parseHttpDate(headers.date) ?? receivedWallMs);
  const failure = kindOf(status, retryAfterMs !== undefined, error?.means);
  const notes = [`status ${status}`];
  if (error !== undefined) notes.push(error.name);
  if (failure === 'redirected') notes.push(`to ${hostOf(headers.location)}`);
  return answerFailure(failure, notes, { status, retryAfterMs });
}

function kindOf(status: number, saysWhen: boolean, means: LoginFailure | undefined): AnswerFailure {
  if (status >= 300 && status < 400) return 'redirected';
  if (status === 429 || (status === 503 && saysWhen)) return 'rate-limited';
  if (means !== undefined) return means === 'refused' ? 'oauth-refused' : 'server-error';
  return BY_STATUS[status] ?? 'server-error';
}

const BY_STATUS: Readonly<Record<number, AnswerFailure>> = {
  400: 'bad-request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'no-such-place',
  405: 'no-such-place',
  410: 'no-such-place',
};

/** Where a redirect points. Only the host: path and query of a redirect may hold anything. */
function hostOf(location: string | undefined): string {
  const url = location === undefined ? null : URL.parse(location, 'relative://');
  return url === null || url.host === '' ? 'another place' : url.host;
}
