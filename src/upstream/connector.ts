import { isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { ConnectTimeoutError } from '../base/errors.ts';
import { ConnectionTimes } from '../base/journey.ts';
import type { Config } from '../config/config.ts';
import { bareHost, formatUpstreamAddress, type UpstreamAddress } from '../config/values/addresses.ts';
import { dial, type Lookup, onlyLoopback } from './dial.ts';
import { onAbort } from './on-abort.ts';
import { outboundWay, portOf } from './outbound-proxy.ts';
import { openTunnel, outboundProxyError } from './outbound-tunnel.ts';
import type { ReadBuffer } from './read-buffer.ts';
import { TlsClient } from './tls-client.ts';

export type Connected = (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void;

interface ConnectOptions {
  /** A plain connection reads into this buffer; other connections ignore it. */
  readonly buffer?: ReadBuffer | undefined;
  /** Aborts the attempt before its time limit. */
  readonly signal?: AbortSignal | undefined;
  /** The connector fills in the times. */
  readonly times?: ConnectionTimes | undefined;
}

/** Opens a connection, for logins, requests and upgrades. Never calls back before it returns. */
export type Connector = (done: Connected, options?: ConnectOptions) => void;

/** The connectors for one origin. */
export interface Connectors {
  readonly http1: Connector;
  /** Offers HTTP/2, too. The socket's `alpnProtocol` says which protocol the upstream chose. */
  readonly http2: Connector;
  /** Connections use neither TLS nor an outbound proxy. */
  readonly plain: boolean;
}

interface ConnectorOptions {
  /** For name lookup, TCP, tunnel and TLS together; 0 for no limit. */
  readonly timeoutMs: number;
  /** Called at the first TLS connection. */
  readonly secureContext: () => SecureContext;
  readonly outboundProxy: Config['outboundProxy'];
  readonly lookup: Lookup;
  /** Without TLS, connections may go to other machines. */
  readonly allowInsecure: boolean;
  /** Where to connect in place of the origin's host. The certificate must still be for the origin's host. */
  readonly address?: UpstreamAddress | undefined;
}

/** One connection that is being opened. */
interface Opening {
  readonly signal: AbortSignal;
  readonly buffer: ReadBuffer | undefined;
  readonly times: ConnectionTimes;
}

/** Opens a connection. If it throws, it has destroyed what it opened. */
type Step = (opening: Opening) => Promise<Socket>;
/** Goes on from an open connection, in the same way. */
type Upon = (socket: Socket, opening: Opening) => Promise<Socket>;

/** Makes the connectors for one origin: direct, or through the outbound proxy that the environment names for it. */
export function createConnectors(origin: string, options: ConnectorOptions): Connectors {
  const server = new URL(origin);
  const to = destinationOf(server, options.address);
  const { proxy } = outboundWay(origin, options.outboundProxy, options.address);
  const inClear = server.protocol === 'http:';
  // The configuration names a loopback host then, and the system may resolve it to any address.
  const lookup = inClear && !options.allowInsecure ? onlyLoopback(options.lookup) : options.lookup;
  const base = proxy === undefined ? directly(to, lookup) : through(proxy, to, options);
  const connector = (protocols: string[]) =>
    inTime(then(base, secured(server, options, protocols)), options.timeoutMs, isIP(to.host) === 0);
  const plain = proxy === undefined && inClear;
  return { http1: connector(['http/1.1']), http2: connector(['h2', 'http/1.1']), plain };
}

type Address = Required<UpstreamAddress>;

function destinationOf(server: URL, address?: UpstreamAddress): Address {
  return { host: address?.host ?? bareHost(server.hostname), port: address?.port ?? portOf(server) };
}

function directly(at: Address, lookup: Lookup): Step {
  return (opening) => {
    const { buffer } = opening;
    return dial({ ...at, ...(buffer && { onread: buffer.onread }) }, lookup, opening);
  };
}

/** Through a tunnel of the proxy, which never sees a credential. An `https:` proxy is verified by its own name. */
function through(proxy: URL, to: Address, options: ConnectorOptions): Step {
  const toProxy = then(directly(destinationOf(proxy), options.lookup), secured(proxy, options, ['http/1.1']));
  const authority = formatUpstreamAddress(to);
  return async (opening) => {
    const { signal, times } = opening;
    const ofProxy = new ConnectionTimes();
    const beganMonoMs = performance.now();
    try {
      const socket = await toProxy({ ...opening, times: ofProxy });
      await openTunnel(socket, proxy, authority, signal);
      times.connectMs = performance.now() - beganMonoMs - Math.max(0, ofProxy.dnsMs);
      return socket;
    } catch (error) {
      throw outboundProxyError(proxy, error);
    } finally {
      times.dnsMs = ofProxy.dnsMs;
    }
  };
}

/** Starts TLS for `https:`; does nothing for `http:`. */
function secured(server: URL, { secureContext }: ConnectorOptions, protocols: string[]): Upon {
  if (server.protocol !== 'https:') return async (socket) => socket;
  let client: TlsClient | undefined;
  return async (socket, { signal, times }) => {
    const beganMonoMs = performance.now();
    client ??= new TlsClient(bareHost(server.hostname), secureContext(), protocols);
    const secure = await client.start(socket, signal);
    times.tlsMs = performance.now() - beganMonoMs;
    return secure;
  };
}

function then(first: Step, second: Upon): Step {
  return async (opening) => second(await first(opening), opening);
}

function inTime(open: Step, timeoutMs: number, named: boolean): Connector {
  return (done, { buffer, signal, times = new ConnectionTimes() } = {}) => {
    const limit = new AbortController();
    const late = () => limit.abort(new ConnectTimeoutError(unended(times, named), timeoutMs));
    if (signal !== undefined) onAbort(signal, (reason) => limit.abort(reason));
    const timer = timeoutMs === 0 ? undefined : setTimeout(late, timeoutMs);
    open({ signal: limit.signal, buffer, times })
      .finally(() => clearTimeout(timer))
      .then(
        (socket) => done(null, socket),
        (error: Error) => done(error, null),
      );
  };
}

/** The step that did not end in time. @param named whether there is a name to look up */
function unended({ dnsMs, connectMs }: ConnectionTimes, named: boolean): 'dns' | 'connect' | 'tls' {
  if (connectMs !== -1) return 'tls';
  return named && dnsMs === -1 ? 'dns' : 'connect';
}
