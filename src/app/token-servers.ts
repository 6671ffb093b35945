import { LoginError } from '../base/login-error.ts';
import type { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import type { ClientCertificate } from '../config/sections/credentials/oauth2-client-fields.ts';
import { readLoginFile } from '../login/login-file.ts';
import type { LoginServer, TokenServers } from '../login/login-server.ts';
import type { UpstreamPools } from '../upstream/pools.ts';

/** The connections of one credential to token endpoints: shared ones, or with its own client certificate. */
export function tokenServers(
  { timeouts: { connectMs } }: Config,
  pools: UpstreamPools,
  certificate: ClientCertificate | undefined,
): TokenServers {
  if (certificate === undefined) return { at: async (origin) => pools.ofOrigin(origin, connectMs) };
  let last:
    | { readonly cert: Secret; readonly key: Secret; readonly servers: Map<string, LoginServer> }
    | undefined;
  return {
    async at(origin, signal) {
      const [cert, key] = await Promise.all([
        readLoginFile(certificate.certFile, 'client certificate', signal),
        readLoginFile(certificate.keyFile, 'key of the client certificate', signal),
      ]);
      // Kept, since each TLS context takes more than a megabyte.
      if (!last?.cert.equals(cert) || !last.key.equals(key)) last = { cert, key, servers: new Map() };
      const server = last.servers.get(origin) ?? withCertificate(pools, origin, connectMs, { cert, key });
      last.servers.set(origin, server);
      return server;
    },
  };
}

function withCertificate(
  pools: UpstreamPools,
  origin: string,
  connectMs: number,
  pair: { readonly cert: Secret; readonly key: Secret },
): LoginServer {
  try {
    return pools.loginServer(origin, connectMs, pair);
  } catch {
    // OpenSSL's message does not help, and may hold anything.
    throw new LoginError(
      'unreachable',
      "the client certificate and its key can't be used: no PEM, or no pair",
    );
  }
}
