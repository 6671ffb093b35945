import type { Clock } from '../base/clock.ts';
import { type Deadline, deadlineIn, untilMs } from '../base/deadline.ts';
import type { Secret } from '../base/secret.ts';
import { headerValueOf } from './header-value.ts';

/** A token and the time in which it may be used. Immutable; two logins give two objects, even for the same value. */
export interface AccessToken {
  readonly value: Secret;
  /** Eight hexadecimal digits; the only form in which a token is ever shown. */
  readonly fingerprint: string;
  /** The credential header's value, made once: `Bearer eyJ...`. */
  readonly headerValue: Secret;
  /** From the answer's arrival to the token's end. */
  readonly lifetimeMs: number;
  readonly expires: Deadline;
  /** `expires` less the transit margin: a request needs time to arrive. */
  readonly usableUntil: Deadline;
}

/** The transit margin, for the time from here to the check at the upstream: 2 % of the life, at most 250 ms. */
const TRANSIT_SHARE = 0.02;
const MAX_TRANSIT_MS = 250;

export function createAccessToken(
  value: Secret,
  scheme: string,
  lifetimeMs: number,
  clock: Clock,
): AccessToken {
  const transitMs = Math.min(lifetimeMs * TRANSIT_SHARE, MAX_TRANSIT_MS);
  return {
    value,
    fingerprint: value.fingerprint(),
    headerValue: headerValueOf(value, scheme),
    lifetimeMs,
    expires: deadlineIn(lifetimeMs, clock),
    usableUntil: deadlineIn(lifetimeMs - transitMs, clock),
  };
}

/** True while the token may be sent. */
export function isUsable(token: AccessToken, clock: Clock): boolean {
  return untilMs(token.usableUntil, clock) > 0;
}
