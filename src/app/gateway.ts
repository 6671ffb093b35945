import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Event, EventBus } from '../base/events.ts';
import type { Config } from '../config/config.ts';
import { Departures } from '../forward/client/departures.ts';
import { HeldRuns } from '../forward/scrub/held-runs.ts';
import { KnownSecrets } from '../forward/scrub/known-secrets.ts';
import type { Tracing } from '../forward/trace.ts';
import { Watchdog } from '../forward/watchdog.ts';
import type { Sinks } from '../integrations/sinks.ts';
import type { PassedSockets } from '../integrations/systemd/passed.ts';
import type { AdminView } from '../listen/admin-endpoints.ts';
import { ProxyListener } from '../listen/proxy.ts';
import type { LogLoss } from '../observe/log-output.ts';
import type { Readiness, Status } from '../observe/status.ts';
import { type Lookup, systemLookup } from '../upstream/dial.ts';
import { Listeners } from './listeners.ts';
import { Overview } from './overview.ts';
import type { RenewSecrets } from './renewed-secrets.ts';
import { RunningConfig } from './running-config.ts';
import { type OpenEngine, openRedis } from './sharing.ts';
import { Sources } from './sources.ts';
import { Stop } from './stop.ts';

export interface GatewayOptions {
  readonly config: Config;
  /** Receives every event. */
  readonly events: EventBus;
  readonly clock?: Clock;
  /** Resolves host names; the system's resolver unless a test sets another one. */
  readonly lookup?: Lookup;
  /** Opens the engine that shares tokens; Redis unless a test sets another one. */
  readonly openEngine?: OpenEngine;
  /** Called after a refused login of a credential whose secrets come from commands. */
  readonly renewSecrets?: RenewSecrets;
  readonly droppedLogLines?: () => number;
  /** Why lines of the log were dropped, for people. */
  readonly logLoss?: () => LogLoss | undefined;
  /** Open sockets that replace the configured addresses of their listener. */
  readonly sockets?: PassedSockets;
  /** Called with the size of each piece of a body or a tunnel, in both directions. */
  readonly bytesPassed?: (bytes: number) => void;
  /** Reads the configuration anew; undefined if there is no source to read it from. */
  readonly reload?: AdminView['reload'];
  /** Undefined if no traces are configured. */
  readonly tracing?: Tracing | undefined;
}

/**
 * The whole proxy: the one place that makes every part and gives it what it needs.
 * `start`, `demo`, `exec`, the library and the tests run this object.
 */
export class Gateway {
  readonly #clock: Clock;
  readonly #events: EventBus;
  readonly #watchdog: Watchdog;
  readonly #sources: Sources;
  readonly #running: RunningConfig;
  readonly #overview: Overview;
  readonly #listeners: Listeners;
  readonly #stop: Stop;
  #sinks: Sinks | undefined;

