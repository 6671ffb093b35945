import type { Clock } from '../../base/clock.ts';

/** The least pause between two looks, if no message comes. Chance adds up to half of it. */
const PATROL_MS = 30_000;
/** The least pause between two looks after a message, so that no other instance can keep this one busy. */
const LOOK_GAP_MS = 50;

interface LookoutOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Calls back when there may be something new. @returns stops that */
  readonly listen: (wake: () => void) => () => void;
  readonly look: () => Promise<void>;
}

/** Looks at the engine, once at a time, when there may be something new: after a message or a reconnect, and at intervals. */
export class Lookout {
  readonly #options: LookoutOptions;
  readonly #closed = new AbortController();
  readonly #stopListening: () => void;
  #wokenMonoMs = Number.NEGATIVE_INFINITY;
  #wake = new AbortController();

  constructor(options: LookoutOptions) {
    this.#options = options;
    this.#stopListening = options.listen(() => {
      this.#wokenMonoMs = options.clock.monoMs();
      this.#wake.abort();
    });
  }

  /** Aborts when there may be something that the next look would show. */
  get nextWake(): AbortSignal {
    if (this.#wake.signal.aborted) this.#wake = new AbortController();
    return this.#wake.signal;
  }

  /** True if no message or reconnect came for this long. */
  quietFor(ms: number): boolean {
    return this.#options.clock.monoMs() >= this.#wokenMonoMs + ms;
  }

  /** Runs until `close`. */
  async run(): Promise<void> {
    const { clock, random, look } = this.#options;
    while (!this.#closed.signal.aborted) {
      const wake = this.nextWake;
      await look();
      await clock.sleep(LOOK_GAP_MS, this.#closed.signal);
      const either = AbortSignal.any([wake, this.#closed.signal]);
      await clock.sleep(PATROL_MS * (1 + 0.5 * random()), either);
    }
  }

  close(): void {
    this.#closed.abort();
    this.#stopListening();
  }
}
