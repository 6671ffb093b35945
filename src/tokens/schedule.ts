import type { LoginFailure } from '../base/login-error.ts';

/**
 * When to log in. Pure: everything that decides is an argument, also chance (`random` in [0, 1)).
 */

/** At most one login in this time for each credential, whatever asks for it. */
export const LOGIN_FLOOR_MS = 1_000;
/**
 * A request whose token was rejected waits for another one this long, or for `tokenWait` if that is longer. A login by
 * HTTP has 10 s, and may have to wait for the floor; a command, or the lock of a fleet, may take longer.
 */
export const REPLACEMENT_WAIT_MS = LOGIN_FLOOR_MS + 10_000;
/** Upstreams' 401s cause at most one renewal in this time for each credential. */
export const FORCED_RENEWAL_FLOOR_MS = 10_000;
/** The loop checks the wall clock at least this often, and so notices that the machine slept. */
export const LONGEST_SLEEP_MS = 30_000;
const MAX_BACKOFF_MS = 60_000;
const MIN_REFUSED_DELAY_MS = 30_000;
/** The longest `Retry-After` that is obeyed, and the longest pause after a refusal. */
const MAX_DELAY_MS = 300_000;

/**
 * The time from a token's arrival to its renewal: at 72 to 80 % of its life, or up to 10 % before `renewAfterMs` if that
 * is sooner.
 *
 * @param ageMs the age of the token on arrival
 */
export function renewalDelayMs(lifetimeMs: number, renewAfterMs: number, random: number, ageMs = 0): number {
  const byLifetime = (ageMs + lifetimeMs) * (0.72 + 0.08 * random);
  const byAge = renewAfterMs * (1 - 0.1 * random);
  return Math.max(0, Math.min(byLifetime, byAge) - ageMs);
}

/**
 * The pause after a failed login.
 *
 * @param consecutive failures of this class in a row, this one included
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
 * Wrong credentials stay wrong: 30 s, doubling to 5 min. A sixth of each pause is random, so that many proxies with the
 * same credentials don't retry in step.
 */
function refusedDelayMs(consecutive: number, random: number): number {
  const longest = Math.min(MAX_DELAY_MS, 1.2 * MIN_REFUSED_DELAY_MS * 2 ** Math.min(consecutive - 1, 8));
  return Math.max(MIN_REFUSED_DELAY_MS, longest * (1 - random / 6));
}

/** What the time of the next login depends on, in milliseconds from now. */
interface Needs {
  /** There is a usable token. */
  readonly usable: boolean;
  /** Until the token's renewal, by the clock that is further ahead. */
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
