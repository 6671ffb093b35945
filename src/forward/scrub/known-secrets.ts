import type { Clock } from '../../base/clock.ts';
import { type Deadline, deadlineIn, untilMs } from '../../base/deadline.ts';
import type { Secret } from '../../base/secret.ts';
import { Searcher } from './searcher.ts';

/** A key that a reload has replaced often stays valid for a while, until all its users have changed. */
const RETIRED_MS = 24 * 60 * 60 * 1000;
/** A key that changes every minute may not make the search expensive. */
const MAX_RETIRED = 16;

/**
 * The values that no answer may hold, whichever request it answers: the secrets of the configuration, those that a reload
 * has replaced, and every token until it expires. All answers share one search for them; after a change, the next answer
 * makes a new one.
 */
export class KnownSecrets {
  readonly #clock: Clock;
  /** As sent: each character is a byte. */
  #configured: ReadonlySet<string> = new Set();
  readonly #retired = new Map<string, Deadline>();
  readonly #tokens = new Map<string, Deadline>();
  #searcher: Searcher | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Replaces the configuration's secrets; those that it no longer has are searched for during another day. */
  configure(secrets: readonly Secret[]): void {
    const configured = new Set(secrets.map(asSent));
    for (const value of this.#configured) {
      if (!configured.has(value)) this.#retired.set(value, deadlineIn(RETIRED_MS, this.#clock));
    }
    for (const value of configured) this.#retired.delete(value);
    for (const value of this.#retired.keys()) {
      if (this.#retired.size > MAX_RETIRED) this.#retired.delete(value);
    }
    this.#configured = configured;
    this.#searcher = undefined;
  }

  /** Adds a token that a login has brought. */
  add(token: Secret, expires: Deadline): void {
    this.#forgetExpired(); // Here, too: there may be no search for a long time, or no route with scrub.
    const value = asSent(token);
    const known = this.#tokens.get(value);
    const later = known === undefined || untilMs(known, this.#clock) < untilMs(expires, this.#clock);
    if (later) this.#tokens.set(value, expires);
    if (known === undefined) this.#searcher = undefined;
  }

  /** Stays the same until something is added or replaced. */
  get searcher(): Searcher {
    if (this.#searcher === undefined) {
      this.#forgetExpired();
      this.#searcher = new Searcher([...this.#configured, ...this.#retired.keys(), ...this.#tokens.keys()]);
    }
    return this.#searcher;
  }

  /** The present search stays: searching for an expired token a little longer does no harm. */
  #forgetExpired(): void {
    for (const known of [this.#retired, this.#tokens]) {
      for (const [value, end] of known) if (untilMs(end, this.#clock) <= 0) known.delete(value);
    }
  }
}

/** A secret as it is sent, a character for each byte. */
export const asSent = (secret: Secret): string => secret.asBytes().expose();
