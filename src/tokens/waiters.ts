import type { Clock } from '../base/clock.ts';

/** Promises of one value, each with its own time limit. */
export class Waiters<T> {
  readonly #clock: Clock;
  readonly #waiting = new Set<{ resolve(value: T): void; reject(error: Error): void }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves with the value, rejects with `late()` after `limitMs`, or with the signal's reason when it aborts. */
  wait(limitMs: number, late: () => Error, signal?: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const over = new AbortController();
      const leave = () => {
        this.#waiting.delete(waiter);
        over.abort();
        signal?.removeEventListener('abort', aborted);
      };
      const waiter = {
        resolve: (value: T) => {
          leave();
          resolve(value);
        },
        reject: (error: Error) => {
          leave();
          reject(error);
        },
      };
      const aborted = () =>
        waiter.reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      this.#waiting.add(waiter);
      signal?.addEventListener('abort', aborted, { once: true });
      if (signal?.aborted) return aborted();
      void this.#clock.sleep(limitMs, over.signal).then(() => {
        if (this.#waiting.has(waiter)) waiter.reject(late());
      });
    });
  }

  resolveAll(value: T): void {
    for (const waiter of [...this.#waiting]) waiter.resolve(value);
  }

  rejectAll(reason: () => Error): void {
    for (const waiter of [...this.#waiting]) waiter.reject(reason());
  }
}
