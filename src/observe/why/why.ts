import type { RequestEvent } from '../../base/events.ts';
import { PROBLEM_REMEDIES } from '../../base/failures/problem-remedies.ts';
import { type SentAs, STATUS_REMEDIES, statusRemedy } from '../../base/failures/status-words.ts';
import type { AttemptRecord } from '../../base/journey.ts';
import { SAFE_METHODS } from '../../base/methods.ts';
import type { ProblemCode } from '../../base/problem.ts';
import { span } from '../../base/span.ts';
import { limitWords } from '../../base/time-limit.ts';
import { hundredths } from '../hundredths.ts';

/** The report on a request, for `GET /requests/ID`. It holds no byte of a secret, a query value or a body. */
export interface Why {
  readonly id: string;
  /** When it ended. */
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly route: string | null;
  /** The reason for the route, or why there is none. */
  readonly why: string;
  readonly credential: string | null;
  /** At the moment when the request needed it; null if it needed none. */
  readonly token: { readonly state: string; readonly ageMs: number | null } | null;
  /** 0 if the client got no answer. */
  readonly status: number;
  readonly code: ProblemCode | null;
  /** Null if the client got no answer. */
  readonly answeredBy: 'upstream' | 'bearerd' | null;
  readonly attempts: readonly WhyAttempt[];
  /** In order, without very short ones. */
  readonly waits: readonly { readonly for: 'token' | 'connection'; readonly ms: number }[];
  readonly durationMs: number;
  /** What to do about it. */
  readonly remedy: string | null;
}

/** One attempt to send it. Each step of a new connection has its duration; null for a step that was not needed. */
export interface WhyAttempt {
  readonly upstream: string;
  /** The connection was made for an earlier request. */
  readonly reused: boolean;
  readonly dnsMs: number | null;
  readonly connectMs: number | null;
  readonly tlsMs: number | null;
  /** From the moment when the connection was ready; null if no byte came. */
  readonly firstByteMs: number | null;
  readonly lastByteMs: number | null;
  /** How it ended, in words. */
  readonly outcome: string;
}

/** A shorter wait for a kept connection is only a turn of the event loop. */
const SHORTEST_WAIT_MS = 1;

/** Failed: a problem of bearerd's, a broken answer, or an upstream's 401, 403, 407, 429 or 5xx. */
export function isFailed({
  status,
  code,
  aborted,
}: Pick<RequestEvent, 'status' | 'code' | 'aborted'>): boolean {
  return code !== undefined || aborted || status >= 500 || isRefusal(status);
}

/** Statuses of the upstream that call for an action of the operator. */
export function isRefusal(status: number): boolean {
  return status === 401 || status === 403 || status === 407 || status === 429;
}

/** The cause of these has a line in the log, and a trouble, of its own. */
export const TOLD_ELSEWHERE: ReadonlySet<ProblemCode> = new Set([
  'token-unavailable',
  'login-refused',
  'upstream-unreachable',
  'upstream-invalid',
  'upstream-timeout',
  'draining',
]);

/** When a request was over, on the monotonic clock. */
export function endOf({ startedMonoMs, durationMs }: RequestEvent): number {
  return startedMonoMs + durationMs;
}

/** @param bootMs the wall-clock time of zero on the monotonic clock */
export function whyOf(event: RequestEvent, bootMs: number): Why {
  const { status, code, tokenState, tokenSinceMonoMs, startedMonoMs, durationMs } = event;
  const ageMs = tokenSinceMonoMs === -1 ? null : hundredths(Math.max(0, startedMonoMs - tokenSinceMonoMs));
  const attempts = attemptsOf(event);
  return {
    id: event.requestId,
    time: new Date(bootMs + endOf(event)).toISOString(),
    method: event.method,
    path: event.path,
    route: event.route === '' ? null : event.route,
    why: whyThisRoute(event),
    credential: event.credential === '' ? null : event.credential,
    token: tokenState === undefined ? null : { state: tokenState, ageMs },
    status,
    code: code ?? null,
    answeredBy: answeredBy(event),
    attempts: attempts.map((attempt, i) => shown(attempt, attempts[i + 1], event)),
    waits: waitsOf(event, attempts),
    durationMs: hundredths(durationMs),
    remedy: remedyFor(event) ?? null,
  };
}

function whyThisRoute({ why, route, code, detail }: RequestEvent): string {
  if (why !== undefined) return why;
  if (route !== '') return `${route} is the longest prefix that matches`;
  if (code === undefined) return 'it asks about the server itself, which bearerd answers';
  // Several limits have this code; of these requests nothing was read.
  const reason =
    code === 'overloaded' ? 'bearerd has no room for another connection' : clause(detail ?? code);
  return `refused before a route was looked for: ${reason}`;
}

function answeredBy({ status, code, brokeOff, attempt }: RequestEvent): Why['answeredBy'] {
  if (status === 0) return null;
  return (code === undefined && attempt !== undefined) || brokeOff ? 'upstream' : 'bearerd';
}

/** What to do about a request; undefined if its status says enough. */
export function remedyFor(event: RequestEvent): string | undefined {
  return (
    [remedyOf(event) ?? [], event.timeLimit ? limitWords(event.timeLimit) : [], checkFirst(event)]
      .flat()
      .join(' ') || undefined
  );
}

