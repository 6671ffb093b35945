import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Client, type Dispatcher, Pool } from 'undici';
import type { Config } from '../config/config.ts';
import { type Connector, createConnector, createTlsContext } from './connector.ts';

/** A connection is given up after this time, so that a changed DNS answer is followed (docs/forwarding.md). */
const CONNECTION_MAX_AGE_MS = 60_000;
/** Shorter than common servers' own idle time, so that we rarely write into a connection that they are closing. */
const KEEP_ALIVE_MS = 4_000;

/** A dispatch handler that wants to know which connection carries it. */
export interface ConnectionAware {
  connection?: UpstreamConnection;
}

/**
 * One connection to the upstream, which remembers what undici forgets: whether it has carried a request before,
 * and how it ended. Both decide what may be sent again, and whether a body that just stopped was whole.
 */
export class UpstreamConnection extends Client {
  /** Requests that the present socket has begun to carry. */
  requests = 0;
  /** The peer ended or reset the present socket. */
  peerGone = false;
  peerReset = false;

  constructor(origin: string | URL, options: Client.Options, connector: Connector) {
    super(origin, {
      ...options,
      connect: (connectOptions, callback) =>
        connector(connectOptions, (error, socket) => {
          if (error !== null) return callback(error, null);
          this.#watch(socket);
          callback(null, socket);
        }),
    });
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (handler as ConnectionAware).connection = this;
    return super.dispatch(options, handler);
  }

  /** Called before undici adds its own listeners, so that ours have run when it reports an end. */
  #watch(socket: Socket): void {
    this.requests = 0;
    this.peerGone = false;
    this.peerReset = false;
    socket.once('end', () => {
      this.peerGone = true;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') {
        this.peerGone = true;
        this.peerReset = true;
      }
    });
  }
}

/** All connections to one origin, with one connect timeout. */
export class UpstreamPool {
  readonly origin: string;
  /** For `Host`. */
  readonly host: string;
  readonly headerSizeBytes: number;
  readonly #connector: Connector;
  readonly #pool: Pool;
  readonly #options: Client.Options;
  #unpooled: Pool | undefined;

  constructor(origin: string, headerSizeBytes: number, connector: Connector) {
    this.origin = origin;
    this.host = new URL(origin).host;
    this.headerSizeBytes = headerSizeBytes;
    this.#connector = connector;
    this.#options = {
      maxHeaderSize: headerSizeBytes,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // The watchdog keeps the time: one timer for all requests instead of two for each.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    };
    this.#pool = new Pool(origin, {
      ...this.#options,
      clientTtl: CONNECTION_MAX_AGE_MS,
      factory: (poolOrigin) => new UpstreamConnection(poolOrigin, this.#options, connector),
    });
  }

  /** Sends a request on any connection. After `close` too: a request that began before a reload ends as it began. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (this.#pool.closed) this.dispatchFresh(options, handler);
    else this.#pool.dispatch(options, handler);
  }

  /** Sends a request on a connection of its own, which is closed afterwards. */
  dispatchFresh(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const connection = new UpstreamConnection(this.origin, this.#options, this.#connector);
    connection.dispatch({ ...options, reset: true }, handler);
    connection.close().catch(() => {});
  }

  /** Opens a connection that is nobody's yet. */
  connect(callback: Parameters<Connector>[1]): void {
    const { hostname, host, protocol, port } = new URL(this.origin);
    this.#connector({ hostname: hostname.replace(/^\[|\]$/g, ''), host, protocol, port }, callback);
  }

  /** For logins: each on a connection of its own, because a POST that meets a stale one can't be sent again. */
  get unpooled(): Dispatcher {
    this.#unpooled ??= new Pool(this.origin, { ...this.#options, pipelining: 0, connect: this.#connector });
    return this.#unpooled;
  }

  /** Lets the requests under way end, then closes. */
  close(): void {
    this.#pool.close().catch(() => {});
    this.#unpooled?.close().catch(() => {});
  }

  destroy(): void {
    this.#pool.destroy().catch(() => {});
    this.#unpooled?.destroy().catch(() => {});
  }
}

/** The pools of one configuration: one for each origin and connect timeout. */
export class UpstreamPools {
  readonly #pools = new Map<string, UpstreamPool>();
  readonly #config: Config;
  #secureContext: SecureContext | undefined;

  constructor(config: Config) {
    this.#config = config;
  }

  get(origin: string, connectTimeoutMs: number): UpstreamPool {
    const key = `${origin} ${connectTimeoutMs}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      this.#secureContext ??= createTlsContext(this.#config);
      const connector = createConnector(
        origin,
        connectTimeoutMs,
        this.#secureContext,
        this.#config.outboundProxy,
      );
      pool = new UpstreamPool(origin, this.#config.limits.headerSizeBytes, connector);
      this.#pools.set(key, pool);
    }
    return pool;
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }

  destroy(): void {
    for (const pool of this.#pools.values()) pool.destroy();
  }
}
