import type { LoginError } from '../base/login-error.ts';
import { Secret } from '../base/secret.ts';
import { answerFailure } from './answer-failure.ts';
import { type AnswerTiming, expiryOf } from './expiry.ts';

export interface IssuedToken {
  readonly token: Secret;
  /** From the answer's arrival to the expiry; always positive. */
  readonly lifetimeMs: number;
  /** For the log: unreadable fields and assumptions. Holds no bytes of the answer. */
  readonly warnings: readonly string[];
  /** The token's age on arrival, if another instance logged in. */
  readonly ageMs?: number;
}

/** Visible ASCII, with blanks only inside: every recipient reads such a header value alike (RFC 9110 §5.5). */
const USABLE_TOKEN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

const EXPIRED = 'the token had expired when it arrived';
/** The fields with a length of time, for which no clock counts. */
const RELATIVE = new Set(['expires_in', 'expiresIn']);

/**
 * Checks the token of any login: a header must be able to hold it, and it must not have expired. Pure.
 *
 * @param fields the members of the answer, which may have the expiry
 * @param status of the HTTP answer, if there is one
 * @throws LoginError `unusable`
 */
export function issueToken(
  fields: Record<string, unknown>,
  token: string,
  timing: AnswerTiming,
  status?: number,
): IssuedToken {
  if (!USABLE_TOKEN.test(token)) {
    throw unusable('the token holds characters that no header may hold', status);
  }
  const { lifetimeMs, source, unreadable } = expiryOf(fields, token, timing);
  if (!(lifetimeMs > 0)) {
    const sentS = Math.round(lifetimeMs + timing.elapsedMs) / 1_000;
    throw RELATIVE.has(source)
      ? answerFailure('no-lifetime', [`${EXPIRED}: it had a lifetime of ${sentS} s, by ${source}`], {
          status,
        })
      : answerFailure('token-expired', [`${EXPIRED}, by ${source}`], { status });
  }
  const warnings = unreadable.map((field) => `${field} can't be read as a time and is ignored`);
  if (source === 'assumed') warnings.push('the answer gives no expiry; 15 minutes are assumed');
  return { token: new Secret(token), lifetimeMs, warnings };
}

/** The first value that is a non-empty text. */
export function firstFilled(values: readonly unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

export function unusable(reason: string, status?: number): LoginError {
  return answerFailure('no-token', [reason], { status });
}
