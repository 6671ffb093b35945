import type { Clock } from '../base/clock.ts';
import { untilMs } from '../base/deadline.ts';
import type { TokenState } from '../base/journey.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { Failure } from './backoff.ts';

/** A credential's state for people; no part of it is secret. */
export interface TokenStatus {
  readonly state: TokenState;
  readonly usable: boolean;
  readonly expiresInMs: number | undefined;
  readonly expiresAtMs: number | undefined;
  readonly fingerprint: string | undefined;
  readonly lastLoginMs: number | undefined;
  readonly lastFailure:
    | { readonly atMs: number; readonly code: string; readonly message: string }
    | undefined;
  readonly nextLoginInMs: number;
}

/** What the state depends on, besides the token. */
export interface Circumstances {
  /** The last login's failure; undefined if it succeeded. */
  readonly failure: Failure | undefined;
  readonly lastLoginMs: number | undefined;
  readonly loggingIn: boolean;
}

interface Situation extends Circumstances {
  /** The token, if it is usable. */
  readonly token: AccessToken | undefined;
  readonly nextLoginInMs: number;
}

export function tokenStatus(situation: Situation, clock: Clock): TokenStatus {
  const { token, failure, lastLoginMs, nextLoginInMs } = situation;
  return {
    state: stateOf(token, situation),
    usable: token !== undefined,
    expiresInMs: token && untilMs(token.expires, clock),
    expiresAtMs: token?.expires.wallMs,
    fingerprint: token?.fingerprint,
    lastLoginMs,
    lastFailure: failure && {
      atMs: failure.atWallMs,
      code: failure.error.code,
      message: failure.error.message,
    },
    nextLoginInMs,
  };
}

/** @param token only a usable one */
export function stateOf(
  token: AccessToken | undefined,
  { failure, lastLoginMs, loggingIn }: Circumstances,
): TokenState {
  if (token !== undefined) {
    if (failure !== undefined) return 'degraded';
    return loggingIn ? 'renewing' : 'fresh';
  }
  if (failure?.error.code === 'refused') return 'refused';
  return lastLoginMs === undefined ? 'starting' : 'expired';
}
