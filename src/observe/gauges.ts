import { stat } from 'node:fs/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { TokenStatus } from '../tokens/token-status.ts';

const STATES = ['starting', 'fresh', 'renewing', 'degraded', 'expired', 'refused'] as const;

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

/** What is read only when it is asked for. */
export function registerGauges(registry: Registry, view: MetricsView): void {
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
  registerTokenGauges(registers, view);
  registerFileGauges(registers, view);
}

function registerTokenGauges(registers: Registry[], view: MetricsView): void {
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
}

/** There only where clients speak TLS: a time of 0 would look long past. @param expiryMs epoch milliseconds */
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
  new Gauge({
    name: 'bearerd_secret_file_mtime_timestamp_seconds',
    help: 'When a secret or TLS file was last changed (Unix time); absent while the file does not exist.',
    labelNames: ['path'],
    registers,
    async collect() {
      const times = await Promise.all([...view.secretFiles()].map(changedAt));
      this.reset();
      for (const time of times) if (time !== undefined) this.set({ path: time.path }, time.seconds);
    },
  });
}

async function changedAt([file, path]: [string, string]): Promise<
  { path: string; seconds: number } | undefined
> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: undefined }));
  return mtimeMs === undefined ? undefined : { path, seconds: mtimeMs / 1000 };
}
