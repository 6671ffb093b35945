import type { Clock } from '../clock.ts';

/** Something that must not stand still for longer than it may. */
export interface Watched {
  /** On the monotonic clock; Infinity for no limit. */
  deadlineMonoMs: number;
  /** Its place among those that are watched, or -1; the watchdog's own. */
  watchedAt: number;
  /** Called once the deadline has passed, from a timer: must not throw. */
  expire(nowMonoMs: number): void;
}

/** The moment at which a limit that begins now is over; a limit of 0 is none. */
export function deadline(clock: Clock, limitMs: number): number {
  return limitMs === 0 ? Number.POSITIVE_INFINITY : clock.monoMs() + limitMs;
}

const LONGEST_INTERVAL_MS = 1_000;
const SHORTEST_INTERVAL_MS = 20;

/**
 * One timer for all requests under way. A timer for each of them, moved with each piece of a body, costs more
 * than the piece; a glance at all of them once in a while costs nothing, and is late by a tenth at the most.
 */
export class Watchdog {
  readonly #clock: Clock;
  /**
   * Not a Set: V8 makes it a new table every so many additions, and an old table, dead but not yet collected, leads to
   * the new one and holds what was in it. A third of all garbage survived by that, and cost 15 µs a request.
   */
  readonly #watched: Watched[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#watched.length;
  }

  /** Says how short the limits may be (milliseconds, 0 for none): it looks ten times as often as that. */
  attend(limitsMs: readonly number[]): void {
    const shortest = Math.min(...limitsMs.filter((ms) => ms > 0), LONGEST_INTERVAL_MS * 10);
    const intervalMs = Math.max(SHORTEST_INTERVAL_MS, Math.min(LONGEST_INTERVAL_MS, shortest / 10));
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#sweep(), intervalMs).unref();
  }

  add(watched: Watched): void {
    watched.watchedAt = this.#watched.length;
    this.#watched.push(watched);
  }

  delete(watched: Watched): void {
    const at = watched.watchedAt;
    if (at === -1) return;
    watched.watchedAt = -1;
    const last = this.#watched.pop()!;
    if (last === watched) return;
    this.#watched[at] = last;
    last.watchedAt = at;
  }

  #sweep(): void {
    const now = this.#clock.monoMs();
    // From the end: the place of one that expires and leaves is taken by one that was looked at before.
    for (let i = this.#watched.length - 1; i >= 0; i--) {
      const watched = this.#watched[i];
      if (watched !== undefined && now >= watched.deadlineMonoMs) watched.expire(now);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
