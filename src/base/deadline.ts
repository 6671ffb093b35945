import type { Clock } from './clock.ts';

/**
 * A moment on two clocks, reached when the first clock reaches it. The monotonic clock stops while the machine sleeps,
 * and the wall clock may be set back: neither can put the moment off.
 */
export interface Deadline {
  readonly wallMs: number;
  readonly monoMs: number;
}

export function deadlineIn(ms: number, clock: Clock): Deadline {
  return { wallMs: clock.wallMs() + ms, monoMs: clock.monoMs() + ms };
}

/** Milliseconds until the deadline; zero or less after it. */
export function untilMs(deadline: Deadline, clock: Clock): number {
  return Math.min(deadline.wallMs - clock.wallMs(), deadline.monoMs - clock.monoMs());
}

/** The same moment, after the wall clock was set back by `setBackMs`. */
export function afterSetBack(deadline: Deadline, setBackMs: number): Deadline {
  return { ...deadline, wallMs: deadline.wallMs - setBackMs };
}
