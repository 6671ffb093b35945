import type { SecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import type { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import type { UpstreamAddress } from '../config/upstream-config.ts';
import { formatUpstreamAddress } from '../config/values/addresses.ts';
import type { Route } from '../routes/route-table.ts';
import type { Receiver, SendOptions } from './carrier.ts';
import { type Connected, type Connectors, createConnectors } from './connector.ts';
import { type Lookup, systemLookup } from './dial.ts';
import { Http1Pool } from './h1-pool.ts';
import { Http2Pool } from './h2-pool.ts';
import { lazySecureContext, sameTls } from './secure-context.ts';

export interface PoolOptions {
  readonly headerSizeBytes: number;
  readonly connectTimeoutMs: number;
  /** HTTP/2 is spoken where the upstream chooses it. */
  readonly http2: boolean;
}

/** An upstream that chose HTTP/1.1, or asked for it, is offered HTTP/2 again after this time. */
const HTTP1_FOR_MS = 10 * 60_000;
/** An upstream that has ended an HTTP/2 connection that was in use gets each upload on one of its own for this time. */
const UPLOADS_ALONE_FOR_MS = 10 * 60_000;

/** All connections to one origin, with one connect timeout. */
export class UpstreamPool {
  readonly origin: string;
  /** For `Host`. */
  readonly host: string;
  readonly headerSizeBytes: number;
  readonly #connectTimeoutMs: number;
  readonly #connectors: Connectors;
  readonly #http1: Http1Pool;
  #http2: Http2Pool | undefined;
  /** HTTP/2 may be offered from this moment on. */
  #http2FromMonoMs: number;
  /** Until then each upload has an HTTP/2 connection of its own. */
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

  /** Sends a request. After `close` too: a request that began before a reload ends as it began. */
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
      // What a GOAWAY leaves out can be sent again, but for an upload of which a part has gone up and is kept nowhere.
      retiredEarly: () => {
        this.#uploadsAloneUntilMonoMs = performance.now() + UPLOADS_ALONE_FOR_MS;
      },
    });
    return pool;
  }

  /** For a while. What is under way in HTTP/2 ends so. */
  #speakHttp1(pool: Http2Pool, waiting: readonly Receiver[]): void {
    this.#http2FromMonoMs = performance.now() + HTTP1_FOR_MS;
    if (this.#http2 === pool) this.#http2 = undefined;
    pool.close();
    for (const receiver of waiting)
      this.#http1.send(receiver, { fresh: false, upgrade: false, http1: true, upload: true, once: true });
  }

  /** Opens a connection outside of the pool, for HTTP/1.1: a login's. */
  connect(done: Connected, signal?: AbortSignal): void {
    this.#connectors.http1(done, { signal });
  }

  /** Lets the requests under way end, then closes. */
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
 * The pools of one configuration: one for each origin, connect timeout and address. Those of the configuration before are taken
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
      pool = this.#pool(route.upstreamOrigin, route.timeouts.connectMs, route.upstreamAddress);
      this.#ofRoutes.set(route, pool);
    }
    return pool;
  }

  /** One that no route goes by. */
  get(origin: string, connectTimeoutMs: number): UpstreamPool {
    return this.#pool(origin, connectTimeoutMs, this.#config.upstreamAddresses.get(origin));
  }

  #pool(origin: string, connectTimeoutMs: number, address: UpstreamAddress | undefined): UpstreamPool {
    const key = `${origin} ${connectTimeoutMs} ${address === undefined ? '' : formatUpstreamAddress(address)}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = this.#fromBefore(key) ?? this.#create(origin, connectTimeoutMs, address);
      this.#pools.set(key, pool);
    }
    return pool;
  }

  /**
   * For logins that show a certificate of their own, which no request may.
   *
   * @throws where the two are no pair in PEM.
   */
  loginServer(
    origin: string,
    connectTimeoutMs: number,
    { cert, key }: { readonly cert: Secret; readonly key: Secret },
  ): Pick<UpstreamPool, 'origin' | 'host' | 'headerSizeBytes' | 'connect'> {
    const { tls, outboundProxy, limits, upstreamAddresses } = this.#config;
    const secureContext = lazySecureContext({ ...tls, cert, key });
    secureContext();
    const { http1 } = createConnectors(origin, {
      timeoutMs: connectTimeoutMs,
      secureContext,
      outboundProxy,
      lookup: this.#lookup,
      address: upstreamAddresses.get(origin),
    });
    return {
      origin,
      host: new URL(origin).host,
      headerSizeBytes: limits.headerSizeBytes,
      connect: (done, signal) => http1(done, { signal }),
    };
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

  #create(origin: string, connectTimeoutMs: number, address: UpstreamAddress | undefined): UpstreamPool {
    const { outboundProxy, limits, upstreamHttp2 } = this.#config;
    const connectors = createConnectors(origin, {
      timeoutMs: connectTimeoutMs,
      secureContext: this.#secureContext,
      outboundProxy,
      lookup: this.#lookup,
      address,
    });
    const options = { connectTimeoutMs, headerSizeBytes: limits.headerSizeBytes, http2: upstreamHttp2 };
    return new UpstreamPool(origin, options, connectors);
  }
}

/** What of a configuration, TLS aside, is built into a pool. */
function connectionSettings({ outboundProxy, limits, upstreamHttp2 }: Config): object {
  return { outboundProxy, headerSizeBytes: limits.headerSizeBytes, upstreamHttp2 };
}
