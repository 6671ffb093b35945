import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import type { Config } from '../config/config.ts';
import { ConnectTimeoutError } from '../errors.ts';
import { dial, type Lookup } from './dial.ts';
import { onAbort } from './on-abort.ts';
import { outboundProxyFor } from './outbound-proxy.ts';
import { openTunnel, outboundProxyError } from './outbound-tunnel.ts';
import { TlsClient } from './tls-client.ts';

/** Beside what undici says: whoever no longer wants the connection need not wait for the limit. */
type ConnectOptions = buildConnector.Options & { readonly signal?: AbortSignal };

/** undici's own shape of "open a connection"; the login, requests and upgrades all open theirs by it. */
export type Connector = (options: ConnectOptions, callback: buildConnector.Callback) => void;

/** Connections to one origin. */
export interface Connectors {
  readonly http1: Connector;
  /** Offers HTTP/2 as well; whoever opens by it has to look at the socket's `alpnProtocol`. */
  readonly http2: Connector;
}

export interface ConnectorOptions {
  /** For the whole way: the name, TCP, a tunnel and TLS; 0 for no limit. */
  readonly timeoutMs: number;
  /** Asked for at the first TLS connection. */
  readonly secureContext: () => SecureContext;
  readonly outboundProxy: Config['outboundProxy'];
  readonly lookup: Lookup;
}

/** Gives a connection, or throws; destroys what it has opened by then. */
type Step = (signal: AbortSignal) => Promise<Socket>;
type Upon = (socket: Socket, signal: AbortSignal) => Promise<Socket>;

/** Opens connections to one origin, directly or through the outbound proxy that the environment names for it. */
export function createConnectors(origin: string, options: ConnectorOptions): Connectors {
  const server = new URL(origin);
  const proxy = outboundProxyFor(origin, options.outboundProxy);
  const base = proxy === undefined ? directly(server, options.lookup) : through(proxy, server, options);
  const connector = (protocols: string[]) =>
    inTime(then(base, secured(server, options, protocols)), options.timeoutMs);
  return { http1: connector(['http/1.1']), http2: connector(['h2', 'http/1.1']) };
}

function directly(server: URL, lookup: Lookup): Step {
  return (signal) => dial(bareHost(server), portOf(server), lookup, signal);
}

/** To the proxy, by TLS to the proxy's own name where its URL says so, and a tunnel: it never sees a credential. */
function through(proxy: URL, server: URL, options: ConnectorOptions): Step {
  const toProxy = then(directly(proxy, options.lookup), secured(proxy, options, ['http/1.1']));
  const authority = `${server.hostname}:${portOf(server)}`;
  return async (signal) => {
    try {
      const socket = await toProxy(signal);
      await openTunnel(socket, proxy, authority, signal);
      return socket;
    } catch (error) {
      throw outboundProxyError(proxy, error);
    }
  };
}

/** TLS for `https:`, and nothing for `http:`. */
function secured(server: URL, { secureContext }: ConnectorOptions, protocols: string[]): Upon {
  if (server.protocol !== 'https:') return async (socket) => socket;
  let client: TlsClient | undefined;
  return (socket, signal) => {
    client ??= new TlsClient(bareHost(server), secureContext(), protocols);
    return client.start(socket, signal);
  };
}

function then(first: Step, second: Upon): Step {
  return async (signal) => second(await first(signal), signal);
}

function inTime(open: Step, timeoutMs: number): Connector {
  return ({ signal }, callback) => {
    const limit = new AbortController();
    const late = () => limit.abort(new ConnectTimeoutError());
    if (signal !== undefined) onAbort(signal, (reason) => limit.abort(reason));
    const timer = timeoutMs === 0 ? undefined : setTimeout(late, timeoutMs);
    open(limit.signal)
      .finally(() => clearTimeout(timer))
      .then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
  };
}

function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}
