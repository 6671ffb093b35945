import type { RequestEvent } from '../base/events.ts';
import { PROBLEM_REMEDIES } from '../base/failures/problem-remedies.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { Line } from './event-line.ts';

/** One code is explained again at most this often: clients choose how many requests are refused. */
const AGAIN_MS = 60_000;

/** A line of its own tells of these when the cause comes up. */
const TOLD_ELSEWHERE: ReadonlySet<ProblemCode> = new Set([
  'token-unavailable',
  'login-refused',
  'upstream-unreachable',
  'upstream-invalid',
  'upstream-timeout',
  'draining',
]);

/** For a person who watches: what to do about a request that bearerd refused, after the line that has only its code. */
export class RefusalHints {
  readonly #toldMs = new Map<ProblemCode, number>();

  /** @returns undefined where nothing was refused, or it has been said already */
  lineFor({ code, remedy, requestId }: RequestEvent, nowMs: number): Line | undefined {
    if (code === undefined || TOLD_ELSEWHERE.has(code)) return undefined;
    if (nowMs - (this.#toldMs.get(code) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return undefined;
    this.#toldMs.set(code, nowMs);
    return ['info', { requestId }, `${code}: ${remedy ?? PROBLEM_REMEDIES[code]}`];
  }
}