  constructor({
    config,
    events,
    clock = systemClock,
    lookup = systemLookup,
    openEngine = openRedis,
    renewSecrets,
    droppedLogLines = () => 0,
    logLoss = () => undefined,
    bytesPassed = () => {},
    sockets = { proxy: [], admin: [] },
    reload,
    tracing,
  }: GatewayOptions) {
    const observe = events.emit;
    const loopMark = randomBytes(6).toString('hex');
    this.#clock = clock;
    this.#events = events;
    this.#watchdog = new Watchdog(clock);
    this.#sources = new Sources({ clock, observe, openEngine, renewSecrets });
    const secrets = new KnownSecrets(clock);
    events.subscribe((event) => this.#remember(event, secrets));
    const lasting = { clock, lookup, sources: this.#sources, secrets, watchdog: this.#watchdog, loopMark };
    this.#running = new RunningConfig(config, lasting);
    const stopping = () => this.#stop.announced;
    const told = { events, running: this.#running, droppedLogLines, logLoss, stopping };
    this.#overview = new Overview({ ...lasting, ...told });
    const proxy = new ProxyListener({
      settings: () => this.#running.settings,
      context: {
        clock,
        observe,
        watchdog: this.#watchdog,
        scrubbing: { clock, secrets, heldRuns: new HeldRuns(clock) },
        departures: new Departures(),
        bytesPassed,
        tracing,
        via: `1.1 bearerd (${loopMark})`,
        stopping,
        draining: () => this.#stop.draining,
      },
      headerSizeBytes: config.limits.headerSizeBytes,
      tls: config.listenTls,
    });
    this.#listeners = new Listeners({ config, sockets, proxy, view: this.#overview.view(reload) });
    const { admin } = this.#listeners;
    if (admin !== undefined) this.#overview.showTo(() => admin.changed());
    this.#stop = new Stop({
      clock,
      observe,
      watchdog: this.#watchdog,
      sources: this.#sources,
      proxy,
      admin,
      passedSockets: sockets.proxy.length > 0,
      destroy: () => this.destroy(),
    });
  }

  /**
   * Listens, and begins to log in. Resolves when the sockets are open, whether or not there is a token yet.
   *
   * @throws ListenError if an address can't be listened on; then nothing stays open.
   * @throws ConfigError if other machines can reach a passed socket, and no caller key is configured.
   */
  async start(): Promise<void> {
    try {
      await this.#listeners.open(this.#running.config);
    } catch (error) {
      await this.destroy();
      throw error;
    }
    await this.#openSinks();
    this.#sources.start();
  }

  /** Loads the sinks' code only if there are sinks: most configurations have none. */
  async #openSinks(): Promise<void> {
    const { sinks } = this.#running.config;
    if (sinks.length === 0) return;
    const { Sinks } = await import('../integrations/sinks.ts');
    if (this.#stop.draining) return;
    const present = (name: string) => this.#sources.present(name);
    const listenForRetries = (path: string) => this.#listeners.proxy.listenForRetries(path);
    this.#sinks = new Sinks({
      sinks,
      present,
      listenForRetries,
      clock: this.#clock,
      observe: this.#events.emit,
    });
    this.#events.subscribe(this.#sinks.observe);
  }

  /** Takes over a request that arrived at a server of the host program. */
  take(request: IncomingMessage, response: ServerResponse, target: string): void {
    this.#listeners.proxy.takeFromHost(request, response, target);
  }

  /**
   * Applies a new configuration as a whole. Requests under way keep the one that they began with. Settings of the
   * listeners need a restart. Does nothing once a stop is announced: a new credential would cause a login.
   *
   * @returns the keys of settings that differ from the start and need a restart
   */
  reconfigure(config: Config): string[] {
    if (this.#stop.announced) return [];
    const restartNeededFor = this.#running.take(config);
    if (config.listenTls !== undefined) this.#listeners.proxy.renewCertificate(config.listenTls);
    this.#listeners.admin?.changed();
    this.#sinks?.check();
    return restartNeededFor;
  }

  /** The URLs of the proxy; empty until it listens. The next two are those of the other listeners. */
  get urls(): readonly string[] {
    return this.#listeners.urls;
  }

  get adminUrls(): readonly string[] {
    return this.#listeners.adminUrls;
  }

  get probeUrls(): readonly string[] {
    return this.#listeners.probeUrls;
  }

  get readiness(): Readiness {
    return this.#overview.readiness;
  }

  get status(): Status {
    return this.#overview.status;
  }

  /** More client connections than this are refused: the configured limit, or what the system allows. */
  get maxConnections(): number {
    return this.#running.settings.maxConnections;
  }

  /** Requests and tunnels under way. */
  get inFlight(): number {
    return this.#watchdog.size;
  }

  /** Reports "not ready" from now on, and serves as before for `delayMs`. */
  announceStop(delayMs: number, signal: string): Promise<void> {
    return this.#stop.announce(delayMs, signal);
  }

  /** Stops in order, within `limitMs`. Gives the number of requests that were cut off. */
  drain(limitMs: number, signal: string): Promise<number> {
    return this.#stop.drain(limitMs, signal);
  }

  /** Ends everything now. */
  async destroy(): Promise<void> {
    this.#stop.takeNothing();
    this.#watchdog.stop();
    await Promise.all([this.#sinks?.close(), this.#sources.abort(), this.#listeners.close()]);
    this.#running.settings.pools.destroy();
  }

  /** Until a token expires, no answer may hold it, whichever route sent it. */
  #remember(event: Event, secrets: KnownSecrets): void {
    if (event.type !== 'login-succeeded') return;
    const token = this.#sources.token(event.credential);
    if (token !== undefined) secrets.add(token.value, token.expires);
  }
}
