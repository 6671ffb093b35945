import type { CredentialConfig } from '../config/config.ts';
import type { Route } from '../routes/route-table.ts';
import type { TokenStatus } from '../tokens/token-status.ts';

/** What the status is made of. */
export interface StatusView {
  readonly version: string;
  readonly uptimeMs: number;
  readonly draining: boolean;
  readonly inFlight: number;
  readonly credentials: ReadonlyMap<string, CredentialConfig>;
  readonly tokens: ReadonlyMap<string, TokenStatus>;
  readonly routes: readonly Route[];
  readonly requestsByRoute: ReadonlyMap<string, number>;
}

export interface Readiness {
  readonly ready: boolean;
  readonly draining: boolean;
  readonly credentials: Readonly<
    Record<string, { readonly state: string; readonly expiresInSeconds: number | null }>
  >;
}

/** Ready when every credential that logs in and that a route uses has a usable token, and nothing is draining. */
export function readinessOf({
  draining,
  tokens,
  routes,
}: Pick<StatusView, 'draining' | 'tokens' | 'routes'>): Readiness {
  const credentials: Record<string, { state: string; expiresInSeconds: number | null }> = {};
  let ready = !draining;
  for (const name of new Set(routes.map((route) => route.credentialName))) {
    const token = tokens.get(name);
    if (token === undefined) continue;
    credentials[name] = { state: token.state, expiresInSeconds: seconds(token.expiresInMs) };
    if (!token.usable) ready = false;
  }
  return { ready, draining, credentials };
}

export interface Status {
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly ready: boolean;
  readonly draining: boolean;
  readonly requestsInFlight: number;
  readonly credentials: Readonly<Record<string, CredentialStatus>>;
  readonly routes: readonly {
    readonly prefix: string;
    readonly credential: string;
    readonly upstream: string;
    readonly requests: number;
  }[];
}

interface CredentialStatus {
  readonly kind: string;
  readonly state: string;
  readonly expiresInSeconds: number | null;
  readonly fingerprint: string | null;
  readonly lastLogin: string | null;
  readonly lastFailure: { readonly at: string; readonly reason: string; readonly message: string } | null;
  readonly nextLoginInSeconds: number | null;
}

export function statusOf(view: StatusView): Status {
  const { ready, draining } = readinessOf(view);
  return {
    version: view.version,
    uptimeSeconds: Math.floor(view.uptimeMs / 1000),
    ready,
    draining,
    requestsInFlight: view.inFlight,
    credentials: Object.fromEntries(
      [...view.credentials.values()].map((c) => [c.name, credentialStatus(c, view.tokens.get(c.name))]),
    ),
    routes: view.routes.map(({ prefix, credentialName, upstreamOrigin, upstreamPrefix }) => ({
      prefix,
      credential: credentialName,
      upstream: upstreamOrigin + (upstreamPrefix === '' ? '/' : upstreamPrefix),
      requests: view.requestsByRoute.get(prefix) ?? 0,
    })),
  };
}

function credentialStatus({ kind }: CredentialConfig, token: TokenStatus | undefined): CredentialStatus {
  return {
    kind,
    state: token?.state ?? 'ready',
    expiresInSeconds: seconds(token?.expiresInMs),
    fingerprint: token?.fingerprint ?? null,
    lastLogin: token?.lastLoginMs === undefined ? null : new Date(token.lastLoginMs).toISOString(),
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
