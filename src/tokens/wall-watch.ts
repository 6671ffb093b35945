import type { Clock } from '../base/clock.ts';

/** A smaller step may be the slewing of a time service, or rounding. */
const NOTICEABLE_MS = 1_000;

/**
 * Notices that the wall clock was set back. If the machine then sleeps, only the wall clock advances, and a deadline from
 * before the step would come too late by that much.
 */
export class WallWatch {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = this.#readOffset();
  }

  /** Milliseconds by which the wall clock was set back since the last call. */
  setBackMs(): number {
    const before = this.#offsetMs;
    const now = this.#readOffset();
    // Small steps add up: a step that is not reported now is kept for the next call.
    if (now < before && before - now < NOTICEABLE_MS) return 0;
    this.#offsetMs = now;
    return Math.max(0, before - now);
  }

  #readOffset(): number {
    return this.#clock.wallMs() - this.#clock.monoMs();
  }
}
