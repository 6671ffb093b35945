import type { Clock } from '../../base/clock.ts';

/** A clock that runs a little fast or slow is off by less than this, or by a thousandth of the time since the last look. */
const NOTICEABLE_MS = 2_000;
const DRIFT = 1e-3;
const MOST = 10;

/** The wall clock went on by so much more than the monotonic one: set, or the machine slept. */
export interface Jump {
  /** Negative where it was set back. */
  readonly byMs: number;
  /** When it was noticed. */
  readonly noticedMonoMs: number;
}

/** Notices jumps of the wall clock, for people, each time that it is asked to look. */
export class ClockWatch {
  readonly #clock: Clock;
  #wallMs: number;
  #monoMs: number;
  #jumps: readonly Jump[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#wallMs = clock.wallMs();
    this.#monoMs = clock.monoMs();
  }

  look(): void {
    const wallMs = this.#clock.wallMs();
    const monoMs = this.#clock.monoMs();
    const passedMs = monoMs - this.#monoMs;
    const byMs = wallMs - this.#wallMs - passedMs;
    if (Math.abs(byMs) >= Math.max(NOTICEABLE_MS, passedMs * DRIFT))
      this.#jumps = [...this.#jumps, { byMs, noticedMonoMs: monoMs }].slice(-MOST);
    this.#wallMs = wallMs;
    this.#monoMs = monoMs;
  }

  /** The last ones, in their order. */
  get jumps(): readonly Jump[] {
    return this.#jumps;
  }
}
