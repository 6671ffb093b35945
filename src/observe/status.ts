import type { EngineState } from '../base/engine-state.ts';
import type { LimitStatus } from '../base/limit-status.ts';
import type { CredentialConfig } from '../config/sections/credentials/credential.ts';
import type { Route } from '../routes/route-table.ts';
import type { TokenStatus } from '../tokens/token-status.ts';
import type { Latency, Recent, RecentLogin } from './recent.ts';

/** The parts of the status. */
interface StatusView {
  readonly version: string;
  readonly uptimeMs: number;
  /** True from the announcement of a stop on; users see it as `draining`. */
  readonly stopping: boolean;
  readonly inFlight: number;
  readonly tunnels: number;
  readonly waiting: number;
  readonly configuredMs: number;
  readonly credentials: ReadonlyMap<string, CredentialConfig>;
  readonly tokens: ReadonlyMap<string, TokenStatus>;
  readonly routes: readonly Route[];
  readonly requestsByRoute: ReadonlyMap<string, number>;
  readonly recent: Recent;
  readonly share: EngineState | undefined;
  /** Undefined without limits. */
  readonly limits: readonly LimitStatus[] | undefined;
}

export interface Readiness {
  readonly ready: boolean;
  readonly draining: boolean;
  readonly credentials: Readonly<Record<string, CredentialReadiness>>;
  /** Only if tokens are shared; never a reason to be unready. */
  readonly share?: EngineState;
}

/** Every client of the listener may see it, so the reason is one word, without an address. */
interface CredentialReadiness {
  readonly state: string;
  readonly expiresInSeconds: number | null;
  /** The class of the last login's failure; null if it succeeded. */
  readonly reason: string | null;
  readonly nextLoginInSeconds: number | null;
}

/** Ready if every credential that logs in and that a route uses has a usable token, and no stop is announced. */
export function readinessOf({
  stopping,
  tokens,
  routes,
  share,
}: Pick<StatusView, 'stopping' | 'tokens' | 'routes' | 'share'>): Readiness {
  const credentials: Record<string, CredentialReadiness> = {};
  let ready = !stopping;
  for (const name of new Set(routes.map((route) => route.credentialName))) {
    const token = tokens.get(name);
    if (token === undefined) continue;
    credentials[name] = {
      state: token.state,
      expiresInSeconds: seconds(token.expiresInMs),
      reason: token.lastFailure?.code ?? null,
      nextLoginInSeconds: seconds(token.nextLoginInMs),
    };
    if (!token.usable) ready = false;
  }
  return { ready, draining: stopping, credentials, ...(share && { share }) };
}

export interface Status {
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly ready: boolean;
  readonly draining: boolean;
  /** Requests and tunnels under way. */
  readonly requestsInFlight: number;
  readonly tunnels: number;
  /** Of the requests under way, those that wait for a token. */
  readonly requestsWaiting: number;
  /** Requests that have ended. */
  readonly requestsAnswered: number;
  /** When the configuration in force was applied. */
  readonly configuredAt: string;
  /** The state of the engine that shares tokens; only if one is configured. */
  readonly share?: EngineState;
  /** Only if a limit is configured. */
  readonly limits?: readonly LimitStatus[];
  readonly credentials: Readonly<Record<string, CredentialStatus>>;
  readonly routes: readonly {
    /** The name of the route: `//HOST/PREFIX` if it has a host. */
    readonly prefix: string;
    readonly credential: string;
    readonly upstream: string;
    readonly requests: number;
    /** Of its requests among the last 200; null if there are none. */
    readonly latencyMs: Latency | null;
  }[];
}

interface CredentialStatus {
  readonly kind: string;
  readonly state: string;
  readonly expiresInSeconds: number | null;
  readonly fingerprint: string | null;
  readonly lastLogin: string | null;
  /** The newest first. */
  readonly lastLogins: readonly RecentLogin[];
  readonly lastFailure: { readonly at: string; readonly reason: string; readonly message: string } | null;
  readonly nextLoginInSeconds: number | null;
}

export function statusOf(view: StatusView): Status {
  const { ready, draining } = readinessOf(view);
  const { recent } = view;
  const latencies = recent.latencies();
  return {
    version: view.version,
    uptimeSeconds: Math.floor(view.uptimeMs / 1000),
    ready,
    draining,
    requestsInFlight: view.inFlight,
    tunnels: view.tunnels,
    requestsWaiting: view.waiting,
    requestsAnswered: recent.answered,
    configuredAt: new Date(view.configuredMs).toISOString(),
    ...(view.share && { share: view.share }),
    ...(view.limits && { limits: view.limits }),
    credentials: Object.fromEntries(
      [...view.credentials.values()].map((c) => [
        c.name,
        credentialStatus(c, view.tokens.get(c.name), recent.logins(c.name)),
      ]),
    ),
    routes: view.routes.map(({ name, credentialName, upstreamOrigin, upstreamPrefix }) => ({
      prefix: name,
      credential: credentialName,
      upstream: upstreamOrigin + (upstreamPrefix === '' ? '/' : upstreamPrefix),
      requests: view.requestsByRoute.get(name) ?? 0,
      latencyMs: latencies.get(name) ?? null,
    })),
  };
}

function credentialStatus(
  { kind }: CredentialConfig,
  token: TokenStatus | undefined,
  lastLogins: readonly RecentLogin[],
): CredentialStatus {
  return {
    kind,
    state: token?.state ?? 'ready',
    expiresInSeconds: seconds(token?.expiresInMs),
    fingerprint: token?.fingerprint ?? null,
    lastLogin: token?.lastLoginMs === undefined ? null : new Date(token.lastLoginMs).toISOString(),
    lastLogins,
    lastFailure:
      token?.lastFailure === undefined
        ? null
        : {
            at: new Date(token.lastFailure.atMs).toISOString(),
            reason: token.lastFailure.code,
            message: token.lastFailure.message,
          },
    nextLoginInSeconds: seconds(token?.nextLoginInMs),
  };
}

function seconds(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.max(0, Math.floor(ms / 1000));
}
