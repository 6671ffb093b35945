import type { Clock } from '../base/clock.ts';

/** Less than this is the slewing of a time service, and rounding. */
const NOTICEABLE_MS = 1_000;

/**
 * Notices when the wall clock is set back. A time that was noted before would else come too late by as much, if the
 * machine sleeps afterwards: then the wall clock is the only one that goes on.
 */
export class WallWatch {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = this.#readOffset();
  }

  /** By how much the wall clock has been set back since the last look; mostly 0. */
  setBackMs(): number {
    const before = this.#offsetMs;
    const now = this.#readOffset();
    // A little at a time, it must not go unnoticed: what is not noticed now stays to be noticed.
    if (now < before && before - now < NOTICEABLE_MS) return 0;
    this.#offsetMs = now;
    return Math.max(0, before - now);
  }

  #readOffset(): number {
    return this.#clock.wallMs() - this.#clock.monoMs();
  }
}
