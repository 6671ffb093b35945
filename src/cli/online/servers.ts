import { sessionPlaces } from '../../app/logins.ts';
import { tokenServers } from '../../app/token-servers.ts';
import { systemClock } from '../../base/clock.ts';
import { LoginError } from '../../base/login-error.ts';
import type { Config } from '../../config/config.ts';
import type { OAuth2CredentialConfig } from '../../config/sections/credentials/oauth2.ts';
import { LOGIN_TIMEOUT_MS } from '../../login/login-request.ts';
import type { LoginServer } from '../../login/login-server.ts';
import { outboundWay } from '../../upstream/outbound-proxy.ts';
import { UpstreamPools } from '../../upstream/pools.ts';
import type { Visited } from './server-checks.ts';
import { visit } from './server-visit.ts';

interface Server {
  readonly origin: string;
  readonly path: string;
  readonly connect: () => Promise<LoginServer>;
}

/** Visits each server that requests or logins go to, all at once. */
export async function visitServers(config: Config): Promise<Visited[]> {
  const pools = new UpstreamPools(config);
  try {
    const visits = serversOf(config, pools).map(async ({ origin, path, connect }) => {
      const server = await connect().catch((error: unknown) => {
        if (error instanceof LoginError) return undefined; // Its login says that better.
        throw error;
      });
      if (server === undefined) return [];
      const way = outboundWay(origin, config.outboundProxy, config.upstreamAddresses.get(origin));
      return [{ origin, way, visit: await visit(server, path, systemClock) }];
    });
    return (await Promise.all(visits)).flat();
  } finally {
    pools.destroy();
  }
}

/** Each origin once, the base URL's first. */
function serversOf(config: Config, pools: UpstreamPools): Server[] {
  const servers = new Map<string, Server>();
  const add = (origin: string, path: string, connect: Server['connect']) => {
    if (!servers.has(origin)) servers.set(origin, { origin, path, connect });
  };
  const plain = (origin: string) => async () => pools.ofOrigin(origin, config.timeouts.connectMs);
  const routed = config.routes.filter(({ credential }) => credential !== 'deny').map((r) => r.upstream);
  for (const { origin, basePath } of [config.upstream, ...routed, ...sessionPlaces(config)])
    add(origin, basePath === '' ? '/' : basePath, plain(origin));
  for (const credential of config.credentials.values()) {
    if (credential.kind !== 'oauth2') continue;
    const origin = originOf(credential);
    add(origin, '/', () =>
      tokenServers(config, pools, credential.tls).at(origin, AbortSignal.timeout(LOGIN_TIMEOUT_MS)),
    );
  }
  return [...servers.values()];
}

/** Where it logs in, or where it asks for that. */
function originOf({ tokenEndpoint, issuer }: OAuth2CredentialConfig): string {
  return tokenEndpoint?.origin ?? new URL(issuer!).origin;
}
