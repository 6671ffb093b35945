import type { Clock } from '../base/clock.ts';

/** Less than this is the slewing of a time service, and rounding. */
const NOTICEABLE_MS = 1_000;

/**
 * Notices when the wall clock is set back. A deadline from before would come too late by as much if the machine then
 * sleeps, since only the wall clock goes on meanwhile.
 */
export class WallWatch {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = this.#readOffset();
  }

  /** Milliseconds by which the wall clock was set back since the last call; mostly 0. */
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
