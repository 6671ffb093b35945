import type { Clock } from '../../base/clock.ts';
import { type Deadline, deadlineIn, untilMs } from '../../base/deadline.ts';
import { LoginError, type LoginFailure } from '../../base/login-error.ts';
import { retryDelayMs } from '../../tokens/schedule.ts';
import type { Kept } from './engine.ts';
import type { AccountKeys } from './keys.ts';
import { endOf } from './shared-token.ts';

/** The longest pause of all instances after a failure that may concern one instance only, such as a broken network. */
const OWN_TROUBLE_MS = 5_000;

/** Why no instance may log in, and until when. */
export interface Hold {
  readonly error: LoginError;
  /** How many failures of this class there were in a row. */
  readonly consecutive: number;
  readonly ends: Deadline;
}

/**
 * The pause of the whole fleet after a failed login. If the other instances tried one after the other, each would wait
 * for the lock until its patience ends, and then log in without it.
 *
 * @param before the last hold, even if it is over
 */
export function holdAfter(error: LoginError, before: Hold | undefined, random: number, clock: Clock): Hold {
  const goesOn = before !== undefined && (before.error.code === 'refused') === (error.code === 'refused');
  const consecutive = goesOn ? before.consecutive + 1 : 1;
  const pauseMs = retryDelayMs(error.code, consecutive, error.retryAfterMs, random);
  const heldMs = error.code === 'unreachable' ? Math.min(pauseMs, OWN_TROUBLE_MS) : pauseMs;
  return { error, consecutive, ends: deadlineIn(heldMs, clock) };
}

/** The error of a login during a hold; undefined after it. */
export function heldBack({ error, ends }: Hold, clock: Clock): LoginError | undefined {
  const leftMs = untilMs(ends, clock);
  if (leftMs <= 0) return undefined;
  const { code, message, status } = error;
  const heldMessage = `all instances are held back: ${message}`;
  return new LoginError(code, heldMessage, { status, retryAfterMs: leftMs, heldBack: true });
}

export function sealHold({ error, consecutive, ends }: Hold, keys: AccountKeys): string {
  const { code, message, status } = error;
  const value = { code, message, status, consecutive, endsAtMs: Math.floor(ends.wallMs) };
  return keys.seal(keys.names.hold, 0, value);
}

export function openHold(kept: Kept, keys: AccountKeys, clock: Clock): Hold | undefined {
  const opened = keys.open(keys.names.hold, kept.text);
  if (opened === undefined) return undefined;
  // Sealed by an instance of this account, so it has this shape.
  const { code, message, status, consecutive, endsAtMs } = opened.value as {
    code: LoginFailure;
    message: string;
    status?: number;
    consecutive: number;
    endsAtMs: number;
  };
  const ends = endOf(kept, endsAtMs, clock);
  return { error: new LoginError(code, message, { status }), consecutive, ends };
}
