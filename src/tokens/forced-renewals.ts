import type { Clock } from '../base/clock.ts';
import { FORCED_RENEWAL_FLOOR_MS } from './schedule.ts';

/**
 * Whether an upstream's 401 may end a token. One endpoint that always answers 401 (because a role is missing, say) must
 * neither cause endless logins nor take the token from all other endpoints.
 */
export class ForcedRenewals {
  readonly #clock: Clock;
  #pending = false;
  #protectedUntilMonoMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** False for a while after a forced renewal: its token is not ended by a 401. */
  get allowed(): boolean {
    return this.#clock.monoMs() >= this.#protectedUntilMonoMs;
  }

  /** The token was dropped; the next login that succeeds is its renewal. */
  begin(): void {
    this.#pending = true;
  }

  /** A login has succeeded. */
  end(): void {
    if (this.#pending) this.#protectedUntilMonoMs = this.#clock.monoMs() + FORCED_RENEWAL_FLOOR_MS;
    this.#pending = false;
  }
}
