import type { RateLimit } from '../config/config.ts';

/**
 * A token bucket: it holds as many requests as the limit allows, and fills evenly. Pure: it is told the time, and does
 * nothing between two requests.
 *
 * All is counted in whole numbers, without rounding: a request costs `perMs`, and each millisecond adds
 * `requests`. So a request that was told to come back in a second passes in a second, whatever was added up before.
 * The largest level, 1,000,000 × 24 h, is far below 2^53.
 */
export class RateBucket {
  readonly limit: RateLimit;
  #level: number;
  #atMs: number;

  /** @param monoMs monotonic milliseconds; parts of one are left out */
  constructor(limit: RateLimit, monoMs: number) {
    this.limit = limit;
    this.#level = limit.requests * limit.perMs;
    this.#atMs = Math.floor(monoMs);
  }

  /** Milliseconds until a request would pass; 0 where one passes now. Takes nothing. */
  waitMs(monoMs: number): number {
    this.#fill(monoMs);
    const { requests, perMs } = this.limit;
    return Math.max(0, Math.ceil((perMs - this.#level) / requests));
  }

  /** For a request that passes: `waitMs` has said so. */
  take(): void {
    this.#level -= this.limit.perMs;
  }

  /** Whole requests that would pass now, one after the other. */
  left(monoMs: number): number {
    this.#fill(monoMs);
    return Math.floor(this.#level / this.limit.perMs);
  }

  #fill(monoMs: number): void {
    const nowMs = Math.floor(monoMs);
    const { requests, perMs } = this.limit;
    this.#level = Math.min(requests * perMs, this.#level + (nowMs - this.#atMs) * requests);
    this.#atMs = nowMs;
  }
}
