import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Client, Dispatcher } from 'undici';
import type { Config } from '../config/config.ts';
import type { Route } from '../routes/route-table.ts';
import { type ConnectionAware, KEEP_ALIVE_MS } from './connection.ts';
import { type Connector, type Connectors, createConnectors } from './connector.ts';
import { type Lookup, systemLookup } from './dial.ts';
import { Http1Connection } from './h1-connection.ts';
import { Http1Pool } from './h1-pool.ts';
import type { Http2Job } from './h2-job.ts';
import { Http2Pool } from './h2-pool.ts';
import { lazySecureContext, sameTls } from './secure-context.ts';

export interface PoolOptions {
  readonly headerSizeBytes: number;
  readonly connectTimeoutMs: number;
  /** HTTP/2 is spoken where the upstream chooses it. */
  readonly http2: boolean;
}

/** All connections to one origin, with one connect timeout. */
export class UpstreamPool {
  readonly origin: string;
  /** For `Host`. */
  readonly host: string;
  readonly headerSizeBytes: number;
  readonly #connectTimeoutMs: number;
  readonly #connectors: Connectors;
  readonly #http1: Http1Pool;
  readonly #options: Client.Options;
  /** Until the upstream has chosen HTTP/1.1, and then no more. */
  #http2: Http2Pool | undefined;
  #mayHttp2: boolean;
  /** The connection on which it chose so; it serves the first request. */
  #spare: Socket | undefined;
  #closed = false;

  constructor(origin: string, options: PoolOptions, connectors: Connectors) {
    this.origin = origin;
    this.host = new URL(origin).host;
    this.headerSizeBytes = options.headerSizeBytes;
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#connectors = connectors;
    this.#mayHttp2 = options.http2 && origin.startsWith('https:');
    this.#options = {
      maxHeaderSize: options.headerSizeBytes,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The watchdog keeps the time: one timer for all requests instead of two for each.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
      allowH2: false,
    };
    this.#http1 = new Http1Pool(() => new Http1Connection(origin, this.#options, this.#connectOrTakeSpare));
  }

  readonly #connectOrTakeSpare: Connector = (options, callback) => {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare === undefined || spare.destroyed) this.#connectors.http1(options, callback);
    else queueMicrotask(() => callback(null, spare)); // undici can't be called back before its call is over.
  };

  #keepSpare(socket: Socket): void {
    this.#dropSpare();
    // Once closed, those that waited for it get connections of their own.
    if (this.#closed) socket.destroy();
    else this.#spare = socket;
  }

  #dropSpare(): void {
    this.#spare?.destroy();
    this.#spare = undefined;
  }

  /** Sends a request on any connection. After `close` too: a request that began before a reload ends as it began. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler & ConnectionAware): void {
    if (this.#closed) {
      this.dispatchFresh(options, handler);
    } else if (this.#mayHttp2) {
      this.#http2 ??= this.#createHttp2((socket, jobs) => {
        this.#mayHttp2 = false;
        this.#keepSpare(socket);
        for (const job of jobs) this.dispatch(job.options, job.handler);
      });
      this.#http2.dispatch({ options, handler, again: false });
    } else {
      this.#http1.dispatch(options, handler);
    }
  }

  /** Sends a request on a connection of its own, which is closed afterwards. */
  dispatchFresh(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler & ConnectionAware,
  ): void {
    if (!this.#mayHttp2) {
      this.#dispatchAlone(options, handler, this.#connectors.http1);
      return;
    }
    const pool = this.#createHttp2((socket) => {
      this.#dispatchAlone(options, handler, (_options, callback) =>
        queueMicrotask(() => callback(null, socket)),
      );
    });
    pool.dispatch({ options, handler, again: false });
    pool.close();
  }

  #dispatchAlone(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
    connector: Connector,
  ): void {
    const connection = new Http1Connection(this.origin, this.#options, connector);
    connection.dispatch({ ...options, reset: true }, handler);
    connection.close().catch(() => {});
  }

  #createHttp2(http1: (socket: Socket, jobs: readonly Http2Job[]) => void): Http2Pool {
    return new Http2Pool({
      origin: this.origin,
      headerSizeBytes: this.headerSizeBytes,
      connectTimeoutMs: this.#connectTimeoutMs,
      open: (callback) => this.#open(this.#connectors.http2, callback),
      http1,
    });
  }

  /** Opens a connection that is nobody's yet, for HTTP/1.1: an upgrade's, or a login's. */
  connect(callback: Parameters<Connector>[1], signal?: AbortSignal): void {
    this.#open(this.#connectors.http1, callback, signal);
  }

  #open(connector: Connector, callback: Parameters<Connector>[1], signal?: AbortSignal): void {
    const { hostname, host, protocol, port } = new URL(this.origin);
    const place = { hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port };
    connector(signal === undefined ? place : { ...place, signal }, callback);
  }

  /** Lets the requests under way end, then closes. */
  close(): void {
    this.#closed = true;
    this.#dropSpare();
    this.#http1.close();
    this.#http2?.close();
  }

  destroy(): void {
    this.#closed = true;
    this.#dropSpare();
    this.#http1.destroy();
    this.#http2?.destroy();
  }
}

