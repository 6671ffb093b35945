import { Counter, Gauge, type Registry } from 'prom-client';
import type { TokenStatus } from '../tokens/token-status.ts';
import { FileTimes } from './file-times.ts';

const STATES = ['starting', 'fresh', 'renewing', 'degraded', 'expired', 'refused'] as const;

/** The values of the gauges. */
export interface MetricsView {
  readonly version: string;
  readonly inFlight: () => number;
  readonly tunnels: () => number;
  readonly waiting: () => number;
  readonly tokens: () => ReadonlyMap<string, TokenStatus>;
  readonly droppedLogLines: () => number;
  /** When the listener's certificate expires, in epoch milliseconds; absent without TLS. */
  readonly certificateExpiryMs?: () => number;
  /** From the path of a file to the path as configured. */
  readonly secretFiles: () => ReadonlyMap<string, string>;
}

/** Registers the metrics that are read when /metrics is requested. */
export function registerGauges(registry: Registry, view: MetricsView): void {
  const registers = [registry];
  new Gauge({
    name: 'bearerd_build_info',
    help: 'Constant 1, with the version.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: view.version, node: process.version }, 1);
  for (const [name, help, read] of [
    ['bearerd_requests_in_flight', 'Requests and tunnels under way.', view.inFlight],
    ['bearerd_tunnels_open', 'Tunnels (WebSocket and the like) under way.', view.tunnels],
    ['bearerd_waiting_requests', 'Requests that wait for a token.', view.waiting],
  ] as const) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  registerTokenGauges(registers, view);
  registerFileGauges(registers, view);
}

type TokenGauge = readonly [name: string, help: string, read: (token: TokenStatus) => number];

const TOKEN_TIMES: readonly TokenGauge[] = [
  [
    'bearerd_token_expiry_timestamp_seconds',
    'When the present token expires (Unix time); 0 while there is none.',
    ({ expiresAtMs }) => (expiresAtMs ?? 0) / 1000,
  ],
  [
    'bearerd_token_last_login_timestamp_seconds',
    'When the last login succeeded (Unix time); 0 while none has.',
    ({ lastLoginMs }) => (lastLoginMs ?? 0) / 1000,
  ],
  [
    'bearerd_token_next_login_seconds',
    'Time until the next login.',
    ({ nextLoginInMs }) => nextLoginInMs / 1000,
  ],
];

function registerTokenGauges(registers: Registry[], view: MetricsView): void {
  for (const [name, help, read] of TOKEN_TIMES) {
    new Gauge({
      name,
      help,
      labelNames: ['credential'],
      registers,
      collect() {
        this.reset();
        for (const [credential, token] of view.tokens()) this.set({ credential }, read(token));
      },
    });
  }
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
}

/** Only with TLS: an expiry of 0 would look long past. @param expiryMs epoch milliseconds */
export function registerCertificateGauge(registry: Registry, expiryMs: () => number): void {
  new Gauge({
    name: 'bearerd_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that clients see, or another one of its chain, expires (Unix time).',
    registers: [registry],
    collect() {
      this.set(expiryMs() / 1000);
    },
  });
}

function registerFileGauges(registers: Registry[], view: MetricsView): void {
  new Counter({
    name: 'bearerd_log_lines_dropped_total',
    help: 'Log lines that could not be written.',
    registers,
    collect() {
      this.reset();
      this.inc(view.droppedLogLines());
    },
  });
  const times = new FileTimes();
  new Gauge({
    name: 'bearerd_secret_file_mtime_timestamp_seconds',
    help: 'When a secret or TLS file was last changed (Unix time); absent while the file does not exist.',
    labelNames: ['path'],
    registers,
    async collect() {
      const changed = async ([file, path]: [string, string]) => [path, await times.of(file)] as const;
      const found = await Promise.all([...view.secretFiles()].map(changed));
      this.reset();
      for (const [path, ms] of found) if (ms !== undefined) this.set({ path }, ms / 1000);
    },
  });
}
