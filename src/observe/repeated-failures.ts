import { describe, type Line, type LoginFailed, severityOf } from './event-line.ts';

type Described = Parameters<typeof describe>[0];

/** A lasting failure is logged again at most this often. */
const AGAIN_MS = 30_000;

interface Reported {
  readonly words: string;
  readonly sinceMs: number;
  times: number;
  loggedMs: number;
}

/** For people: a login that keeps failing in the same way is logged once, and later with a count. */
export class RepeatedFailures {
  readonly #logged = new Map<string, Reported>();

  /** @returns undefined for a failure that was already logged */
  lineFor(event: Described, nowMs: number): Line | undefined {
    if (event.type === 'login-succeeded') this.#logged.delete(event.credential);
    if (event.type !== 'login-failed') return describe(event);
    const words = wordsOf(event);
    const logged = this.#logged.get(event.credential);
    if (logged?.words !== words) {
      this.#logged.set(event.credential, { words, sinceMs: nowMs, times: 1, loggedMs: nowMs });
      return describe(event);
    }
    logged.times++;
    if (nowMs - logged.loggedMs < AGAIN_MS) return undefined;
    logged.loggedMs = nowMs;
    return stillFailing(event, logged, nowMs);
  }
}

/** Two failures with equal words are the same; the loss of the token makes another one. */
function wordsOf({ error, usable, state }: LoginFailed): string {
  return JSON.stringify([error.message, usable, state]);
}

function stillFailing(event: LoginFailed, logged: Reported, nowMs: number): Line {
  const { credential, error, nextTryInMs } = event;
  const seconds = Math.round((nowMs - logged.sinceMs) / 1000);
  return [
    severityOf(event),
    { credential, reason: error.code, nextTryInSeconds: Math.round(nextTryInMs / 1000) },
    `still no login, for the same reason: ${logged.times} tries in ${seconds} s`,
  ];
}
