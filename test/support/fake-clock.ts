import type { Clock } from '../../src/base/clock.ts';

interface Sleeper {
  readonly wakesMonoMs: number;
  readonly wake: () => void;
}

/**
 * Time in a test's hand. Nothing passes by itself: `advance` moves both clocks and wakes sleepers in the order of
 * their times; `stepWall` sets the wall clock; `suspend` is a machine asleep, whose monotonic clock
 * (and timers with it) stops.
 */
export class FakeClock implements Clock {
  #wallMs: number;
  #monoMs = 1_000;
  readonly #sleepers = new Set<Sleeper>();

  constructor(wallMs = Date.UTC(2026, 0, 2, 3, 4, 5)) {
    this.#wallMs = wallMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  monoMs(): number {
    return this.#monoMs;
  }

  /** Sleepers that have neither woken nor been aborted. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!Number.isFinite(ms)) throw new Error(`sleep(${ms})`);
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { wakesMonoMs: this.#monoMs + Math.max(0, Math.ceil(ms)), wake };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  /** Lets `ms` milliseconds pass. A timer that fires on the way may set another, which fires too. */
  async advance(ms: number): Promise<void> {
    const endMonoMs = this.#monoMs + ms;
    await this.settle();
    for (let next = this.#next(endMonoMs); next !== undefined; next = this.#next(endMonoMs)) {
      this.#pass(next.wakesMonoMs - this.#monoMs);
      next.wake();
      await this.settle();
    }
    this.#pass(endMonoMs - this.#monoMs);
    await this.settle();
  }

  /** Sets the wall clock forward, or back with a negative number. */
  async stepWall(ms: number): Promise<void> {
    this.#wallMs += ms;
    await this.settle();
  }

  /** The machine sleeps: the wall clock goes on, timers and the monotonic clock do not. */
  suspend(ms: number): Promise<void> {
    return this.stepWall(ms);
  }

  /** Until every promise chain that can go on without time passing has done so. */
  settle(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  #pass(ms: number): void {
    if (ms <= 0) return;
    this.#wallMs += ms;
    this.#monoMs += ms;
  }

  /** Who wakes first, up to a time; of two at the same time, who went to sleep first. */
  #next(limitMonoMs: number): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of this.#sleepers) {
      if (
        sleeper.wakesMonoMs <= limitMonoMs &&
        (first === undefined || sleeper.wakesMonoMs < first.wakesMonoMs)
      ) {
        first = sleeper;
      }
    }
    return first;
  }
}
