import type { SecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import { formatUpstreamAddress, type UpstreamAddress } from '../config/values/addresses.ts';
import type { Route } from '../routes/route-table.ts';
import type { Receiver, SendOptions } from './carrier.ts';
import { type Connected, type Connectors, createConnectors } from './connector.ts';
import { type Lookup, systemLookup } from './dial.ts';
import { Http1Pool } from './h1-pool.ts';
import { Http2Pool } from './h2-pool.ts';
import { lazySecureContext, sameTls } from './secure-context.ts';

interface PoolOptions {
  readonly headerSizeBytes: number;
  readonly connectTimeoutMs: number;
  /** HTTP/2 is offered; the upstream chooses. */
  readonly http2: boolean;
}

/** How long an upstream that chose or required HTTP/1.1 is not offered HTTP/2 again. */
const HTTP1_FOR_MS = 10 * 60_000;
/** How long each upload has an HTTP/2 connection of its own, after the upstream closed a connection in use. */
const UPLOADS_ALONE_FOR_MS = 10 * 60_000;

/** The connections to one origin, with one connect timeout. */
export class UpstreamPool {
  readonly origin: string;
  /** The value of `Host`. */
  readonly host: string;
  readonly headerSizeBytes: number;
  readonly #connectTimeoutMs: number;
  readonly #connectors: Connectors;
  readonly #http1: Http1Pool;
  #http2: Http2Pool | undefined;
  /** HTTP/2 is offered from this moment on. */
  #http2FromMonoMs: number;
  /** Until this moment each upload has an HTTP/2 connection of its own. */
  #uploadsAloneUntilMonoMs = 0;
  #closed = false;

  constructor(origin: string, options: PoolOptions, connectors: Connectors) {
    const { headerSizeBytes, connectTimeoutMs, http2 } = options;
    this.origin = origin;
    this.host = new URL(origin).host;
    this.headerSizeBytes = headerSizeBytes;
    this.#connectTimeoutMs = connectTimeoutMs;
    this.#connectors = connectors;
    this.#http2FromMonoMs = http2 && origin.startsWith('https:') ? 0 : Number.POSITIVE_INFINITY;
    this.#http1 = new Http1Pool({
      host: this.host,
      headerSizeBytes,
      open: connectors.http1,
      plain: connectors.plain,
    });
  }

  /** Sends a request. Also works after `close`: a request that began before a reload goes on with its old settings. */
  send(receiver: Receiver, options: SendOptions): void {
    const now = performance.now();
    if (options.upgrade || options.http1 || now < this.#http2FromMonoMs) {
      this.#http1.send(receiver, options);
    } else if (options.fresh || this.#closed || (options.upload && now < this.#uploadsAloneUntilMonoMs)) {
      const alone = this.#createHttp2();
      alone.send(receiver);
      alone.close();
    } else {
      this.#http2 ??= this.#createHttp2();
      this.#http2.send(receiver);
    }
  }

  #createHttp2(): Http2Pool {
    const pool = new Http2Pool({
      origin: this.origin,
      headerSizeBytes: this.headerSizeBytes,
      connectTimeoutMs: this.#connectTimeoutMs,
      open: this.#connectors.http2,
      http1: (socket, times, waiting) => {
        this.#http1.adopt(socket, times);
        this.#speakHttp1(pool, waiting);
      },
      http1Required: (waiting) => this.#speakHttp1(pool, waiting),
      // Requests that a GOAWAY excludes are sent again. An upload can't be: the part that was sent is not kept.
      retiredEarly: () => {
        this.#uploadsAloneUntilMonoMs = performance.now() + UPLOADS_ALONE_FOR_MS;
      },
    });
    return pool;
  }

  /** Uses HTTP/1.1 for a while. Requests under way in HTTP/2 go on. */
  #speakHttp1(pool: Http2Pool, waiting: readonly Receiver[]): void {
    this.#http2FromMonoMs = performance.now() + HTTP1_FOR_MS;
    if (this.#http2 === pool) this.#http2 = undefined;
    pool.close();
    for (const receiver of waiting)
      this.#http1.send(receiver, { fresh: false, upgrade: false, http1: true, upload: true, once: true });
  }

  /** Opens a connection outside of the pool, over HTTP/1.1, for a login. */
  connect(done: Connected, signal?: AbortSignal): void {
    this.#connectors.http1(done, { signal });
  }

  /** Lets requests under way end, then closes. */
  close(): void {
    this.#closed = true;
    this.#http1.close();
    this.#http2?.close();
  }

  destroy(): void {
    this.#closed = true;
    this.#http1.destroy();
    this.#http2?.destroy();
  }
}

