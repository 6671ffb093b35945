import type { RequestEvent } from '../base/events.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { Line } from './event-line.ts';
import { remedyFor } from './why/why.ts';

/** A code or a status is explained again at most this often: clients choose how many requests are refused. */
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

/** Answers of the upstream that call for an action of the operator. */
const REFUSING: ReadonlySet<number> = new Set([401, 403, 407, 429]);

/** For a person who watches: what to do about a refusal, after the line of the request that has only its code or status. */
export class RefusalHints {
  readonly #toldMs = new Map<ProblemCode | number, number>();

  /** @returns undefined where nothing was refused, or the hint has been given already */
  lineFor(event: RequestEvent, nowMs: number): Line | undefined {
    const { code, status, aborted, requestId } = event;
    if (code === undefined ? aborted || !REFUSING.has(status) : TOLD_ELSEWHERE.has(code)) return undefined;
    const what = code ?? status;
    if (nowMs - (this.#toldMs.get(what) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return undefined;
    this.#toldMs.set(what, nowMs);
    const remedy = remedyFor(event);
    return remedy === undefined ? undefined : ['info', { requestId }, `${what}: ${remedy}`];
  }
}
