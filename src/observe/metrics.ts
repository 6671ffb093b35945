import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observe } from '../events.ts';
import type { TokenStatus } from '../tokens/token-status.ts';

export interface Metrics {
  readonly observe: Observe;
  /** The Prometheus text format, with what is read only when asked for. */
  render(): Promise<{ contentType: string; text: string }>;
  /** Requests answered, by route prefix. */
  requestsByRoute(): ReadonlyMap<string, number>;
}

/** What a gauge shows when it is read. */
export interface MetricsView {
  readonly version: string;
  readonly inFlight: () => number;
  readonly tokens: () => ReadonlyMap<string, TokenStatus>;
  readonly droppedLogLines: () => number;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const STATES = ['starting', 'fresh', 'renewing', 'degraded', 'expired', 'refused'] as const;

/**
 * Counts what happens. Series stay bounded whatever clients send: `route` is a configured prefix, `credential` a
 * configured name, `method` one that the parser knows, and of a status that no HTTP knows only its class is kept.
 */
export function createMetrics(view: MetricsView): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'bearerd_requests_total',
    help: 'Requests answered, by route prefix, credential, method and status code.',
    labelNames: ['route', 'credential', 'method', 'code'],
    registers,
  });
  const duration = new Histogram({
    name: 'bearerd_request_duration_seconds',
    help: 'From the request head to the end of the answer.',
    labelNames: ['route'],
    buckets: SECONDS,
    registers,
  });
  const upstreamErrors = new Counter({
    name: 'bearerd_upstream_errors_total',
    help: 'Requests that the upstream left without a whole answer, by problem code.',
    labelNames: ['code'],
    registers,
  });
  const logins = new Counter({
    name: 'bearerd_logins_total',
    help: 'Logins, by credential and result (ok, or the class of the failure).',
    labelNames: ['credential', 'result'],
    registers,
  });
  const loginDuration = new Histogram({
    name: 'bearerd_login_duration_seconds',
    help: 'Duration of a login, failed ones included.',
    labelNames: ['credential'],
    buckets: SECONDS,
    registers,
  });
  registerGauges(registry, view);
  const byRoute = new Map<string, number>();
  const series = new Map<string, { inc(): void }>();
  const durations = new Map<string, { observe(seconds: number): void }>();

  /** The counter of one combination, looked up once and then kept. */
  function counterOf(route: string, credential: string, method: string, status: number): { inc(): void } {
    const code = status >= 100 && status <= 599 ? String(status) : '0';
    const key = `${route} ${credential} ${method} ${code}`;
    let counter = series.get(key);
    if (counter === undefined) {
      counter = requests.labels(route, credential, method, code);
      series.set(key, counter);
    }
    return counter;
  }

  function durationOf(route: string): { observe(seconds: number): void } {
    let histogram = durations.get(route);
    if (histogram === undefined) {
      histogram = duration.labels(route);
      durations.set(route, histogram);
    }
    return histogram;
  }

  return {
    observe(event) {
      if (event.type === 'request') {
        counterOf(event.route, event.credential, event.method, event.status).inc();
        durationOf(event.route).observe(event.durationMs / 1000);
        byRoute.set(event.route, (byRoute.get(event.route) ?? 0) + 1);
      } else if (event.type === 'login-succeeded' || event.type === 'login-failed') {
        const result = event.type === 'login-succeeded' ? 'ok' : event.error.code;
        logins.inc({ credential: event.credential, result });
        loginDuration.observe({ credential: event.credential }, event.durationMs / 1000);
      } else if (event.type === 'upstream-failed') {
        upstreamErrors.inc({ code: event.code });
      }
    },
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    requestsByRoute: () => byRoute,
  };
}

function registerGauges(registry: Registry, view: MetricsView): void {
  const registers = [registry];
  new Gauge({
    name: 'bearerd_build_info',
    help: 'Constant 1, with the version.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: view.version, node: process.version }, 1);
  new Gauge({
    name: 'bearerd_requests_in_flight',
    help: 'Requests and tunnels under way.',
    registers,
    collect() {
      this.set(view.inFlight());
    },
  });
  new Gauge({
    name: 'bearerd_token_expiry_timestamp_seconds',
    help: 'When the present token expires (Unix time); 0 while there is none.',
    labelNames: ['credential'],
    registers,
    collect() {
      this.reset();
      for (const [credential, token] of view.tokens())
        this.set({ credential }, (token.expiresAtMs ?? 0) / 1000);
    },
  });
  new Gauge({
    name: 'bearerd_token_state',
    help: 'Constant 1 for the state that the credential is in, 0 for the others.',
    labelNames: ['credential', 'state'],
    registers,
    collect() {
      this.reset();
      for (const [credential, token] of view.tokens()) {
        for (const state of STATES) this.set({ credential, state }, token.state === state ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: 'bearerd_token_last_login_timestamp_seconds',
    help: 'When the last login succeeded (Unix time); 0 while none has.',
    labelNames: ['credential'],
    registers,
    collect() {
      this.reset();
      for (const [credential, token] of view.tokens())
        this.set({ credential }, (token.lastLoginMs ?? 0) / 1000);
    },
  });
  new Gauge({
    name: 'bearerd_token_next_login_seconds',
    help: 'Time until the next login.',
    labelNames: ['credential'],
    registers,
    collect() {
      this.reset();
      for (const [credential, token] of view.tokens()) this.set({ credential }, token.nextLoginInMs / 1000);
    },
  });
  new Gauge({
    name: 'bearerd_log_lines_dropped',
    help: 'Log lines that could not be written since the start.',
    registers,
    collect() {
      this.set(view.droppedLogLines());
    },
  });
}
