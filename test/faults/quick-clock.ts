import { type Clock, systemClock } from '../../src/base/clock.ts';

/**
 * The system's clock, so much faster, and in a test's hand: pauses of a minute are waited for in a second or three.
 * Real sockets go on in real time meanwhile.
 */
export class QuickClock implements Clock {
  readonly speed: number;
  readonly #beganMs = performance.now();
  readonly #beganWallMs = Date.now();
  #setByMs = 0;
  #sleptMs = 0;

  constructor(speed: number) {
    this.speed = speed;
  }

  monoMs(): number {
    return (performance.now() - this.#beganMs) * this.speed;
  }

  wallMs(): number {
    return this.#beganWallMs + this.trueMs() + this.#setByMs;
  }

  /** What passes for everybody else: the machine's sleep counts, the settings of its clock don't. */
  trueMs(): number {
    return this.monoMs() + this.#sleptMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return systemClock.sleep(ms / this.speed, signal);
  }

  /** The wall clock is set. */
  set(byMs: number): void {
    this.#setByMs += byMs;
  }

  /** The machine sleeps: the monotonic clock stops, the wall clock doesn't. */
  suspend(ms: number): void {
    this.#sleptMs += ms;
  }
}
