import { ANSWER_FAILURES, type AnswerFailure } from '../base/failures/login-words.ts';
import { LoginError } from '../base/login-error.ts';
import { parseHttpDate, parseRetryAfter } from './http-date.ts';
import type { LoginAnswer, RedirectTarget } from './login-answer.ts';
import type { OAuthError } from './oauth-error.ts';

/** The words for an OAuth error that is a refusal, by the kind of endpoint. */
export type RefusalWords = 'oauth-refused' | 'oauth-at-session';

/** The error for an answer that is no login. `withSubject` adds its subject. */
export function answerFailure(
  failure: AnswerFailure,
  notes: readonly string[],
  detail: { status?: number | undefined; retryAfterMs?: number | undefined } = {},
): LoginError {
  const { login, what, remedy } = ANSWER_FAILURES[failure];
  return new LoginError(login, `${what} (${notes.join(', ')})`, { ...detail, remedy });
}

/** The same by the status of the answer and its OAuth error, if it has one. Pure. */
export function failureOf(
  answer: LoginAnswer,
  error: OAuthError | undefined,
  whenRefused: RefusalWords,
): LoginError {
  const saysWhen = retryAfterOf(answer) !== undefined;
  const means = error?.means === 'refused' ? whenRefused : error && 'server-error';
  return statusFailure(answer, kindOf(answer.status, saysWhen, means), error?.name);
}

/** The same for an answer of an issuer, who was asked without a credential: none is refused. Pure. */
export function metadataFailure(answer: LoginAnswer): LoginError {
  const { status } = answer;
  if (status === 200) return statusFailure(answer, 'no-metadata', 'no JSON object with an issuer');
  const kind = kindOf(status, retryAfterOf(answer) !== undefined, undefined);
  return statusFailure(answer, OF_METADATA[kind] ?? kind);
}

function statusFailure(answer: LoginAnswer, failure: AnswerFailure, note?: string): LoginError {
  const { status, redirect } = answer;
  const notes = [`status ${status}`, note ?? []].flat();
  if (failure === 'redirected') notes.push(REDIRECTS[redirect ?? 'nowhere']);
  return answerFailure(failure, notes, { status, retryAfterMs: retryAfterOf(answer) });
}

function retryAfterOf({ headers, receivedWallMs }: LoginAnswer): number | undefined {
  return parseRetryAfter(headers.retryAfter, parseHttpDate(headers.date) ?? receivedWallMs);
}

function kindOf(status: number, saysWhen: boolean, means: AnswerFailure | undefined): AnswerFailure {
  if (status === 429 || (status === 503 && saysWhen)) return 'rate-limited';
  if (status === 503) return 'server-error';
  if (means !== undefined) return means;
  if (status >= 300 && status < 400) return 'redirected';
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

/** What they are for an issuer; the others are the same. */
const OF_METADATA: Partial<Record<AnswerFailure, AnswerFailure>> = {
  'bad-request': 'metadata-refused',
  unauthorized: 'metadata-refused',
  forbidden: 'metadata-refused',
  'no-such-place': 'no-metadata',
  'server-error': 'metadata-failed',
};

const REDIRECTS: Readonly<Record<RedirectTarget, string>> = {
  'this-server': 'to another place on the same server',
  'another-server': 'to another server',
  'clear-text': 'to http:// without TLS',
  nowhere: 'to no URL',
};

/** Where a `Location` leads, seen from the requested origin. It may hold anything, so no part of it is returned. */
export function redirectTargetOf(location: string, origin: string): RedirectTarget {
  const url = URL.parse(location, origin);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'nowhere';
  if (url.origin === origin) return 'this-server';
  return url.protocol === 'http:' && origin.startsWith('https:') ? 'clear-text' : 'another-server';
}
