import type { RequestEvent } from '../../base/events.ts';
import type { Trouble } from './trouble.ts';
import { isFailed, remedyFor } from './why.ts';

/** One refusal is often meant: only several in a row count. */
const IN_A_ROW = 3;

/** The newest answers of a route, as long as they have the same status. */
interface Run {
  readonly last: RequestEvent;
  first: RequestEvent;
  times: number;
  isOver: boolean;
}

/**
 * Routes whose upstream refuses all requests of late: the newest three answers or more have the same status, which
 * counts as a failure.
 *
 * @param requests the newest first
 * @param bootMs the wall clock at zero of the monotonic clock
 */
export function refusedRoutes(requests: readonly RequestEvent[], bootMs: number): Trouble[] {
  const runs = new Map<string, Run>();
  for (const request of requests) {
    const { route, status, code, aborted } = request;
    if (code !== undefined || aborted) continue; // The upstream gave no whole answer.
    const run = runs.get(route);
    if (run === undefined) runs.set(route, { last: request, first: request, times: 1, isOver: false });
    else if (run.isOver || run.last.status !== status) run.isOver = true;
    else {
      run.first = request;
      run.times++;
    }
  }
  return [...runs.values()]
    .filter(({ last, times }) => times >= IN_A_ROW && isFailed(last))
    .map(({ last, first, times }) => ({
      subject: `answers ${last.route}`,
      atMs: bootMs + endOf(last),
      sinceMs: bootMs + endOf(first),
      times,
      what: `The upstream refuses all requests of route ${last.route}: the last ${times} were answered with ${last.status}.`,
      remedy: remedyFor(last),
      lasts: true,
    }));
}

function endOf({ startedMonoMs, durationMs }: RequestEvent): number {
  return startedMonoMs + durationMs;
}
