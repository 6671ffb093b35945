/**
 * The program's time. A test replaces it by a clock of its own.
 *
 * Two clocks, because neither is enough: the wall clock jumps when it is set, and the monotonic
 * clock stops while the machine sleeps.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch, by the machine's own clock. */
  wallMs(): number;
  /** Milliseconds since an arbitrary start; never goes back. */
  monoMs(): number;
  /**
   * Resolves after `ms` milliseconds, or as soon as `signal` aborts; it never rejects.
   * `ms` may be any finite number; a longer delay than a timer can hold is cut to the longest.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay that setTimeout takes; one millisecond more and it fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monoMs: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(ms, 0), MAX_TIMER_MS));
      signal?.addEventListener('abort', done, { once: true });
    });
  },
};
