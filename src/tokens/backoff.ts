import type { Clock } from '../base/clock.ts';
import type { LoginError } from '../base/login-error.ts';
import { retryDelayMs } from './schedule.ts';

export interface Failure {
  readonly error: LoginError;
  readonly atWallMs: number;
  /** Failures of this class in a row, this one included. */
  readonly consecutive: number;
}

/**
 * The last failure, and the pause that follows it. The pause is on the monotonic clock: setting the wall clock must not
 * cause a login.
 */
export class Backoff {
  failure: Failure | undefined;
  readonly #clock: Clock;
  readonly #random: () => number;
  #endsMonoMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The session endpoint has refused the credentials. */
  get refused(): boolean {
    return this.failure?.error.code === 'refused';
  }

  /** Milliseconds until the next login may start; zero if nothing failed or the pause is over. */
  get remainingMs(): number {
    return Math.max(0, this.#endsMonoMs - this.#clock.monoMs());
  }

  /** Begins a pause after a failure; gives its length in milliseconds. */
  begin(error: LoginError): number {
    // Refusals and other failures are counted separately: their pauses differ.
    const isSameKind = this.refused === (error.code === 'refused');
    const consecutive = isSameKind ? (this.failure?.consecutive ?? 0) + 1 : 1;
    const pauseMs = retryDelayMs(error.code, consecutive, error.retryAfterMs, this.#random());
    this.failure = { error, atWallMs: this.#clock.wallMs(), consecutive };
    this.#endsMonoMs = this.#clock.monoMs() + pauseMs;
    return pauseMs;
  }

  /** Ends the pause and keeps the failure, so that the next pause is longer. */
  cutShort(): void {
    this.#endsMonoMs = Number.NEGATIVE_INFINITY;
  }

  clear(): void {
    this.cutShort();
    this.failure = undefined;
  }
}
