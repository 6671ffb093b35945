import type { Clock } from '../base/clock.ts';
import type { Event, RequestEvent } from '../base/events.ts';

const REQUESTS = 200;
const LOGINS = 5;

/** One of the last requests, as people are shown it. Never a query. */
export interface RecentRequest {
  /** When it was over. */
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly route: string;
  readonly credential: string;
  readonly caller: string;
  readonly status: number;
  readonly code: string | null;
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

/** Of the requests of one route that are among the last. */
export interface Latency {
  readonly p50: number;
  readonly p95: number;
}

/** What happened last. A request costs one write into a ring: what people see is made when they look. */
export class Recent {
  readonly #clock: Clock;
  readonly #ring: RequestEvent[] = [];
  readonly #logins = new Map<string, RecentLogin[]>();
  #answered = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  observe(event: Event): void {
    if (event.type === 'request') {
      this.#ring[this.#answered++ % REQUESTS] = event;
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

  /** Requests that are over, since the start. */
  get answered(): number {
    return this.#answered;
  }

  /** The last requests, the newest first. */
  requests(): RecentRequest[] {
    const bootMs = this.#clock.wallMs() - this.#clock.monoMs();
    return this.#newestFirst().map((event) => ({
      time: new Date(bootMs + event.startedMonoMs + event.durationMs).toISOString(),
      method: event.method,
      path: event.path,
      route: event.route,
      credential: event.credential,
      caller: event.caller ?? '',
      status: event.status,
      code: event.code ?? null,
      durationMs: Math.round(event.durationMs * 100) / 100,
    }));
  }

  /** The last logins of a credential, the newest first. */
  logins(credential: string): readonly RecentLogin[] {
    return this.#logins.get(credential) ?? [];
  }

  /** By route prefix; tunnels are left out, whose duration says how long they were used. */
  latencies(): ReadonlyMap<string, Latency> {
    const durations = new Map<string, number[]>();
    for (const { route, durationMs, status } of this.#ring) {
      if (status === 101) continue;
      const known = durations.get(route);
      if (known === undefined) durations.set(route, [durationMs]);
      else known.push(durationMs);
    }
    return new Map([...durations].map(([route, all]) => [route, latency(all.sort((a, b) => a - b))]));
  }

  #newestFirst(): RequestEvent[] {
    const at = this.#answered % REQUESTS;
    return [...this.#ring.slice(at), ...this.#ring.slice(0, at)].reverse();
  }
}

function latency(sorted: readonly number[]): Latency {
  const at = (part: number) => Math.round(sorted[Math.ceil(sorted.length * part) - 1]! * 100) / 100;
  return { p50: at(0.5), p95: at(0.95) };
}
