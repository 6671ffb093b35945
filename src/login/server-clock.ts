import type { Clock } from '../base/clock.ts';
import { isWithinDatePrecision } from './expiry.ts';
import { parseHttpDate } from './http-date.ts';
import type { LoginAnswer } from './login-answer.ts';

/** The clock of a server, from the `Date` of its answers. Times that we sign are judged by it. */
export class ServerClock {
  readonly #clock: Clock;
  #skewMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server's time now, as far as known: ours less `skewMs`. */
  wallMs(): number {
    return this.#clock.wallMs() - this.#skewMs;
  }

  /** How far this machine's clock is ahead; 0 within the precision of `Date`, which has whole seconds. */
  get skewMs(): number {
    return this.#skewMs;
  }

  learn({ headers, receivedWallMs, elapsedMs }: LoginAnswer): void {
    const dateMs = parseHttpDate(headers.date);
    if (dateMs === undefined) return;
    const ahead = receivedWallMs - dateMs;
    this.#skewMs = isWithinDatePrecision(ahead, elapsedMs) ? 0 : ahead;
  }
}

/** For a message: `300 s ahead of`, `42 s behind`. */
export function skewText(skewMs: number): string {
  return `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'}`;
}
