import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Clock, systemClock } from '../base/clock.ts';
import { ConfigError } from '../base/errors.ts';
import type { Event, EventBus, Observe } from '../base/events.ts';
import { VERSION } from '../base/version.ts';
import type { Config, ListenAddress } from '../config/config.ts';
import { filesRead, inForce } from '../config/shown/in-force.ts';
import { isLoopbackHost } from '../config/values/addresses.ts';
import { Departures } from '../forward/client/departures.ts';
import type { ForwardContext } from '../forward/forwardable.ts';
import { HeldRuns } from '../forward/scrub/held-runs.ts';
import { KnownSecrets } from '../forward/scrub/known-secrets.ts';
import type { Tracing } from '../forward/trace.ts';
import { Tunnel } from '../forward/tunnel.ts';
import { Watchdog } from '../forward/watchdog.ts';
import type { Sinks } from '../integrations/sinks.ts';
import { AdminListener } from '../listen/admin.ts';
import type { AdminView } from '../listen/admin-endpoints.ts';
import { admit } from '../listen/admission.ts';
import type { Place } from '../listen/bind.ts';
import { asksForKey } from '../listen/callers.ts';
import { createAdminGuard, createGuard, type Guard } from '../listen/guard.ts';
import { ProbesListener } from '../listen/probes.ts';
import { ProxyListener, type ProxySettings } from '../listen/proxy.ts';
import { RateLimits } from '../listen/rate-limits.ts';
import { Health } from '../observe/health.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { Recent } from '../observe/recent.ts';
import { type Readiness, readinessOf, type Status, statusOf } from '../observe/status.ts';
import { createLanes } from '../routes/lanes.ts';
import { createRoutes } from '../routes/routes-by-host.ts';
import { type Lookup, systemLookup } from '../upstream/dial.ts';
import { UpstreamPools } from '../upstream/pools.ts';
import { sessionPlaces } from './logins.ts';
import { connectionsWithin, openFilesLimit } from './open-files.ts';
import { openListener } from './open-listener.ts';
import type { RenewSecrets } from './renewed-secrets.ts';
import { type OpenEngine, openRedis } from './sharing.ts';
import { Sources, secretsOf } from './sources.ts';
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

/** What a reload replaces as a whole, of both listeners. */
interface Settings extends ProxySettings {
  readonly adminGuard: Guard;
}

/** What was made once at the start, by its key in the file. */
const BOUND_AT_START: Readonly<Record<string, (config: Config) => unknown>> = {
  listen: (config) => config.listen,
  listenTls: (config) => config.listenTls !== undefined,
  'admin.listen': (config) => config.adminListen,
  'admin.probes': (config) => config.probesListen,
  'limits.headerSize': (config) => config.limits.headerSizeBytes,
  'log.format': (config) => config.log.format,
  sinks: (config) => config.sinks,
};

/**
 * The whole proxy, put together: the one place where every part is made and handed what it needs.
 * `start`, `demo`, `exec` and the tests run this same object.
 */
