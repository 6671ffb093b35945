import type { Event } from '../../src/base/events.ts';

const S = 1_000;
/** The longest login while the endpoint works, and the transit margin. */
const LOGIN_MS = 300;
const TRANSIT_MS = 250;
/** The longest login that began while the endpoint failed. */
const SLOW_LOGIN_MS = 10 * S;

/**
 * Knows the best that any source could do by the rules: one login a second, none in a pause after a failure. A refusal
 * is needless if the best source would have a token. All times are on the monotonic clock.
 */
export class Oracle {
  /** When logins began to succeed; undefined while they fail. */
  #wellSinceMs: number | undefined = 0;
  /** The earliest time of the next login. */
  #mayLogInMs = 0;
  /** The end of the last token's use, as far as the source can know. */
  #goodUntilMs = 0;
  #renewAtMs = Number.POSITIVE_INFINITY;

  /** The endpoint begins to work, or stops. */
  well(isWell: boolean, nowMs: number): void {
    if (!isWell) this.#wellSinceMs = undefined;
    else this.#wellSinceMs ??= nowMs;
  }

  /** The token was revoked, or a clock was set: its known end no longer holds. */
  disturbed(nowMs: number): void {
    this.#goodUntilMs = 0;
    this.#renewAtMs = Number.POSITIVE_INFINITY;
    if (this.#wellSinceMs !== undefined) this.#wellSinceMs = nowMs;
  }

  loginBegins(nowMs: number): void {
    this.#mayLogInMs = nowMs + (this.#wellSinceMs === undefined ? SLOW_LOGIN_MS : S);
  }

  hear(event: Event, nowMs: number): void {
    if (event.type === 'login-failed') this.#mayLogInMs = nowMs + event.nextTryInMs;
    if (event.type !== 'login-succeeded') return;
    this.#mayLogInMs = Math.min(this.#mayLogInMs, nowMs + S);
    this.#goodUntilMs = nowMs + event.lifetimeMs - TRANSIT_MS;
    this.#renewAtMs = nowMs + event.renewInMs;
  }

  /** Why a refusal at this moment was needless; undefined if no better answer was possible. */
  avoidable(nowMs: number): string | undefined {
    if (nowMs < this.#goodUntilMs) return `a token is good for another ${this.#goodUntilMs - nowMs} ms`;
    if (this.#wellSinceMs === undefined) return undefined;
    const bestMs = Math.max(this.#wellSinceMs, this.#mayLogInMs) + S + LOGIN_MS;
    return nowMs > bestMs ? `the best source would have a token for ${nowMs - bestMs} ms` : undefined;
  }

  /** True if a renewal is overdue: the next outage would meet a token older than necessary. */
  overdue(nowMs: number): boolean {
    if (this.#wellSinceMs === undefined) return false;
    const dueMs = Math.max(this.#renewAtMs, this.#wellSinceMs, this.#mayLogInMs);
    return nowMs > dueMs + S + LOGIN_MS;
  }
}
