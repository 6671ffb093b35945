import { ClosedError } from '../base/errors.ts';

interface Waiter {
  resolve(): void;
  reject(error: Error): void;
}

/** Callers that wait until every credential in use has a token. */
export class Readiness {
  readonly #isReady: () => boolean;
  #waiters: Waiter[] = [];
  #ended = false;

  constructor(isReady: () => boolean) {
    this.#isReady = isReady;
  }

  wait(): Promise<void> {
    if (this.#ended) return Promise.reject(new ClosedError());
    if (this.#isReady()) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  /** Call it after each event that may make the proxy ready. */
  readonly look = (): void => {
    if (this.#waiters.length === 0 || !this.#isReady()) return;
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  };

  end(): void {
    this.#ended = true;
    for (const { reject } of this.#waiters.splice(0)) reject(new ClosedError());
  }
}