export class Gateway {
  readonly #clock: Clock;
  readonly #sockets: NonNullable<GatewayOptions['sockets']>;
  readonly #lookup: Lookup;
  readonly #observe: Observe;
  readonly #bytesPassed: (bytes: number) => void;
  readonly #tracing: Tracing | undefined;
  readonly #reload: AdminView['reload'];
  readonly #metrics: Metrics;
  readonly #recent: Recent;
  readonly #health: Health;
  readonly #watchdog: Watchdog;
  readonly #proxy: ProxyListener;
  readonly #admin: AdminListener | undefined;
  readonly #probes: ProbesListener;
  readonly #sources: Sources;
  readonly #secrets: KnownSecrets;
  readonly #stop: Stop;
  readonly #events: EventBus;
  #sinks: Sinks | undefined;
  readonly #mostConnections = connectionsWithin(openFilesLimit());
  readonly #id = randomBytes(6).toString('hex');
  readonly #startedMonoMs: number;
  #config: Config;
  #configuredMs: number;
  #settings: Settings;
  #limits: RateLimits | undefined;
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
    this.#config = config;
    this.#sockets = sockets;
    this.#clock = clock;
    this.#lookup = lookup;
    this.#bytesPassed = bytesPassed;
    this.#tracing = tracing;
    this.#reload = reload;
    this.#startedMonoMs = clock.monoMs();
    this.#configuredMs = clock.wallMs();
    this.#recent = new Recent(clock);
    this.#health = new Health(clock);
    this.#metrics = createMetrics({
      version: VERSION,
      inFlight: () => this.#watchdog.size,
      tunnels: () => this.#watchdog.count(Tunnel),
      waiting: () => this.#sources.waiting,
      tokens: () => this.#sources.statuses(),
      droppedLogLines,
      secretFiles: () => this.#config.fileNames,
      ...(config.listenTls && {
        certificateExpiryMs: () => this.#config.listenTls?.validUntilMs ?? 0,
      }),
    });
    this.#events = events;
    this.#observe = events.tell;
    events.subscribe(this.#metrics.observe);
    events.subscribe(this.#health.observe);
    if (this.#hasAdmin(config)) events.subscribe((event) => this.#show(event));
    this.#watchdog = new Watchdog(clock);
    this.#sources = new Sources({ clock, observe: this.#observe, openEngine, renewSecrets });
    this.#secrets = new KnownSecrets(clock);
    events.subscribe((event) => this.#remember(event));
    this.#settings = this.#createSettings(config);
    this.#proxy = new ProxyListener({
      settings: () => this.#settings,
      context: this.#forwardContext(),
      headerSizeBytes: config.limits.headerSizeBytes,
      tls: config.listenTls,
    });
    this.#admin = this.#hasAdmin(config) ? this.#createAdmin() : undefined;
    this.#probes = new ProbesListener(
      { healthy: () => this.#health.healthy, readiness: () => this.readiness },
      config.limits.headerSizeBytes,
    );
    this.#stop = new Stop({
      clock,
      observe: this.#observe,
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
   * @throws ListenError when an address can't be had; nothing is left open then.
   * @throws ConfigError when a passed socket can be reached from elsewhere, and no caller key is configured.
   */
  async start(): Promise<void> {
    try {
      const { proxy, admin } = this.#sockets;
      const config = this.#config;
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
    const { sinks } = this.#config;
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
      observe: this.#observe,
    });
    this.#events.subscribe(this.#sinks.observe);
  }

  #hasAdmin({ adminListen }: Config): boolean {
    return adminListen.length > 0 || this.#sockets.admin.length > 0;
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
    this.#settings = this.#createSettings(config, this.#config, this.#settings.pools);
    const restartNeededFor = Object.entries(BOUND_AT_START)
      .filter(([, of]) => JSON.stringify(of(config)) !== JSON.stringify(of(this.#config)))
      .map(([key]) => key);
    if (config.listenTls !== undefined) this.#proxy.renewCertificate(config.listenTls);
    this.#config = config;
    this.#configuredMs = this.#clock.wallMs();
    this.#settings.pools.replaceBefore();
    this.#admin?.changed();
    this.#sinks?.look();
    return restartNeededFor;
  }

  get readiness(): Readiness {
    return readinessOf({
      draining: this.#stop.announced,
      tokens: this.#sources.statuses(),
      routes: this.#settings.routes.routes,
      share: this.#sources.sharing,
    });
  }

  get status(): Status {
    return statusOf({
      version: VERSION,
      uptimeMs: this.#clock.monoMs() - this.#startedMonoMs,
      draining: this.#stop.announced,
      inFlight: this.#watchdog.size,
      tunnels: this.#watchdog.count(Tunnel),
      waiting: this.#sources.waiting,
      configuredMs: this.#configuredMs,
      credentials: this.#config.credentials,
      tokens: this.#sources.statuses(),
      routes: this.#settings.routes.routes,
      requestsByRoute: this.#metrics.requestsByRoute(),
      recent: this.#recent,
      share: this.#sources.sharing,
      limits: this.#limits?.status,
    });
  }

  /** Open client connections past which a new one is refused: the configured limit, or what the system allows. */
  get maxConnections(): number {
    return this.#settings.maxConnections;
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
    this.#settings.pools.destroy();
  }

  /** For those who look at the page. */
  #show(event: Event): void {
    this.#recent.observe(event);
    this.#admin?.changed();
  }

  /** What is in force, as it would stand in a file, and which files it was read from. */
  async #configuration(): Promise<{ files: string[]; yaml: string }> {
    return { files: filesRead(this.#config), yaml: await inForce(this.#config) };
  }

  /** @param id of a request; undefined for the last that failed */
  #why(id: string | undefined): ReturnType<AdminView['why']> {
    const report = id === undefined ? this.#recent.whyLastFailed() : this.#recent.why(id);
    return report && { report, text: async () => (await import('../observe/why-text.ts')).whyText(report) };
  }

  #forwardContext(): ForwardContext {
    return {
      clock: this.#clock,
      observe: this.#observe,
      watchdog: this.#watchdog,
      scrubbing: { clock: this.#clock, secrets: this.#secrets, heldRuns: new HeldRuns(this.#clock) },
      departures: new Departures(),
      bytesPassed: this.#bytesPassed,
      tracing: this.#tracing,
      via: `1.1 bearerd (${this.#id})`,
      stopping: () => this.#stop.announced,
      draining: () => this.#stop.draining,
    };
  }

  /** Everything that may fail comes first: what is in use is changed only when nothing can. */
  #createSettings(config: Config, before?: Config, poolsBefore?: UpstreamPools): Settings {
    const pools = new UpstreamPools(config, this.#lookup, poolsBefore);
    const { credentials, commit } = this.#sources.prepare(config, before, pools);
    const routes = createRoutes(config.routes, credentials, sessionPlaces(config));
    const limits = new RateLimits(
      { routes: routes.routes, callers: config.callers, clock: this.#clock },
      this.#limits,
    );
    const settings = {
      pools,
      admit: limits.none ? admit : limits.admit,
      guard: createGuard(config),
      adminGuard: createAdminGuard(config),
      routes,
      lanes: config.sinks.some(({ kind }) => kind === 'haproxy') ? createLanes(routes) : undefined,
      browserCookies: config.browserCookies,
      requestIdHeader: config.log.requestIdHeader?.toLowerCase(),
      loopMark: this.#id,
      headerSizeBytes: config.limits.headerSizeBytes,
      maxConnections: Math.min(config.limits.connections, this.#mostConnections),
      tunnelsExpire: config.closeTunnels === 'at-expiry',
    };
    for (const route of settings.routes.routes) pools.of(route);
    this.#watchdog.attend(config.routes.flatMap(({ timeouts }) => [timeouts.responseMs, timeouts.idleMs]));
    commit();
    this.#limits = limits;
    this.#secrets.configure(secretsOf(config));
    return settings;
  }

  /** Until a token ends, no answer may hold it, whichever route sent it. */
  #remember(event: Event): void {
    if (event.type !== 'login-succeeded') return;
    const token = this.#sources.token(event.credential);
    if (token !== undefined) this.#secrets.add(token.value, token.expires);
  }

  #createAdmin(): AdminListener {
    return new AdminListener(
      {
        guard: () => this.#settings.adminGuard,
        healthy: () => this.#health.healthy,
        readiness: () => this.readiness,
        status: () => this.status,
        requests: () => this.#recent.requests(),
        why: (id) => this.#why(id),
        configuration: () => this.#configuration(),
        page: async () => (await import('../observe/page.ts')).statusPage(),
        metrics: () => this.#metrics.render(),
        renew: () => this.#sources.renewAll(),
        reload: this.#reload,
      },
      this.#config.limits.headerSizeBytes,
    );
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
