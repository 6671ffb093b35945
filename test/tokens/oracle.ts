import type { Event } from '../../src/base/events.ts';

const S = 1_000;
/** The longest that a login takes while the endpoint is well, and what a request needs to get there. */
const LOGIN_MS = 300;
const TRANSIT_MS = 250;
/** The longest that one takes which began while it wasn't. */
const SLOW_LOGIN_MS = 10 * S;

/**
 * Knows the best that anybody could do by the rules: one login a second, none within a pause after a failure. A
 * request that is refused although that best has a token, is refused without need. By the monotonic clock.
 */
export class Oracle {
  /** Since when logins would succeed; undefined while they don't. */
  #wellSinceMs: number | undefined = 0;
  /** A login may begin then, and not before. */
  #mayLogInMs = 0;
  /** Of the last token that was got: until when it is good, as far as anybody can know. */
  #goodUntilMs = 0;
  #renewAtMs = Number.POSITIVE_INFINITY;

  /** The endpoint is well again, or isn't any more. */
  well(isWell: boolean, nowMs: number): void {
    if (!isWell) this.#wellSinceMs = undefined;
    else this.#wellSinceMs ??= nowMs;
  }

  /** What was known of the token isn't so: it was revoked, or a clock by which it is judged was set. */
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

  /** Why a refusal at this moment was needless; undefined where no better answer was possible. */
  avoidable(nowMs: number): string | undefined {
    if (nowMs < this.#goodUntilMs) return `a token is good for another ${this.#goodUntilMs - nowMs} ms`;
    if (this.#wellSinceMs === undefined) return undefined;
    const bestMs = Math.max(this.#wellSinceMs, this.#mayLogInMs) + S + LOGIN_MS;
    return nowMs > bestMs ? `a token could have been had ${nowMs - bestMs} ms before` : undefined;
  }

  /** True where a renewal is overdue, so that the next outage finds a token older than need be. */
  overdue(nowMs: number): boolean {
    if (this.#wellSinceMs === undefined) return false;
    const dueMs = Math.max(this.#renewAtMs, this.#wellSinceMs, this.#mayLogInMs);
    return nowMs > dueMs + S + LOGIN_MS;
  }
}
