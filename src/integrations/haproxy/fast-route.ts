import { isIP } from 'node:net';
import type { Config } from '../../config/config.ts';
import type { CredentialConfig } from '../../config/sections/credentials/credential.ts';
import { bareHost, isLoopbackName } from '../../config/values/addresses.ts';
import { hostOf, type Lanes } from '../../routes/lanes.ts';
import type { Route } from '../../routes/route-table.ts';
import type { RoutesByHost } from '../../routes/routes-by-host.ts';

/** A route with a fast lane, and how HAProxy reaches its upstream. */
export interface FastRoute {
  readonly route: Route;
  readonly credential: CredentialConfig;
  /** The name of its backends. */
  readonly name: string;
  /** The `Host` that the upstream gets. */
  readonly host: string;
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly tls: boolean;
    /** HAProxy has to resolve the host. */
    readonly isName: boolean;
  };
  /** A 401 is tried again, because the token may have been revoked. */
  readonly renews: boolean;
}

/** The routes with a fast lane, and why the others have none. */
export function fastRoutes(
  { routes }: RoutesByHost,
  { slow }: Lanes,
  { credentials }: Config,
): { readonly fast: readonly FastRoute[]; readonly slow: ReadonlyMap<Route, string> } {
  const fast: FastRoute[] = [];
  const others = new Map(slow);
  for (const route of routes) {
    const credential = credentials.get(route.credentialName);
    if (others.has(route) || credential === undefined) continue;
    const why = whyNot(route, credential);
    if (why === undefined) fast.push(fastRoute(route, credential, fast));
    else others.set(route, why);
  }
  return { fast, slow: others };
}

function whyNot({ upstreamOrigin }: Route, { name, header }: CredentialConfig): string | undefined {
  const { protocol, hostname } = new URL(upstreamOrigin);
  if (protocol === 'https:' && isIP(bareHost(hostname)) !== 0)
    return 'HAProxy checks a certificate by a name, and its upstream has only an address';
  if (!/^[\w.-]+$/.test(name)) return `HAProxy can't look up a credential named ${name}`;
  if (!/^[\w-]+$/.test(header)) return `HAProxy's configuration can't hold the header name ${header}`;
  return undefined;
}

function fastRoute(route: Route, credential: CredentialConfig, before: readonly FastRoute[]): FastRoute {
  const { protocol, hostname, port } = new URL(route.upstreamOrigin);
  const tls = protocol === 'https:';
  const at = route.upstreamAddress;
  const host = at?.host ?? bareHost(hostname);
  // localhost may also be ::1. If nothing listens at 127.0.0.1, the request goes to bearerd, which tries both.
  const isLocal = isLoopbackName(host);
  const slug = slugOf(route);
  const taken = before.filter(({ name }) => name === `to-${slug}` || name.startsWith(`to-${slug}.`)).length;
  return {
    route,
    credential,
    name: taken === 0 ? `to-${slug}` : `to-${slug}.${taken + 1}`,
    host: hostOf(route),
    server: {
      host: isLocal ? '127.0.0.1' : host,
      port: at?.port ?? (port === '' ? (tls ? 443 : 80) : Number(port)),
      tls,
      isName: isIP(host) === 0 && !isLocal,
    },
    renews: credential.kind !== 'api-key' && credential.kind !== 'basic',
  };
}

function slugOf({ host = '', prefix }: Route): string {
  return `${host}${prefix}`.replaceAll(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '') || 'root';
}