/**
 * The pools of one configuration: one for each origin and connect timeout. Those of the configuration before are taken
 * over where they would be made alike, connections and TLS sessions with them.
 */
export class UpstreamPools {
  readonly #pools = new Map<string, UpstreamPool>();
  readonly #ofRoutes = new Map<Route, UpstreamPool>();
  readonly #config: Config;
  readonly #lookup: Lookup;
  readonly #secureContext: () => SecureContext;
  #before: UpstreamPools | undefined;

  /** @param before until `replaceBefore`, where there is one */
  constructor(config: Config, lookup = systemLookup, before?: UpstreamPools) {
    this.#config = config;
    this.#lookup = lookup;
    this.#before = before;
    this.#secureContext =
      before !== undefined && sameTls(before.#config.tls, config.tls)
        ? before.#secureContext
        : lazySecureContext(config.tls);
  }

  /** The one that a route's requests go by; worked out once for each route. */
  of(route: Route): UpstreamPool {
    let pool = this.#ofRoutes.get(route);
    if (pool === undefined) {
      pool = this.get(route.upstreamOrigin, route.timeouts.connectMs);
      this.#ofRoutes.set(route, pool);
    }
    return pool;
  }

  get(origin: string, connectTimeoutMs: number): UpstreamPool {
    const key = `${origin} ${connectTimeoutMs}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = this.#fromBefore(key) ?? this.#create(origin, connectTimeoutMs);
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /** Once this is in use, and has been asked for each pool that it needs: the others of the one before close. */
  replaceBefore(): void {
    if (this.#before === undefined) return;
    const kept = new Set(this.#pools.values());
    for (const pool of this.#before.#pools.values()) if (!kept.has(pool)) pool.close();
    this.#before = undefined; // Else each would hold all that ever were.
  }

  destroy(): void {
    for (const pool of this.#pools.values()) pool.destroy();
  }

  #fromBefore(key: string): UpstreamPool | undefined {
    const before = this.#before;
    if (before === undefined || before.#secureContext !== this.#secureContext) return undefined;
    return isDeepStrictEqual(connectionSettings(before.#config), connectionSettings(this.#config))
      ? before.#pools.get(key)
      : undefined;
  }

  #create(origin: string, connectTimeoutMs: number): UpstreamPool {
    const { outboundProxy, limits, upstreamHttp2 } = this.#config;
    const connectors = createConnectors(origin, {
      timeoutMs: connectTimeoutMs,
      secureContext: this.#secureContext,
      outboundProxy,
      lookup: this.#lookup,
    });
    const options = { connectTimeoutMs, headerSizeBytes: limits.headerSizeBytes, http2: upstreamHttp2 };
    return new UpstreamPool(origin, options, connectors);
  }
}

/** What of a configuration, TLS aside, is built into a pool. */
function connectionSettings({ outboundProxy, limits, upstreamHttp2 }: Config): object {
  return { outboundProxy, headerSizeBytes: limits.headerSizeBytes, upstreamHttp2 };
}
