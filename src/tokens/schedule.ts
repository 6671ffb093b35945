import type { LoginFailure } from '../base/login-error.ts';

/**
 * When to log in. Pure: every number that decides is an argument, chance too (`random` in [0, 1)), so that
 * a delay can be tested, and can't be worked out and then forgotten.
 */

/** At most one login in this time for each credential, whatever asks for it. */
export const LOGIN_FLOOR_MS = 1_000;
/** At most one renewal in this time on account of an upstream's 401, however many there are. */
export const FORCED_RENEWAL_FLOOR_MS = 10_000;
/** The longest that the loop sleeps without looking at the wall clock: after a suspension it is right this soon. */
export const LONGEST_SLEEP_MS = 30_000;
const MAX_BACKOFF_MS = 60_000;
const MIN_REFUSED_DELAY_MS = 30_000;
/** The most that `Retry-After` can ask for, and the slowest cadence after a refusal. */
const MAX_DELAY_MS = 300_000;

/**
 * From a token's arrival to its renewal: 72 to 80 % of its life, or `renewAfterMs` and up to 10 % less, if that is sooner.
 *
 * @param ageMs what it had lived when it came
 */
export function renewalDelayMs(lifetimeMs: number, renewAfterMs: number, random: number, ageMs = 0): number {
  const byLifetime = (ageMs + lifetimeMs) * (0.72 + 0.08 * random);
  const byAge = renewAfterMs * (1 - 0.1 * random);
  return Math.max(0, Math.min(byLifetime, byAge) - ageMs);
}

/**
 * From a failed login to the next one.
 * `consecutive` counts the failures of this class in a row, this one included: 1 for the first.
 */
export function retryDelayMs(
  failure: LoginFailure,
  consecutive: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  const own = failure === 'refused' ? refusedDelayMs(consecutive, random) : backoffMs(consecutive, random);
  const asked = Math.min(retryAfterMs ?? 0, MAX_DELAY_MS);
  return Math.max(own, asked);
}

/** Exponential backoff with full jitter between 1 s and a ceiling that doubles up to 60 s. */
function backoffMs(consecutive: number, random: number): number {
  const ceiling = Math.min(MAX_BACKOFF_MS, LOGIN_FLOOR_MS * 2 ** Math.min(consecutive - 1, 16));
  return LOGIN_FLOOR_MS + (ceiling - LOGIN_FLOOR_MS) * random;
}

/**
 * Wrong credentials don't get right by asking: 30 s, doubling to 5 min. A sixth of it is by chance, at the upper
 * end too: many proxies with the same credentials must not come in step.
 */
function refusedDelayMs(consecutive: number, random: number): number {
  const longest = Math.min(MAX_DELAY_MS, 1.2 * MIN_REFUSED_DELAY_MS * 2 ** Math.min(consecutive - 1, 8));
  return Math.max(MIN_REFUSED_DELAY_MS, longest * (1 - random / 6));
}

/** What the loop decides from; all in milliseconds from now, zero or less for "it is time". */
export interface Needs {
  /** A usable token is at hand. */
  readonly usable: boolean;
  /** Until the token's renewal, by whichever clock is further. */
  readonly renewInMs: number;
  /** Until the end of the backoff; zero when the last login succeeded. */
  readonly retryInMs: number;
  /** Until another login may start at all. */
  readonly floorInMs: number;
}

/** Until the next login; always finite and never negative. */
export function loginDelayMs({ usable, renewInMs, retryInMs, floorInMs }: Needs): number {
  return Math.max(0, floorInMs, retryInMs, usable ? renewInMs : 0);
}
