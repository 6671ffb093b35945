import type { Clock } from '../../base/clock.ts';
import { type Deadline, deadlineIn, untilMs } from '../../base/deadline.ts';
import type { Secret } from '../../base/secret.ts';
import { Searcher } from './searcher.ts';

/** A key that a reload has replaced is often valid for a while, so that all its users can change. */
const RETIRED_MS = 24 * 60 * 60 * 1000;
/** One that changes every minute must not make the search dear. */
const MOST_RETIRED = 16;

/**
 * All that must not come back in an answer, whatever request sent it: the configuration's secrets, those that a reload
 * has replaced, and every token until its end. One search for all of them is shared by all answers, and made anew by the
 * first that comes after a change.
 */
export class KnownSecrets {
  readonly #clock: Clock;
  /** Each character a byte, as it is sent. */
  #configured: ReadonlySet<string> = new Set();
  readonly #retired = new Map<string, Deadline>();
  readonly #tokens = new Map<string, Deadline>();
  #searcher: Searcher | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes a configuration's secrets in place of those before. */
  configure(secrets: readonly Secret[]): void {
    const configured = new Set(secrets.map(asSent));
    for (const value of this.#configured) {
      if (!configured.has(value)) this.#retired.set(value, deadlineIn(RETIRED_MS, this.#clock));
    }
    for (const value of configured) this.#retired.delete(value);
    for (const value of this.#retired.keys()) {
      if (this.#retired.size > MOST_RETIRED) this.#retired.delete(value);
    }
    this.#configured = configured;
    this.#searcher = undefined;
  }

  /** A token that has been got, by whatever login. */
  add(token: Secret, expires: Deadline): void {
    const value = asSent(token);
    const known = this.#tokens.get(value);
    const later = known === undefined || untilMs(known, this.#clock) < untilMs(expires, this.#clock);
    if (later) this.#tokens.set(value, expires);
    if (known === undefined) this.#searcher = undefined;
  }

  /** The same one until something changes. */
  get searcher(): Searcher {
    if (this.#searcher === undefined) {
      this.#forgetExpired();
      this.#searcher = new Searcher([...this.#configured, ...this.#retired.keys(), ...this.#tokens.keys()]);
    }
    return this.#searcher;
  }

  /** Only when something new has come: what is searched for a little longer does no harm. */
  #forgetExpired(): void {
    for (const known of [this.#retired, this.#tokens]) {
      for (const [value, end] of known) if (untilMs(end, this.#clock) <= 0) known.delete(value);
    }
  }
}

/** A secret as it is sent, a character for each byte: what is searched for. */
export const asSent = (secret: Secret): string => secret.asBytes().expose();
