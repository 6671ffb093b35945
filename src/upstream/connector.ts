import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { Config } from '../config/config.ts';
import { outboundProxyFor } from './outbound-proxy.ts';
import { tunnelThrough } from './outbound-tunnel.ts';

/** undici's own shape of "open a connection"; the login, requests and upgrades all open theirs by it. */
export type Connector = buildConnector.connector;

/**
 * What every TLS connection of one configuration shares, made once: parsing some 150 root certificates for each
 * connection would take longer than the handshake. A configured CA is added to those trusted anyway.
 */
export function createTlsContext({ tls }: Config): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(tls.ca === undefined ? {} : { ca: [...getCACertificates('default'), tls.ca] }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key.expose() }),
  });
}

/** Connections to one origin. */
export interface Connectors {
  readonly http1: Connector;
  /** Offers HTTP/2 as well; whoever opens by it has to look at the socket's `alpnProtocol`. */
  readonly http2: Connector;
}

/**
 * Opens connections to one origin, directly or through the outbound proxy that the environment names for it.
 * `connectTimeoutMs` covers TCP and TLS; 0 means no limit.
 */
export function createConnectors(
  origin: string,
  connectTimeoutMs: number,
  secureContext: SecureContext,
  outboundProxy: Config['outboundProxy'],
): Connectors {
  const direct = (allowH2: boolean) =>
    buildConnector({
      // Said in full: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would else switch verification off.
      rejectUnauthorized: true,
      secureContext,
      timeout: connectTimeoutMs,
      allowH2,
      preferH2: allowH2,
    });
  const proxy = outboundProxyFor(origin, outboundProxy);
  const http1 = direct(false);
  const http2 = direct(true);
  if (proxy === undefined) return { http1, http2 };
  // The outbound proxy itself is always asked in HTTP/1.1.
  const through = (inside: Connector) => tunnelThrough(proxy, http1, inside, connectTimeoutMs);
  return { http1: through(http1), http2: through(http2) };
}
