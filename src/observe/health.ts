import type { Clock } from '../base/clock.ts';
import type { Observe } from '../base/events.ts';

const ERRORS = 10;
const WITHIN_MS = 60_000;

/** After many internal errors in a short time the process is unhealthy: a restart may help. */
export class Health {
  readonly #clock: Clock;
  /** The times of the last errors, the oldest first. */
  readonly #times: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly observe: Observe = ({ type }) => {
    if (type !== 'internal-error') return;
    this.#times.push(this.#clock.monoMs());
    if (this.#times.length > ERRORS) this.#times.shift();
  };

  get healthy(): boolean {
    const [oldest] = this.#times;
    if (oldest === undefined || this.#times.length < ERRORS) return true;
    return this.#clock.monoMs() - oldest > WITHIN_MS;
  }
}
