import type { RequestEvent } from '../../base/events.ts';
import type { Pause } from '../event-loop-lag.ts';
import type { LogLoss } from '../log-output.ts';
import type { Readiness, Status } from '../status.ts';
import type { Jump } from './clock-watch.ts';
import { askedToWait, type MostFailed, manyRefused, mostFailed, refusedRoutes } from './failed-requests.ts';
import { overcome } from './overcome.ts';
import {
  jumpTrouble,
  logTrouble,
  type Memory,
  memoryTrouble,
  mib,
  pauseTrouble,
} from './process-troubles.ts';
import { failingLogins } from './readiness-words.ts';
import type { Trouble } from './trouble.ts';
import { isFailed } from './why.ts';

/** What the situation is made of. Moments are on the wall clock. */
interface SituationView {
  readonly nowMs: number;
  /** The wall-clock time at zero of the monotonic clock. */
  readonly bootMs: number;
  readonly pid: number;
  readonly readiness: Readiness;
  readonly status: Status;
  /** Those that are known, the newest first. */
  readonly requests: readonly RequestEvent[];
  /** What events told. */
  readonly troubles: readonly Trouble[];
  readonly jumps: readonly Jump[];
  readonly pauses: readonly Pause[];
  readonly logLoss: LogLoss | undefined;
  readonly memory: Memory;
}

/** What is wrong with the whole process now, and what went wrong lately: what `GET /troubles` gives. */
export interface Situation {
  readonly time: string;
  readonly ready: boolean;
  readonly draining: boolean;
  readonly process: {
    readonly version: string;
    readonly pid: number;
    readonly startedAt: string;
    readonly configuredAt: string;
    readonly requestsInFlight: number;
    /** Of the requests that are over, those that are known, and how many of them failed. */
    readonly requestsKnown: number;
    readonly requestsFailed: number;
    /** Null if none failed. */
    readonly mostFailed: MostFailed | null;
    readonly memoryMib: number;
    /** Since the start. */
    readonly memoryPeakMib: number;
    readonly heapMib: number;
    readonly heapLimitMib: number;
  };
  /** What goes on; empty if nothing is known to be wrong. */
  readonly now: readonly Told[];
  /** What is over, or took no time; the newest first. */
  readonly lately: readonly Told[];
}

export interface Told {
  /** The last time. */
  readonly at: string;
  /** The first time. */
  readonly since: string;
  readonly times: number;
  readonly what: string;
  /** Null if nothing has to be done. */
  readonly remedy: string | null;
  /** Null if it goes on, if that is not known, or if it took no time. */
  readonly overAt: string | null;
}

const MOST_LATELY = 20;

export function situationOf(view: SituationView): Situation {
  const { nowMs, bootMs, status, readiness, requests, memory } = view;
  const fromEvents = view.troubles;
  const lost = view.logLoss && logTrouble(view.logLoss, nowMs);
  const goesOn = [
    ...fromEvents.filter(isLast),
    ...refusedRoutes(requests, bootMs),
    ...askedToWait(requests, bootMs, nowMs),
    ...manyRefused(requests, bootMs, nowMs),
    lost,
    memoryTrouble(memory, nowMs),
  ].filter((trouble) => trouble?.lasts === true && trouble.overMs === undefined);
  const others = [
    ...fromEvents,
    ...(lost === undefined ? [] : [lost]),
    ...view.pauses.map(pauseTrouble),
    ...view.jumps.map((jump) => jumpTrouble(jump, bootMs)),
    ...overcome(requests, bootMs),
  ].filter((trouble) => !goesOn.includes(trouble));
  return {
    time: iso(nowMs),
    ready: readiness.ready,
    draining: readiness.draining,
    process: {
      version: status.version,
      pid: view.pid,
      startedAt: iso(nowMs - status.uptimeSeconds * 1_000),
      configuredAt: status.configuredAt,
      requestsInFlight: status.requestsInFlight,
      requestsKnown: requests.length,
      requestsFailed: requests.filter(isFailed).length,
      mostFailed: mostFailed(requests),
      memoryMib: mib(memory.residentBytes),
      memoryPeakMib: mib(memory.peakBytes),
      heapMib: mib(memory.heapBytes),
      heapLimitMib: mib(memory.heapLimitBytes),
    },
    now: [
      ...failingLogins(readiness, status, wasRejected(fromEvents)).map((line) => failing(line, nowMs)),
      ...goesOn.flatMap((trouble) => (trouble === undefined ? [] : [told(trouble)])),
    ],
    lately: others
      .sort((a, b) => b.atMs - a.atMs)
      .slice(0, MOST_LATELY)
      .map(told),
  };
}

/** Whether a credential lost its token because the upstream rejected it, and not by its expiry. */
function wasRejected(troubles: readonly Trouble[]): (credential: string) => boolean {
  return (name) => {
    const [newest] = troubles
      .filter(({ subject }) => subject === `rejected ${name}` || subject === `token ${name}`)
      .sort((a, b) => b.atMs - a.atMs);
    return newest?.subject === `rejected ${name}`;
  };
}

/** Whether it is the newest of what lasts of its subject. */
function isLast(trouble: Trouble, _i: number, all: readonly Trouble[]): boolean {
  return all.find(({ subject, lasts }) => lasts && subject === trouble.subject) === trouble;
}

/** A line that says what to do already. */
function failing(line: string, nowMs: number): Told {
  return { at: iso(nowMs), since: iso(nowMs), times: 1, what: line, remedy: null, overAt: null };
}

function told({ atMs, sinceMs, times, what, remedy, overMs }: Trouble): Told {
  return {
    at: iso(atMs),
    since: iso(sinceMs),
    times,
    what,
    remedy: remedy ?? null,
    overAt: overMs === undefined ? null : iso(overMs),
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
