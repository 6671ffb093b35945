import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../base/clock.ts';
import { ConfigError } from '../base/errors.ts';
import type { Event, EventBus } from '../base/events.ts';
import type { Config, ListenAddress } from '../config/config.ts';
import { isLoopbackHost } from '../config/values/addresses.ts';
import { Departures } from '../forward/client/departures.ts';
import { HeldRuns } from '../forward/scrub/held-runs.ts';
import { KnownSecrets } from '../forward/scrub/known-secrets.ts';
import type { Tracing } from '../forward/trace.ts';
import { Watchdog } from '../forward/watchdog.ts';
import type { Sinks } from '../integrations/sinks.ts';
import { AdminListener } from '../listen/admin.ts';
import type { AdminView } from '../listen/admin-endpoints.ts';
import type { Place } from '../listen/bind.ts';
import { asksForKey } from '../listen/callers.ts';
import { ProbesListener } from '../listen/probes.ts';
import { ProxyListener } from '../listen/proxy.ts';
import type { Readiness, Status } from '../observe/status.ts';
import { type Lookup, systemLookup } from '../upstream/dial.ts';
import { openListener } from './open-listener.ts';
import { Overview } from './overview.ts';
import type { RenewSecrets } from './renewed-secrets.ts';
import { RunningConfig } from './running-config.ts';
import { type OpenEngine, openRedis } from './sharing.ts';
import { Sources } from './sources.ts';
import { Stop } from './stop.ts';

export interface GatewayOptions {
  readonly config: Config;
  /** What happens is told here. */
  readonly events: EventBus;
  readonly clock?: Clock;
  /** Finds the upstream's addresses; the system's unless a test has its own. */
  readonly lookup?: Lookup;
  /** What tokens are shared by; the configured one unless a test has its own. */
  readonly openEngine?: OpenEngine;
  /** Called after a refused login of a credential whose secrets come from commands. */
  readonly renewSecrets?: RenewSecrets;
  readonly droppedLogLines?: () => number;
  /** Sockets that listen already, in place of the configured addresses of their listener. */
  readonly sockets?: { readonly proxy: readonly number[]; readonly admin: readonly number[] };
  /** Called with the size of each piece of a body or a tunnel, either way. */
  readonly bytesPassed?: (bytes: number) => void;
  /** Reads the configuration anew; undefined where it comes from nowhere that it could be read from. */
  readonly reload?: AdminView['reload'];
  /** Undefined where no traces are configured. */
  readonly tracing?: Tracing | undefined;
}

/**
 * The whole proxy, put together: the one place where every part is made and handed what it needs.
 * `start`, `demo`, `exec` and the tests run this same object.
 */
export class Gateway {
  readonly #clock: Clock;
  readonly #sockets: NonNullable<GatewayOptions['sockets']>;
  readonly #events: EventBus;
  readonly #watchdog: Watchdog;
  readonly #sources: Sources;
  readonly #running: RunningConfig;
  readonly #overview: Overview;
  readonly #proxy: ProxyListener;
  readonly #admin: AdminListener | undefined;
  readonly #probes: ProbesListener;
  readonly #stop: Stop;
  #sinks: Sinks | undefined;
  urls: readonly string[] = [];
  adminUrls: readonly string[] = [];
  probeUrls: readonly string[] = [];

  constructor({
    config,
    events,
    clock = systemClock,
    lookup = systemLookup,
    openEngine = openRedis,
    renewSecrets,
    droppedLogLines = () => 0,
    bytesPassed = () => {},
    sockets = { proxy: [], admin: [] },
    reload,
    tracing,
  }: GatewayOptions) {
    const observe = events.tell;
    const loopMark = randomBytes(6).toString('hex');
    this.#clock = clock;
    this.#sockets = sockets;
    this.#events = events;
    this.#watchdog = new Watchdog(clock);
    this.#sources = new Sources({ clock, observe, openEngine, renewSecrets });
    const secrets = new KnownSecrets(clock);
    events.subscribe((event) => this.#remember(event, secrets));
    const lasting = { clock, lookup, sources: this.#sources, secrets, watchdog: this.#watchdog, loopMark };
    this.#running = new RunningConfig(config, lasting);
    const stopping = () => this.#stop.announced;
    this.#overview = new Overview({ ...lasting, events, running: this.#running, droppedLogLines, stopping });
    this.#proxy = new ProxyListener({
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
    if (config.adminListen.length > 0 || sockets.admin.length > 0) {
      this.#admin = new AdminListener(this.#overview.view(reload), config.limits.headerSizeBytes);
      this.#overview.showTo(() => this.#admin?.changed());
    }
    this.#probes = new ProbesListener(this.#overview.view(reload), config.limits.headerSizeBytes);
    this.#stop = new Stop({
      clock,
      observe,
      watchdog: this.#watchdog,
      sources: this.#sources,
      proxy: this.#proxy,
      admin: this.#admin,
      passedSockets: sockets.proxy.length > 0,
      destroy: () => this.destroy(),
    });
  }

