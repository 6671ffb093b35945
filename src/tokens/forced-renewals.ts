import type { Clock } from '../base/clock.ts';
import { FORCED_RENEWAL_FLOOR_MS } from './schedule.ts';

/**
 * Whether an upstream's 401 may end a token. One endpoint that always says 401 (a missing role, say) must neither
 * make us log in all the time nor take the token from all other endpoints.
 */
export class ForcedRenewals {
  readonly #clock: Clock;
  #pending = false;
  #protectedUntilMonoMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Not while the token at hand is itself what a forced renewal has just got; so they are as far apart as that. */
  get allowed(): boolean {
    return this.#clock.monoMs() >= this.#protectedUntilMonoMs;
  }

  /** A token has been marked dead; whatever login succeeds next is its renewal. */
  begin(): void {
    this.#pending = true;
  }

  /** A login has succeeded. */
  end(): void {
    if (this.#pending) this.#protectedUntilMonoMs = this.#clock.monoMs() + FORCED_RENEWAL_FLOOR_MS;
    this.#pending = false;
  }
}
