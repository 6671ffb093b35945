import { OutboundProxyError } from '../base/errors.ts';
import { otherNames } from '../base/failures/certificate-names.ts';
import { codeOf, connectionFailureOf } from '../base/failures/kind.ts';
import { CONNECTION_FAILURES, type ConnectionFailure } from '../base/failures/words.ts';
import { LoginError } from '../base/login-error.ts';
import type { Secret } from '../base/secret.ts';
import type { Steps } from './login-server.ts';

/** How far a login got, which its error doesn't say. */
interface LoginProgress extends Readonly<Steps> {
  /** The time limit is over. */
  readonly late: boolean;
  readonly limitMs: number;
}

/** Why there was no whole answer. The subject of the message is the server. */
export interface ConnectionProblem {
  readonly failure: ConnectionFailure;
  readonly message: string;
  readonly remedy: string;
}

/** @param origin whose scheme says whether TLS was used */
export function connectionProblem(
  cause: unknown,
  origin: string,
  progress: LoginProgress,
): ConnectionProblem {
  const failure = connectionFailure(cause, origin, progress);
  const { what, remedy } = CONNECTION_FAILURES[failure];
  const message =
    cause instanceof OutboundProxyError
      ? `can't be reached: ${cause.message}`
      : `${what}${otherNames(cause)} (${progress.late ? `within ${progress.limitMs / 1000} s` : codeOf(cause)})`;
  return { failure, message, remedy };
}

/** The same as a LoginError. */
export function connectionError(cause: unknown, origin: string, progress: LoginProgress): LoginError {
  const { failure, message, remedy } = connectionProblem(cause, origin, progress);
  return new LoginError(CONNECTION_FAILURES[failure].login, message, { remedy, cause });
}

function connectionFailure(cause: unknown, origin: string, progress: LoginProgress): ConnectionFailure {
  if (cause instanceof OutboundProxyError) return 'outbound-proxy';
  if (progress.late) return progress.connected ? 'answer-timeout' : 'connect-timeout';
  const failure = connectionFailureOf(cause);
  const inClear = failure === 'closed' && origin.startsWith('http:') && !progress.answered;
  return inClear ? 'http-on-tls-port' : failure;
}

interface Addition {
  /** The secrets that were sent, by their names in messages. */
  readonly secrets?: Readonly<Record<string, Secret>>;
  /** Replaces the remedy of the error. */
  readonly remedy?: string;
}

/** The same error with its subject, its remedy, and notes on unusual secrets if they were refused. */
export function withSubject(
  subject: string,
  error: LoginError,
  { secrets = {}, remedy: known = error.remedy }: Addition,
): LoginError {
  const { code, message, status, retryAfterMs, cause } = error;
  const odd =
    code === 'refused' ? Object.entries(secrets).flatMap(([name, secret]) => oddities(name, secret)) : [];
  const remedy = [known ?? [], odd].flat().join(' ');
  const told = remedy === '' ? `${subject} ${message}` : `${subject} ${message}. ${remedy}`;
  return new LoginError(code, told, {
    status,
    retryAfterMs,
    cause,
    remedy: remedy === '' ? undefined : remedy,
  });
}

/** Typical mistakes of copying a secret. */
const ODDITIES: readonly (readonly [RegExp, string])[] = [
  [/^\ufeff/, 'begins with a byte order mark (BOM)'],
  [/^bearer\s/i, 'begins with "Bearer "'],
  [/^["'].*["']$/s, 'stands in quotes'],
  [/^[^\S\ufeff]/, 'begins with white space'],
  [/\s$/, 'ends with white space'],
];

/** Notes that show nothing else of the secret. */
function oddities(name: string, secret: Secret): string[] {
  const found = ODDITIES.filter(([pattern]) => secret.fits(pattern));
  return found.map(([, words]) => `Note: the ${name} ${words}.`);
}
