import type { RateLimit } from '../config/values/rates.ts';

/**
 * A token bucket: it holds as many requests as the limit allows, and fills evenly. Pure: it gets the time as an argument,
 * and does nothing between two requests.
 *
 * Counts in whole numbers, so that nothing is rounded: a request costs `perMs`, and each millisecond adds `requests`. So a
 * request that comes back after its wait always passes. The highest level, 1,000,000 × 24 h in milliseconds, is far below
 * 2^53.
 */
export class RateBucket {
  readonly limit: RateLimit;
  #level: number;
  #atMs: number;

  /** @param monoMs monotonic milliseconds; fractions are dropped */
  constructor(limit: RateLimit, monoMs: number) {
    this.limit = limit;
    this.#level = limit.requests * limit.perMs;
    this.#atMs = Math.floor(monoMs);
  }

  /** Milliseconds until a request passes; 0 if one passes now. Takes nothing from the bucket. */
  waitMs(monoMs: number): number {
    this.#fill(monoMs);
    const { requests, perMs } = this.limit;
    return Math.max(0, Math.ceil((perMs - this.#level) / requests));
  }

  /** Takes one request from the bucket; call it only after `waitMs` gave 0. */
  take(): void {
    this.#level -= this.limit.perMs;
  }

  /** How many requests would pass now, one after the other. */
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