function remedyOf(event: RequestEvent): string | undefined {
  const { status, code, remedy, aborted, attempt } = event;
  if (code !== undefined) return remedy ?? PROBLEM_REMEDIES[code];
  if (aborted && event.closedBy === 'idle-timeout') return STATUS_REMEDIES.unread;
  if (aborted) return STATUS_REMEDIES[status === 0 ? 'left unanswered' : 'left'];
  return attempt && statusRemedy(status, sentAs(event), attempt.before?.status === 401);
}

/** Without an answer the client can't know whether the request was carried out. */
function checkFirst({ attempt, method }: RequestEvent): string[] {
  const isUnknown = attempt !== undefined && attempt.status === 0 && attempt.readyMonoMs !== -1;
  return isUnknown && !SAFE_METHODS.has(method)
    ? ['Check whether the upstream carried the request out before you send it again.']
    : [];
}

function sentAs({ credential, tokenState }: RequestEvent): SentAs {
  if (credential === 'none') return 'nothing';
  if (tokenState === undefined) return "the client's own";
  return tokenState === 'ready' ? 'key' : 'token';
}

function attemptsOf({ attempt }: RequestEvent): AttemptRecord[] {
  const attempts: AttemptRecord[] = [];
  for (let each = attempt; each !== undefined; each = each.before) attempts.unshift(each);
  return attempts;
}

function shown(attempt: AttemptRecord, next: AttemptRecord | undefined, event: RequestEvent): WhyAttempt {
  const { upstream, times, readyMonoMs, firstByteMonoMs, lastByteMonoMs } = attempt;
  const since = (moment: number) =>
    moment === -1 || readyMonoMs === -1 ? null : hundredths(moment - readyMonoMs);
  return {
    upstream,
    reused: times === undefined && readyMonoMs !== -1,
    dnsMs: length(times?.dnsMs),
    connectMs: length(times?.connectMs),
    tlsMs: length(times?.tlsMs),
    firstByteMs: since(firstByteMonoMs),
    lastByteMs: since(lastByteMonoMs),
    outcome: outcomeOf(attempt, next, event),
  };
}

function outcomeOf(
  { status, failure, retryAfter, readyMonoMs, firstByteMonoMs, lastByteMonoMs }: AttemptRecord,
  next: AttemptRecord | undefined,
  { aborted, closedBy, code, detail, method }: RequestEvent,
): string {
  if (failure !== undefined) {
    const what = status === 0 ? clause(failure) : `answered ${status}, then cut off: ${clause(failure)}`;
    if (next !== undefined) return `${what}; the request was sent once more`;
    if (readyMonoMs === -1 || firstByteMonoMs !== -1) return what;
    const came = code === 'upstream-invalid' ? 'nothing of it was passed on' : 'no byte of an answer came';
    return `${what}; ${came}${doubt(method)}`;
  }
  if (status === 101) return 'switched to another protocol (101)';
  if (next !== undefined) {
    return status === 401
      ? 'answered 401; the request was sent once more with a newer token'
      : 'given up before anything was sent: the token ended meanwhile';
  }
  if (status !== 0 && lastByteMonoMs !== -1) return `answered ${status}${whenAgain(retryAfter)}`;
  const begun = status === 0 ? '' : `answered ${status}, and was `;
  if (aborted && closedBy === 'idle-timeout') return `${begun}given up: the client read nothing for too long`;
  if (aborted) {
    const isUnknown = status === 0 && readyMonoMs !== -1;
    return `${begun}given up: the client ended the connection${isUnknown ? doubt(method) : ''}`;
  }
  return code === undefined ? `${begun}given up` : `${begun}given up: ${clause(detail ?? code)}`;
}

function doubt(method: string): string {
  return SAFE_METHODS.has(method) ? '' : ', and the upstream may have carried the request out';
}

function whenAgain(retryAfter: string | undefined): string {
  if (retryAfter === undefined) return '';
  const when = /^\d/.test(retryAfter) ? `in ${span(Number(retryAfter) * 1_000)}` : `at ${retryAfter}`;
  return `, and asks to call again ${when} (Retry-After)`;
}

function waitsOf(event: RequestEvent, attempts: readonly AttemptRecord[]): Why['waits'] {
  const endMonoMs = event.startedMonoMs + event.durationMs;
  const waits = attempts
    .map((attempt) => ({
      for: 'connection' as 'token' | 'connection',
      from: attempt.beganMonoMs,
      until: firstOf(attempt.readyMonoMs, attempt.failedMonoMs, endMonoMs),
      isNew: attempt.times !== undefined,
    }))
    .filter(({ from, until, isNew }) => isNew || until - from >= SHORTEST_WAIT_MS);
  for (let wait = event.tokenWait; wait !== undefined; wait = wait.before) {
    const until = firstOf(wait.untilMonoMs, endMonoMs);
    waits.push({ for: 'token', from: wait.fromMonoMs, until, isNew: false });
  }
  return waits
    .sort((a, b) => a.from - b.from)
    .map(({ for: what, from, until }) => ({ for: what, ms: hundredths(until - from) }));
}

/** The first moment that is set. */
function firstOf(...moments: readonly number[]): number {
  return moments.find((moment) => moment !== -1)!;
}

function length(ms: number | undefined): number | null {
  return ms === undefined || ms === -1 ? null : hundredths(ms);
}

/** A sentence as a part of another one. */
function clause(sentence: string): string {
  return sentence.slice(0, 1).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
}
