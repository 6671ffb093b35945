import { Counter, type Registry } from 'prom-client';
import type { RequestEvent } from '../base/events.ts';
import { PlainHistogram } from '../node/plain-histogram.ts';

/** Upper bounds of the buckets of all durations, in seconds. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** The durations of one route's requests. */
interface RouteSeries {
  readonly route: string;
  count: number;
  seconds: number;
  /** Counts by bucket, not cumulative. */
  readonly buckets: number[];
  /** The series that was counted last: the next request is mostly of the same. */
  last: CodeSeries | undefined;
}

type Labels = Readonly<Record<'route' | 'credential' | 'method' | 'code' | 'caller', string>>;

interface CodeSeries {
  readonly labels: Labels;
  readonly status: number;
  readonly ofRoute: RouteSeries;
  count: number;
}

/**
 * Counts requests and their durations. prom-client hashes the labels at each observation, which costs more than all other
 * measurements of a request. So the numbers are kept here, and given to prom-client when /metrics is requested.
 */
export class RequestMetrics {
  readonly #codes = new Map<string, CodeSeries>();
  readonly #routes = new Map<string, RouteSeries>();

  constructor(registry: Registry) {
    const codes = this.#codes;
    const registers = [registry];
    new Counter({
      name: 'bearerd_requests_total',
      help: 'Requests answered, by route prefix, credential, method, status code and caller (empty for one without a name).',
      labelNames: ['route', 'credential', 'method', 'code', 'caller'],
      registers,
      collect() {
        this.reset();
        for (const { labels, count } of codes.values()) this.inc(labels, count);
      },
    });
    const routes = this.#routes;
    new PlainHistogram({
      name: 'bearerd_request_duration_seconds',
      help: 'From the request head to the end of the answer.',
      labelNames: ['route'],
      buckets: SECONDS,
      registry,
      *series() {
        for (const { route, count, seconds, buckets } of routes.values()) {
          yield { labels: { route }, count, sum: seconds, buckets };
        }
      },
    });
  }

  observe(event: RequestEvent): void {
    const { route, durationMs } = event;
    const last = this.#routes.get(route)?.last;
    const series = last !== undefined && isOf(last, event) ? last : this.#find(event);
    const { ofRoute } = series;
    ofRoute.last = series;
    const seconds = durationMs / 1000;
    series.count++;
    ofRoute.count++;
    ofRoute.seconds += seconds;
    for (let i = 0; i < SECONDS.length; i++) {
      if (seconds <= SECONDS[i]!) {
        ofRoute.buckets[i]!++;
        break;
      }
    }
  }

  /** Requests answered, by route prefix. */
  byRoute(): ReadonlyMap<string, number> {
    return new Map([...this.#routes].map(([route, { count }]) => [route, count]));
  }

  #find(event: RequestEvent): CodeSeries {
    const { route, credential, method, status, caller = '' } = event;
    const key = `${route} ${credential} ${method} ${status} ${caller}`;
    return this.#codes.get(key) ?? this.#create(key, event);
  }

  /** An invalid status counts as 0: an upstream must not create series. */
  #create(key: string, event: RequestEvent): CodeSeries {
    const { route, credential, method, status, caller = '' } = event;
    if (status !== 0 && !(status >= 100 && status <= 599)) {
      const other = `${route} ${credential} ${method} 0 ${caller}`;
      return this.#codes.get(other) ?? this.#create(other, { ...event, status: 0 });
    }
    let ofRoute = this.#routes.get(route);
    if (ofRoute === undefined) {
      ofRoute = { route, count: 0, seconds: 0, buckets: SECONDS.map(() => 0), last: undefined };
      this.#routes.set(route, ofRoute);
    }
    const labels = { route, credential, method, code: String(status), caller };
    const series = { labels, status, ofRoute, count: 0 };
    this.#codes.set(key, series);
    return series;
  }
}

/** Compares all labels but the route, which is the same. A lookup key would be a text made for each request. */
function isOf({ labels, status }: CodeSeries, event: RequestEvent): boolean {
  return (
    status === event.status &&
    labels.method === event.method &&
    labels.credential === event.credential &&
    labels.caller === (event.caller ?? '')
  );
}
