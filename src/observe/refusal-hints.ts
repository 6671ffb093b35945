import type { RequestEvent } from '../base/events.ts';
import type { ProblemCode } from '../base/problem.ts';
import type { Line } from './event-line.ts';
import { isRefusal, remedyFor, TOLD_ELSEWHERE } from './why/why.ts';

/** A code or a status is explained again at most this often: clients choose how many requests are refused. */
const AGAIN_MS = 60_000;

/** For a person who watches: what to do about a refusal, after the line of the request that has only its code or status. */
export class RefusalHints {
  readonly #toldMs = new Map<ProblemCode | number, number>();

  /** @returns undefined if nothing was refused, or the hint has been given already */
  lineFor(event: RequestEvent, nowMs: number): Line | undefined {
    const { code, status, aborted, requestId } = event;
    if (code === undefined ? aborted || !isRefusal(status) : TOLD_ELSEWHERE.has(code)) return undefined;
    const what = code ?? status;
    if (nowMs - (this.#toldMs.get(what) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return undefined;
    this.#toldMs.set(what, nowMs);
    const remedy = remedyFor(event);
    return remedy === undefined ? undefined : ['info', { requestId }, `${what}: ${remedy}`];
  }
}
