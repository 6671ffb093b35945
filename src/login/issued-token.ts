import type { LoginError } from '../base/login-error.ts';
import { Secret } from '../base/secret.ts';
import { type AnswerTiming, expiryOf } from './expiry.ts';
import { answerFailure } from './login-failure.ts';

export interface IssuedToken {
  readonly token: Secret;
  /** From the answer's arrival to the expiry; always positive. */
  readonly lifetimeMs: number;
  /** For the log: what could not be read or was assumed. Holds no bytes of the answer. */
  readonly warnings: readonly string[];
  /** The token's age, if another instance has logged in; else undefined. */
  readonly ageMs?: number;
}

/** Visible ASCII, with blanks only inside: what every recipient of a header reads alike (RFC 9110 §5.5). */
const USABLE_TOKEN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Checks a token of any login: whether a header can hold it, and when it expires. Pure.
 *
 * @param fields the members that came with it, which may give its expiry.
 * @param status of the HTTP answer, if the token came in one.
 * @throws LoginError `unusable`.
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
  if (!(lifetimeMs > 0)) throw unusable(`the token had expired when it arrived (by ${source})`, status);
  const warnings = unreadable.map((field) => `${field} can't be read as a time and is ignored`);
  if (source === 'assumed') warnings.push('the answer gives no expiry; 15 minutes are assumed');
  return { token: new Secret(token), lifetimeMs, warnings };
}

/** The first of the values that can be a token at all. */
export function firstFilled(values: readonly unknown[]): string | undefined {
  return values.find((value) => typeof value === 'string' && value !== '') as string | undefined;
}

export function unusable(reason: string, status?: number): LoginError {
  return answerFailure('no-token', [reason], { status });
}
