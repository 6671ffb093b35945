import type { RequestEvent } from '../../base/events.ts';
import type { Trouble } from './trouble.ts';
import { endOf, isFailed, remedyFor, TOLD_ELSEWHERE } from './why.ts';

/** Of the requests that failed, the largest group that failed in one way. */
export interface MostFailed {
  readonly times: number;
  /** Goes on after "so many requests": `with 408 request-timeout`. */
  readonly how: string;
}

/** Fewer refusals are often meant. */
const MANY = 10;
const RECENT_MS = 60_000;
/** The latest moment that can be written as a date. */
const LATEST_MS = 8.64e15;

/** Null if none failed. */
export function mostFailed(requests: readonly RequestEvent[]): MostFailed | null {
  const groups = [...Map.groupBy(requests.filter(isFailed), howFailed)];
  const [largest] = groups.sort(([, a], [, b]) => b.length - a.length);
  return largest === undefined ? null : { times: largest[1].length, how: largest[0] };
}

function howFailed({ status, code, aborted }: RequestEvent): string {
  if (code !== undefined) return `with ${status} ${code}`;
  return aborted ? 'whose client left' : `with ${status} of the upstream`;
}

/**
 * bearerd itself refuses at least ten requests of the last minute, and most of them, for one reason.
 *
 * @param requests the newest first
 * @param bootMs the wall clock at zero of the monotonic clock
 */
export function manyRefused(requests: readonly RequestEvent[], bootMs: number, nowMs: number): Trouble[] {
  const recent = requests.filter((request) => nowMs - bootMs - endOf(request) < RECENT_MS);
  return [...Map.groupBy(recent, ({ code }) => code)].flatMap(([code, refused]) => {
    const [last] = refused;
    const isTold = code === undefined || last === undefined || TOLD_ELSEWHERE.has(code);
    if (isTold || refused.length < MANY || refused.length * 2 <= recent.length) return [];
    return [
      {
        subject: 'refused',
        atMs: bootMs + endOf(last),
        sinceMs: bootMs + endOf(refused.at(-1)!),
        times: refused.length,
        what: `${shareOf(refused.length, recent.length)} of the last minute were refused with ${last.status} ${code}.`,
        remedy: remedyFor(last),
        lasts: true,
      },
    ];
  });
}

function shareOf(some: number, all: number): string {
  return some === all ? `All ${all} requests` : `${some} of the ${all} requests`;
}

/** Routes whose upstream has asked to wait, by the `Retry-After` of its newest answer. The parameters are those of `manyRefused`. */
export function askedToWait(requests: readonly RequestEvent[], bootMs: number, nowMs: number): Trouble[] {
  return [...answersByRoute(requests)].flatMap(([route, [last]]) => {
    const atMs = bootMs + endOf(last!);
    const untilMs = Math.min(LATEST_MS, retryAtMs(last!.attempt?.retryAfter, atMs));
    if (!isFailed(last!) || !(untilMs > nowMs)) return [];
    const until = new Date(untilMs).toISOString().replace(/\.\d+Z$/, 'Z');
    const what = `The upstream answered ${last!.status}, and asks its callers to wait until ${until}. (Route ${route}.)`;
    return [
      { subject: `wait ${route}`, atMs, sinceMs: atMs, times: 1, what, remedy: undefined, lasts: true },
    ];
  });
}

/** The whole answers of the upstream, the newest first; no route is without one. */
function answersByRoute(requests: readonly RequestEvent[]): Map<string, RequestEvent[]> {
  return Map.groupBy(
    requests.filter(({ code, aborted }) => code === undefined && !aborted),
    ({ route }) => route,
  );
}

/** @param retryAfter seconds, or a date (RFC 9110 §10.2.3) @returns NaN for anything else */
function retryAtMs(retryAfter = '', fromMs: number): number {
  return /^\d+$/.test(retryAfter) ? fromMs + Number(retryAfter) * 1_000 : Date.parse(retryAfter);
}

/** One refusal is often meant: only several in a row count. */
const IN_A_ROW = 3;

/**
 * Routes whose upstream refuses all requests of late: the newest three answers or more have the same status, which
 * counts as a failure.
 *
 * @param requests the newest first
 * @param bootMs the wall clock at zero of the monotonic clock
 */
export function refusedRoutes(requests: readonly RequestEvent[], bootMs: number): Trouble[] {
  return [...answersByRoute(requests)].flatMap(([route, answers]) => {
    const last = answers[0]!;
    const other = answers.findIndex(({ status }) => status !== last.status);
    const times = other === -1 ? answers.length : other;
    if (times < IN_A_ROW || !isFailed(last)) return [];
    return [
      {
        subject: `answers ${route}`,
        atMs: bootMs + endOf(last),
        sinceMs: bootMs + endOf(answers[times - 1]!),
        times,
        what: `The upstream refuses all requests of route ${route}: the last ${times} were answered with ${last.status}.`,
        remedy: remedyFor(last),
        lasts: true,
      },
    ];
  });
}
