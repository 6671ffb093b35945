import type { Clock } from '../base/clock.ts';
import { type Member, Members } from '../base/members.ts';

/** Something with a time limit. Progress resets the limit. */
export interface Watched extends Member {
  /** On the monotonic clock; Infinity for no limit. */
  deadlineMonoMs: number;
  /** Called from a timer once the deadline has passed; must not throw. */
  expire(nowMonoMs: number): void;
}

/** The moment at which a limit that begins now has passed; 0 means no limit. */
export function deadline(clock: Clock, limitMs: number): number {
  return limitMs === 0 ? Number.POSITIVE_INFINITY : clock.monoMs() + limitMs;
}

const LONGEST_INTERVAL_MS = 1_000;
const SHORTEST_INTERVAL_MS = 20;

/**
 * One timer for all requests under way; it stops when there are none. A timer for each request, restarted by each piece of a
 * body, costs more than the piece. Checking all of them at an interval costs next to nothing, and notices a passed
 * limit at most a tenth of it, or 20 ms, too late.
 */
export class Watchdog {
  readonly #clock: Clock;
  readonly #watched = new Members<Watched>();
  #intervalMs = LONGEST_INTERVAL_MS;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#watched.size;
  }

  /** How many of the watched are of this class. */
  count(kind: abstract new (...args: never[]) => Watched): number {
    let count = 0;
    for (const watched of this.#watched) if (watched instanceof kind) count++;
    return count;
  }

  /** @param limitsMs all limits in use, 0 for none: the watchdog checks ten times within the shortest */
  setLimits(limitsMs: readonly number[]): void {
    const shortest = Math.min(...limitsMs.filter((ms) => ms > 0), LONGEST_INTERVAL_MS * 10);
    this.#intervalMs = Math.max(SHORTEST_INTERVAL_MS, Math.min(LONGEST_INTERVAL_MS, shortest / 10));
    this.stop();
    if (this.size > 0) this.#begin();
  }

  add(watched: Watched): void {
    this.#watched.add(watched);
    if (this.#timer === undefined) this.#begin();
  }

  delete(watched: Watched): void {
    this.#watched.delete(watched);
  }

  #begin(): void {
    this.#timer = setInterval(() => this.#sweep(), this.#intervalMs).unref();
  }

  #sweep(): void {
    if (this.size === 0) this.stop();
    const now = this.#clock.monoMs();
    for (const watched of this.#watched) {
      if (now >= watched.deadlineMonoMs) watched.expire(now);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
