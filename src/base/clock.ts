/**
 * The program's time. Tests use a clock of their own.
 *
 * Two clocks, because neither is enough: the wall clock jumps when it is set, and the monotonic clock stops while the
 * machine sleeps.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch, by the machine's clock. */
  wallMs(): number;
  /** Milliseconds since an arbitrary moment; never goes back. */
  monoMs(): number;
  /**
   * Resolves after `ms` milliseconds, or when `signal` aborts; never rejects. A delay longer than a timer can hold is
   * cut to the longest.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest delay of `setTimeout`: with one millisecond more it fires at once. */
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
