import { ownCopy } from '../base/bytes.ts';
import type { Clock } from '../base/clock.ts';
import type { Event, RequestEvent } from '../base/events.ts';
import { hundredths } from './hundredths.ts';
import { isFailed, type Why, whyOf } from './why/why.ts';

/** The number of last requests that are kept, and of failed ones besides. */
const REQUESTS = 1_000;
const FAILED = 200;
/** The number of requests in a list. */
const LISTED = 200;
/** A client may send a long path; this much of it is kept. */
const LONGEST_PATH = 1_024;
const LOGINS = 5;

/** One of the last requests, as shown to people. Without its query. */
export interface RecentRequest {
  /** When it ended. */
  readonly time: string;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly credential: string;
  readonly caller: string;
  readonly status: number;
  readonly code: string | null;
  readonly failed: boolean;
  readonly durationMs: number;
}

export interface RecentLogin {
  readonly at: string;
  /** `ok`, or the class of the failure. */
  readonly result: string;
  /** Why it failed, in words. */
  readonly message: string | null;
  readonly durationMs: number;
}

/** Of the last requests, those of one route. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
}

/** The last requests and logins. A request costs one or two writes into a ring; lists are built on demand. */
export class Recent {
  readonly #clock: Clock;
  readonly #ring: RequestEvent[] = [];
  readonly #failed: RequestEvent[] = [];
  #failures = 0;
  readonly #logins = new Map<string, RecentLogin[]>();
  #answered = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  observe(event: Event): void {
    if (event.type === 'request') {
      this.#keep(event);
    } else if (event.type === 'login-succeeded' || event.type === 'login-failed') {
      const failure = event.type === 'login-failed' ? event.error : undefined;
      const login = {
        at: new Date(this.#clock.wallMs()).toISOString(),
        result: failure?.code ?? 'ok',
        message: failure?.message ?? null,
        durationMs: Math.round(event.durationMs),
      };
      const before = this.#logins.get(event.credential) ?? [];
      this.#logins.set(event.credential, [login, ...before].slice(0, LOGINS));
    }
  }

  #keep(event: RequestEvent): void {
    const kept = event.path.length > LONGEST_PATH || event.trace !== undefined ? bounded(event) : event;
    this.#ring[this.#answered++ % REQUESTS] = kept;
    if (isFailed(event)) this.#failed[this.#failures++ % FAILED] = kept;
  }

  /** The report on the request with this ID; on the newest one if clients used the ID several times. */
  why(id: string): Why | undefined {
    const isIt = ({ requestId }: RequestEvent) => requestId === id;
    return this.#why(this.#newestFirst(REQUESTS).find(isIt) ?? this.#failedFirst(FAILED).find(isIt));
  }

  whyLastFailed(): Why | undefined {
    return this.#why(this.#failedFirst(1)[0]);
  }

  #why(event: RequestEvent | undefined): Why | undefined {
    return event && whyOf(event, this.#bootMs);
  }

  get #bootMs(): number {
    return this.#clock.wallMs() - this.#clock.monoMs();
  }

  /** The number of requests that have ended since the start. */
  get answered(): number {
    return this.#answered;
  }

  /** Of the requests that are known, the newest first. */
  get known(): readonly RequestEvent[] {
    return this.#newestFirst(REQUESTS);
  }

  /** The last requests, the newest first. */
  requests(): RecentRequest[] {
    const bootMs = this.#bootMs;
    return this.#listed().map((event) => ({
      requestId: event.requestId,
      time: new Date(bootMs + event.startedMonoMs + event.durationMs).toISOString(),
      method: event.method,
      path: event.path,
      route: event.route,
      credential: event.credential,
      caller: event.caller ?? '',
      status: event.status,
      code: event.code ?? null,
      failed: isFailed(event),
      durationMs: hundredths(event.durationMs),
    }));
  }

  /** The last logins of a credential, the newest first. */
  logins(credential: string): readonly RecentLogin[] {
    return this.#logins.get(credential) ?? [];
  }

  /** Latencies by route prefix, without tunnels: their duration is how long they were used. */
  latencies(): ReadonlyMap<string, Latency> {
    const durations = new Map<string, number[]>();
    for (const { route, durationMs, status } of this.#listed()) {
      if (status === 101) continue;
      const known = durations.get(route);
      if (known === undefined) durations.set(route, [durationMs]);
      else known.push(durationMs);
    }
    return new Map([...durations].map(([route, all]) => [route, latency(all.sort((a, b) => a - b))]));
  }

  #newestFirst(count: number): RequestEvent[] {
    return newestFirst(this.#ring, this.#answered, count);
  }

  #failedFirst(count: number): RequestEvent[] {
    return newestFirst(this.#failed, this.#failures, count);
  }

  #listed(): RequestEvent[] {
    return this.#newestFirst(LISTED);
  }
}

/** @param put the number of events ever put into the ring */
function newestFirst(ring: readonly RequestEvent[], put: number, count: number): RequestEvent[] {
  const length = Math.min(count, ring.length);
  return Array.from({ length }, (_, i) => ring[(put - 1 - i) % ring.length]!);
}

/** The event without a long path, and without objects of the tracing library. */
function bounded(event: RequestEvent): RequestEvent {
  const { path, trace, ...rest } = event;
  const kept = path.length > LONGEST_PATH ? `${ownCopy(path.slice(0, LONGEST_PATH))}...` : path;
  return {
    ...rest,
    path: kept,
    ...(trace && { trace: { traceId: trace.traceId, spanId: trace.spanId } }),
  };
}

function latency(sorted: readonly number[]): Latency {
  const at = (part: number) => hundredths(sorted[Math.ceil(sorted.length * part) - 1]!);
  return { p50: at(0.5), p95: at(0.95) };
}
