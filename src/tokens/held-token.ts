import type { Clock } from '../base/clock.ts';
import { afterSetBack, type Deadline, deadlineIn, untilMs } from '../base/deadline.ts';
import { type AccessToken, isUsable } from '../login/access-token.ts';
import { WallWatch } from './wall-watch.ts';

/** The present token and the time of its renewal. The token is dropped when it may no longer be sent. */
export class HeldToken {
  readonly #clock: Clock;
  readonly #wall: WallWatch;
  readonly #expired: (token: AccessToken) => void;
  #token: AccessToken | undefined;
  #renewAt: Deadline = { wallMs: 0, monoMs: 0 };

  /** @param expired called with each token that expires */
  constructor(clock: Clock, expired: (token: AccessToken) => void) {
    this.#clock = clock;
    this.#wall = new WallWatch(clock);
    this.#expired = expired;
  }

  /** The token while it may be sent. */
  get current(): AccessToken | undefined {
    const setBackMs = this.#wall.setBackMs();
    if (setBackMs > 0) this.#moveDeadlines(setBackMs);
    const token = this.#token;
    if (token === undefined || isUsable(token, this.#clock)) return token;
    this.#token = undefined;
    this.#expired(token);
    return undefined;
  }

  /** Milliseconds until the renewal; zero or less if it is due. */
  get renewInMs(): number {
    return untilMs(this.#renewAt, this.#clock);
  }

  hold(token: AccessToken, renewInMs: number): void {
    this.#token = token;
    this.#renewAt = deadlineIn(renewInMs, this.#clock);
  }

  renewIn(ms: number): void {
    this.#renewAt = deadlineIn(ms, this.#clock);
  }

  drop(): void {
    this.#token = undefined;
  }

  #moveDeadlines(setBackMs: number): void {
    this.#renewAt = afterSetBack(this.#renewAt, setBackMs);
    if (this.#token === undefined) return;
    const { expires, usableUntil } = this.#token;
    this.#token = {
      ...this.#token,
      expires: afterSetBack(expires, setBackMs),
      usableUntil: afterSetBack(usableUntil, setBackMs),
    };
  }
}
