import { stat } from 'node:fs/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { LoginFailure } from '../base/errors.ts';
import type { Observe } from '../base/events.ts';
import type { TokenStatus } from '../tokens/token-status.ts';
import { registerCertificateGauge } from './certificate-gauge.ts';
import { processMetrics } from './process-metrics.ts';
import { RequestMetrics, SECONDS } from './request-metrics.ts';

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
  readonly tunnels: () => number;
  readonly waiting: () => number;
  readonly tokens: () => ReadonlyMap<string, TokenStatus>;
  readonly droppedLogLines: () => number;
  /** When the certificate that clients see expires, in epoch milliseconds; absent where they speak plain HTTP. */
  readonly certificateExpiryMs?: () => number;
  /** Path by which each is read, and as it was configured. */
  readonly secretFiles: () => ReadonlyMap<string, string>;
}

const RELOADS = { reloaded: 'ok', 'reload-refused': 'refused', 'secret-trouble': 'unusable' } as const;
const LOGIN_RESULTS = [
  'ok',
  'unreachable',
  'server-error',
  'rate-limited',
  'unusable',
  'redirected',
  'refused',
] as const satisfies readonly ('ok' | LoginFailure)[];
const STATES = ['starting', 'fresh', 'renewing', 'degraded', 'expired', 'refused'] as const;

/**
 * Counts what happens. Series stay bounded whatever clients send: `route` is a configured prefix, `credential` a
 * configured name, `method` one that the parser knows, and of a status that no HTTP knows only its class is kept.
 */
export function createMetrics(view: MetricsView): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const ofProcess = processMetrics();
  const requests = new RequestMetrics(registry);
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
  const internalErrors = new Counter({
    name: 'bearerd_internal_errors_total',
    help: 'Faults of bearerd or of a library that it has survived.',
    registers,
  });
  const reloads = new Counter({
    name: 'bearerd_config_reloads_total',
    help: 'Reloads, by result (ok, refused, or unusable for a secret file that is missing, empty or unreadable).',
    labelNames: ['result'],
    registers,
  });
  for (const result of Object.values(RELOADS)) reloads.inc({ result }, 0);
  const sinkWrites = new Counter({
    name: 'bearerd_sink_writes_total',
    help: 'Writes to places outside of bearerd that hold a credential, by result (ok, failed).',
    labelNames: ['sink', 'result'],
    registers,
  });
  const scrubbed = new Counter({
    name: 'bearerd_scrubbed_total',
    help: 'Answers out of which the credential that was sent was struck, by route prefix.',
    labelNames: ['route'],
    registers,
  });
  registerGauges(registry, view);
  if (view.certificateExpiryMs) registerCertificateGauge(registry, view.certificateExpiryMs);
  let sharing: Counter<'op' | 'result'> | undefined;
  /** There only where tokens are shared. */
  const share = () => {
    sharing ??= new Counter({
      name: 'bearerd_share_operations_total',
      help: 'What was asked of the engine that tokens are shared by, by operation and result (gone: no answer).',
      labelNames: ['op', 'result'],
      registers,
    });
    return sharing;
  };

  return {
    observe(event) {
      if (event.type === 'request') {
        requests.observe(event);
        ofProcess.traffic();
        if (event.scrubbed === true) scrubbed.inc({ route: event.route });
      } else if (event.type === 'share-operation') {
        share().inc({ op: event.op, result: event.result });
      } else if (event.type === 'login-succeeded' || event.type === 'login-failed') {
        if (event.type === 'login-succeeded' ? event.taken : event.error.heldBack) return;
        const { credential } = event;
        const result = event.type === 'login-succeeded' ? 'ok' : event.error.code;
        // Prometheus sees no increase in a series that begins with it: all of them begin with the first login.
        for (const each of LOGIN_RESULTS) logins.inc({ credential, result: each }, each === result ? 1 : 0);
        loginDuration.observe({ credential }, event.durationMs / 1000);
      } else if (event.type === 'upstream-failed') {
        upstreamErrors.inc({ code: event.code });
      } else if (event.type === 'internal-error') {
        internalErrors.inc();
      } else if (event.type === 'sink-written' || event.type === 'sink-failed') {
        const result = event.type === 'sink-written' ? 'ok' : 'failed';
        for (const each of ['ok', 'failed']) {
          sinkWrites.inc({ sink: event.sink, result: each }, each === result ? 1 : 0);
        }
      } else if (event.type in RELOADS) {
        reloads.inc({ result: RELOADS[event.type as keyof typeof RELOADS] });
      }
    },
    render: async () => ({
      contentType: registry.contentType,
      text: (await ofProcess.render()) + (await registry.metrics()),
    }),
    requestsByRoute: () => requests.byRoute(),
  };
}

async function changedAt([file, path]: [string, string]): Promise<
  { path: string; seconds: number } | undefined
> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: undefined }));
  return mtimeMs === undefined ? undefined : { path, seconds: mtimeMs / 1000 };
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
    name: 'bearerd_tunnels_open',
    help: 'Tunnels (WebSocket and the like) under way.',
    registers,
    collect() {
      this.set(view.tunnels());
    },
  });
  new Gauge({
    name: 'bearerd_waiting_requests',
    help: 'Requests that wait for a token.',
    registers,
    collect() {
      this.set(view.waiting());
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
  new Counter({
    name: 'bearerd_log_lines_dropped_total',
    help: 'Log lines that could not be written.',
    registers,
    collect() {
      this.reset();
      this.inc(view.droppedLogLines());
    },
  });
  new Gauge({
    name: 'bearerd_secret_file_mtime_timestamp_seconds',
    help: 'When a secret or TLS file was last changed (Unix time); nothing while it is not there.',
    labelNames: ['path'],
    registers,
    async collect() {
      const times = await Promise.all([...view.secretFiles()].map(changedAt));
      this.reset();
      for (const time of times) if (time !== undefined) this.set({ path: time.path }, time.seconds);
    },
  });
}