  /**
   * Listens, and begins to log in. Resolves when the sockets are open, whether or not there is a token yet.
   *
   * @throws ListenError when it can't listen at an address; nothing stays open then.
   * @throws ConfigError when a passed socket can be reached from elsewhere, and no caller key is configured.
   */
  async start(): Promise<void> {
    try {
      const { proxy, admin } = this.#sockets;
      const { config } = this.#running;
      this.urls = await openListener('proxy', config, () =>
        this.#proxy.listen(placesOf(proxy, config.listen)),
      );
      if (proxy.length > 0) checkReach(this.urls, config);
      this.adminUrls = await openListener(
        'admin',
        config,
        async () => (await this.#admin?.listen(placesOf(admin, config.adminListen))) ?? [],
      );
      this.probeUrls = await openListener('probes', config, () => this.#probes.listen(config.probesListen));
    } catch (error) {
      await this.destroy();
      throw error;
    }
    await this.#openSinks();
    this.#sources.start();
  }

  /** Loaded only where there are any: most have none. */
  async #openSinks(): Promise<void> {
    const { sinks } = this.#running.config;
    if (sinks.length === 0) return;
    const { Sinks } = await import('../integrations/sinks.ts');
    if (this.#stop.draining) return;
    const present = (name: string) => this.#sources.present(name);
    const listenForRetries = (path: string) => this.#proxy.listenForRetries(path);
    this.#sinks = new Sinks({
      sinks,
      present,
      listenForRetries,
      clock: this.#clock,
      observe: this.#events.tell,
    });
    this.#events.subscribe(this.#sinks.observe);
  }

  /** Takes over a request that came in elsewhere: on a server of the program that bearerd is a part of. */
  take(request: IncomingMessage, response: ServerResponse, target: string): void {
    this.#proxy.takeForeign(request, response, target);
  }

  /**
   * Takes a new configuration whole; requests under way end with the one that they began with.
   * What belongs to the listening sockets stays as it is until a restart; gives the keys of it that differ.
   * Nothing is taken once it drains: a new credential would mean a login.
   */
  reconfigure(config: Config): string[] {
    if (this.#stop.announced) return [];
    const restartNeededFor = this.#running.take(config);
    if (config.listenTls !== undefined) this.#proxy.renewCertificate(config.listenTls);
    this.#admin?.changed();
    this.#sinks?.look();
    return restartNeededFor;
  }

  get readiness(): Readiness {
    return this.#overview.readiness;
  }

  get status(): Status {
    return this.#overview.status;
  }

  /** Open client connections past which a new one is refused: the configured limit, or what the system allows. */
  get maxConnections(): number {
    return this.#running.settings.maxConnections;
  }

  /** Requests and tunnels under way. */
  get inFlight(): number {
    return this.#watchdog.size;
  }

  /** Is not ready from now on, and serves as before for so long. */
  announceStop(delayMs: number, signal: string): Promise<void> {
    return this.#stop.announce(delayMs, signal);
  }

  /** Stops in order, in `limitMs` at most. Gives how many requests were cut off. */
  drain(limitMs: number, signal: string): Promise<number> {
    return this.#stop.drain(limitMs, signal);
  }

  /** Ends everything now. */
  async destroy(): Promise<void> {
    this.#stop.takeNothing();
    this.#watchdog.stop();
    await Promise.all([
      this.#sinks?.close(),
      this.#sources.abort(),
      this.#proxy.close(),
      this.#admin?.close(),
      this.#probes.close(),
    ]);
    this.#running.settings.pools.destroy();
  }

  /** Until a token ends, no answer may hold it, whichever route sent it. */
  #remember(event: Event, secrets: KnownSecrets): void {
    if (event.type !== 'login-succeeded') return;
    const token = this.#sources.token(event.credential);
    if (token !== undefined) secrets.add(token.value, token.expires);
  }
}

function placesOf(sockets: readonly number[], addresses: readonly ListenAddress[]): readonly Place[] {
  return sockets.length === 0 ? addresses : sockets.map((fd) => ({ kind: 'passed', fd }));
}

/** The rule for configured addresses holds for others, too; where they are is seen only now. */
function checkReach(urls: readonly string[], config: Config): void {
  if (asksForKey(config) || config.allowRemoteCallers) return;
  const remote = urls.find((url) => !url.startsWith('unix:') && !isLoopbackHost(new URL(url).hostname));
  if (remote === undefined) return;
  const problem = `${remote}, which was passed, can be reached from other machines; set BEARERD_CALLER_KEY, or BEARERD_ALLOW_REMOTE_CALLERS=true`;
  throw new ConfigError([{ key: 'LISTEN_FDS', problem }]);
}
