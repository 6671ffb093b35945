import { Secret } from '../config/secret.ts';
import type { Clock } from '../clock.ts';

/** A token and the span in which it may be used. Immutable; two logins give two objects, even of one value. */
export interface AccessToken {
  readonly value: Secret;
  /** Eight hexadecimal digits; the only form in which a token is ever shown. */
  readonly fingerprint: string;
  /** The credential header's value, made once: `Bearer eyJ...`. */
  readonly headerValue: string;
  readonly obtainedWallMs: number;
  /** From now to the end, as it was when the answer arrived. */
  readonly lifetimeMs: number;
  readonly expiresWallMs: number;
  readonly expiresMonoMs: number;
  /** The end of use on each clock: a little before the expiry, for the time that a request needs to get there. */
  readonly usableUntilWallMs: number;
  readonly usableUntilMonoMs: number;
}

/** The time that a request may need from here to the check at the upstream: 2 % of the life, at most 250 ms. */
const TRANSIT_SHARE = 0.02;
const MAX_TRANSIT_MS = 250;

export function createAccessToken(value: string, scheme: string, lifetimeMs: number, clock: Clock): AccessToken {
  const secret = new Secret(value);
  const wall = clock.wallMs();
  const mono = clock.monoMs();
  const usableMs = lifetimeMs - Math.min(lifetimeMs * TRANSIT_SHARE, MAX_TRANSIT_MS);
  return {
    value: secret,
    fingerprint: secret.fingerprint(),
    headerValue: scheme === '' ? value : `${scheme} ${value}`,
    obtainedWallMs: wall,
    lifetimeMs,
    expiresWallMs: wall + lifetimeMs,
    expiresMonoMs: mono + lifetimeMs,
    usableUntilWallMs: wall + usableMs,
    usableUntilMonoMs: mono + usableMs,
  };
}

/**
 * True while the token may be sent. Both clocks have a say: the monotonic one stands still while the machine
 * sleeps, the wall clock may be set back, and neither may make a token live longer.
 */
export function isUsable(token: AccessToken, clock: Clock): boolean {
  return clock.wallMs() < token.usableUntilWallMs && clock.monoMs() < token.usableUntilMonoMs;
}

/** Milliseconds until the token's expiry by whichever clock is further; negative when it is over. */
export function remainingMs(token: AccessToken, clock: Clock): number {
  return Math.min(token.expiresWallMs - clock.wallMs(), token.expiresMonoMs - clock.monoMs());
}
