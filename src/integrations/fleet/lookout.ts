import type { Clock } from '../../base/clock.ts';

/** The pause between two looks without a message; up to half as much more, by chance. */
const PATROL_MS = 30_000;
/** The least time between two looks on request, so that no other instance can keep this one looking. */
const LOOK_GAP_MS = 50;

export interface LookoutOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Calls back when there may be something new. Gives a function that ends this. */
  readonly listen: (wake: () => void) => () => void;
  readonly look: () => Promise<void>;
}

/** Looks when there may be something new: at a message, when the connection is back, and now and then. One look at a time. */
export class Lookout {
  readonly #options: LookoutOptions;
  readonly #closed = new AbortController();
  readonly #stopListening: () => void;
  #calledMonoMs = Number.NEGATIVE_INFINITY;
  #call = new AbortController();

  constructor(options: LookoutOptions) {
    this.#options = options;
    this.#stopListening = options.listen(() => {
      this.#calledMonoMs = options.clock.monoMs();
      this.#call.abort();
    });
  }

  /** Aborts as soon as there may be something that a look from now on would show. */
  get nextCall(): AbortSignal {
    if (this.#call.signal.aborted) this.#call = new AbortController();
    return this.#call.signal;
  }

  /** Whether nothing has been heard for this long. */
  quietFor(ms: number): boolean {
    return this.#options.clock.monoMs() >= this.#calledMonoMs + ms;
  }

  /** Until `close`. */
  async run(): Promise<void> {
    const { clock, random, look } = this.#options;
    while (!this.#closed.signal.aborted) {
      const call = this.nextCall;
      await look();
      await clock.sleep(LOOK_GAP_MS, this.#closed.signal);
      const either = AbortSignal.any([call, this.#closed.signal]);
      await clock.sleep(PATROL_MS * (1 + 0.5 * random()), either);
    }
  }

  close(): void {
    this.#closed.abort();
    this.#stopListening();
  }
}
