import type { Socket } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { buildConnector, Client } from 'undici';
import type { Config } from '../config/config.ts';
import { outboundProxyFor } from './outbound-proxy.ts';

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

/**
 * Opens connections to one origin, directly or through the outbound proxy that the environment names for it.
 * `connectTimeoutMs` covers TCP and TLS; 0 means no limit.
 */
export function createConnector(
  origin: string,
  connectTimeoutMs: number,
  secureContext: SecureContext,
  outboundProxy: Config['outboundProxy'],
): Connector {
  const direct = buildConnector({
    // Said in full: NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would else switch verification off.
    rejectUnauthorized: true,
    secureContext,
    timeout: connectTimeoutMs,
    allowH2: false,
  });
  const proxy = outboundProxyFor(origin, outboundProxy);
  return proxy === undefined ? direct : tunnelThrough(proxy, direct, connectTimeoutMs);
}

/** The outbound proxy did not open the tunnel. */
export class OutboundProxyError extends Error {
  readonly code = 'ERR_OUTBOUND_PROXY';
  readonly status: number;

  constructor(status: number) {
    super(`the outbound proxy answers CONNECT with status ${status}`);
    this.status = status;
  }
}

/** RFC 9110 §9.3.6: a tunnel by CONNECT, then TLS to the origin inside it: the proxy never sees a credential. */
function tunnelThrough(proxy: URL, direct: Connector, timeoutMs: number): Connector {
  const headers: Record<string, string> = {};
  if (proxy.username !== '' || proxy.password !== '') {
    const userInfo = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
    headers['proxy-authorization'] = `Basic ${Buffer.from(userInfo).toString('base64')}`;
  }
  return (options, callback) => {
    const port = options.port !== '' ? options.port : options.protocol === 'https:' ? '443' : '80';
    const host = options.hostname.includes(':') ? `[${options.hostname}]` : options.hostname;
    const client = new Client(proxy.origin, { connect: direct, headersTimeout: timeoutMs });
    const authority = `${host}:${port}`;
    client
      .connect({ path: authority, headers: { ...headers, host: authority } })
      .then(({ socket, statusCode }) => {
        if (statusCode !== 200) {
          socket.on('error', () => {}).destroy();
          throw new OutboundProxyError(statusCode);
        }
        if (options.protocol !== 'https:') return callback(null, socket as Socket);
        direct({ ...options, httpSocket: socket as Socket }, callback);
      })
      .catch((error: Error) => callback(error, null))
      .finally(() => client.close().catch(() => {}));
  };
}
