import type { Clock } from '../base/clock.ts';
import { parseHttpDate } from './http-date.ts';
import type { SessionAnswer } from './session-answer.ts';

/** What is signed for a server has to be right by that server's clock, which its answers tell by their `Date`. */
export class ServerClock {
  readonly #clock: Clock;
  #skewMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Its time now, as far as it is known: never later than it is there, since an `iat` in the future is refused. */
  wallMs(): number {
    return this.#clock.wallMs() - this.#skewMs;
  }

  /** By how much this machine's clock is ahead; 0 while that lies within what `Date` can tell, which is whole seconds. */
  get skewMs(): number {
    return this.#skewMs;
  }

  learn({ headers, receivedWallMs, elapsedMs }: SessionAnswer): void {
    const dateMs = parseHttpDate(headers.date);
    if (dateMs === undefined) return;
    const ahead = receivedWallMs - dateMs;
    this.#skewMs = ahead >= 0 && ahead <= 999 + elapsedMs ? 0 : ahead;
  }
}

/** For a message: `300 s ahead of`, `42 s behind`. */
export function skewText(skewMs: number): string {
  return `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
}