/**
 * The pools of one configuration: one for each origin, connect timeout and address. A reload takes over the pools of the
 * previous configuration whose settings are the same, with their connections and TLS sessions.
 */
export class UpstreamPools {
  readonly #pools = new Map<string, UpstreamPool>();
  readonly #ofRoutes = new Map<Route, UpstreamPool>();
  readonly #config: Config;
  readonly #lookup: Lookup;
  readonly #secureContext: () => SecureContext;
  #previous: UpstreamPools | undefined;

  /** @param previous pools to take over, until `closePrevious` */
  constructor(config: Config, lookup = systemLookup, previous?: UpstreamPools) {
    this.#config = config;
    this.#lookup = lookup;
    this.#previous = previous;
    this.#secureContext =
      previous !== undefined && sameTls(previous.#config.tls, config.tls)
        ? previous.#secureContext
        : lazySecureContext(config.tls);
  }

  /** The pool for the requests of a route. */
  ofRoute(route: Route): UpstreamPool {
    let pool = this.#ofRoutes.get(route);
    if (pool === undefined) {
      pool = this.#pool(route.upstreamOrigin, route.timeouts.connectMs, route.upstreamAddress);
      this.#ofRoutes.set(route, pool);
    }
    return pool;
  }

  /** The pool for requests that belong to no route. */
  ofOrigin(origin: string, connectTimeoutMs: number): UpstreamPool {
    return this.#pool(origin, connectTimeoutMs, this.#config.upstreamAddresses.get(origin));
  }

  #pool(origin: string, connectTimeoutMs: number, address: UpstreamAddress | undefined): UpstreamPool {
    const key = `${origin} ${connectTimeoutMs} ${address === undefined ? '' : formatUpstreamAddress(address)}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = this.#fromPrevious(key) ?? this.#create(origin, connectTimeoutMs, address);
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /**
   * For a login with its own client certificate, which other requests must not use.
   *
   * @throws if certificate and key are not a pair in PEM
   */
  loginServer(
    origin: string,
    connectTimeoutMs: number,
    { cert, key }: { readonly cert: Secret; readonly key: Secret },
  ): Pick<UpstreamPool, 'origin' | 'host' | 'headerSizeBytes' | 'connect'> {
    const { tls, outboundProxy, limits, upstreamAddresses, allowInsecureUpstream } = this.#config;
    const secureContext = lazySecureContext({ ...tls, cert, key });
    secureContext();
    const { http1 } = createConnectors(origin, {
      timeoutMs: connectTimeoutMs,
      secureContext,
      outboundProxy,
      lookup: this.#lookup,
      allowInsecure: allowInsecureUpstream,
      address: upstreamAddresses.get(origin),
    });
    return {
      origin,
      host: new URL(origin).host,
      headerSizeBytes: limits.headerSizeBytes,
      connect: (done, signal) => http1(done, { signal }),
    };
  }

  /** Closes the previous pools that were not taken over. Call it when every pool that is needed has been asked for. */
  closePrevious(): void {
    if (this.#previous === undefined) return;
    const kept = new Set(this.#pools.values());
    for (const pool of this.#previous.#pools.values()) if (!kept.has(pool)) pool.close();
    this.#previous = undefined; // Else all earlier pools would stay in memory.
  }

  destroy(): void {
    for (const pool of this.#pools.values()) pool.destroy();
  }

  #fromPrevious(key: string): UpstreamPool | undefined {
    const previous = this.#previous;
    if (previous === undefined || previous.#secureContext !== this.#secureContext) return undefined;
    return isDeepStrictEqual(connectionSettings(previous.#config), connectionSettings(this.#config))
      ? previous.#pools.get(key)
      : undefined;
  }

  #create(origin: string, connectTimeoutMs: number, address: UpstreamAddress | undefined): UpstreamPool {
    const { outboundProxy, limits, upstreamHttp2, allowInsecureUpstream } = this.#config;
    const connectors = createConnectors(origin, {
      timeoutMs: connectTimeoutMs,
      secureContext: this.#secureContext,
      outboundProxy,
      lookup: this.#lookup,
      allowInsecure: allowInsecureUpstream,
      address,
    });
    const options = { connectTimeoutMs, headerSizeBytes: limits.headerSizeBytes, http2: upstreamHttp2 };
    return new UpstreamPool(origin, options, connectors);
  }
}

/** The settings, other than TLS, that a pool is made with. */
function connectionSettings({ outboundProxy, limits, upstreamHttp2, allowInsecureUpstream }: Config): object {
  const { headerSizeBytes } = limits;
  return { outboundProxy, headerSizeBytes, upstreamHttp2, allowInsecureUpstream };
}
