import type { Event } from '../base/events.ts';
import { describe, type Line } from './event-line.ts';

type Described = Parameters<typeof describe>[0];
type LoginFailed = Extract<Event, { type: 'login-failed' }>;

/** A failure that goes on is told again at most this often. */
const AGAIN_MS = 30_000;

interface Reported {
  readonly words: string;
  readonly sinceMs: number;
  times: number;
  toldMs: number;
}

/** For a person who watches: a login that fails again and again in one way is told once, and then how often. */
export class RepeatedFailures {
  readonly #told = new Map<string, Reported>();

  /** @returns undefined for what the line before has said already */
  lineFor(event: Described, nowMs: number): Line | undefined {
    if (event.type === 'login-succeeded') this.#told.delete(event.credential);
    if (event.type !== 'login-failed') return describe(event);
    const words = wordsOf(event);
    const told = this.#told.get(event.credential);
    if (told?.words !== words) {
      this.#told.set(event.credential, { words, sinceMs: nowMs, times: 1, toldMs: nowMs });
      return describe(event);
    }
    told.times++;
    if (nowMs - told.toldMs < AGAIN_MS) return undefined;
    told.toldMs = nowMs;
    return stillFailing(event, told, nowMs);
  }
}

/** What makes a failure another one: also that there is no token any more. */
function wordsOf({ error, usable, state }: LoginFailed): string {
  return JSON.stringify([error.message, usable, state]);
}

function stillFailing(
  { credential, error, usable, nextTryInMs }: LoginFailed,
  told: Reported,
  nowMs: number,
): Line {
  const seconds = Math.round((nowMs - told.sinceMs) / 1000);
  return [
    error.code === 'refused' || !usable ? 'error' : 'warn',
    { credential, reason: error.code, nextTryInSeconds: Math.round(nextTryInMs / 1000) },
    `still no login, for the same reason: ${told.times} tries in ${seconds} s`,
  ];
}
