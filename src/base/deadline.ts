import type { Clock } from './clock.ts';

/**
 * A moment that has come as soon as either clock has reached it. The monotonic clock stops while the machine sleeps, and
 * the wall clock may be set back: neither may prolong anything.
 */
export interface Deadline {
  readonly wallMs: number;
  readonly monoMs: number;
}

export function deadlineIn(ms: number, clock: Clock): Deadline {
  return { wallMs: clock.wallMs() + ms, monoMs: clock.monoMs() + ms };
}

/** Milliseconds until then; zero or less when it is over. */
export function untilMs(deadline: Deadline, clock: Clock): number {
  return Math.min(deadline.wallMs - clock.wallMs(), deadline.monoMs - clock.monoMs());
}

/** The same moment after the wall clock was set back by `setBackMs`. */
export function afterSetBack(deadline: Deadline, setBackMs: number): Deadline {
  return { ...deadline, wallMs: deadline.wallMs - setBackMs };
}
