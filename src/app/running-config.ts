import type { Clock } from '../base/clock.ts';
import type { Config } from '../config/config.ts';
import type { KnownSecrets } from '../forward/scrub/known-secrets.ts';
import type { Watchdog } from '../forward/watchdog.ts';
import { admit } from '../listen/admission.ts';
import { createAdminGuard, createGuard, type Guard } from '../listen/guard.ts';
import type { ProxySettings } from '../listen/proxy.ts';
import { RateLimits } from '../listen/rate-limits.ts';
import { createLanes } from '../routes/lanes.ts';
import { createRoutes } from '../routes/routes-by-host.ts';
import type { Lookup } from '../upstream/dial.ts';
import { UpstreamPools } from '../upstream/pools.ts';
import { secretsOf } from './credentials.ts';
import { sessionPlaces } from './logins.ts';
import { connectionLimit, connectionsWithin, openFilesLimit } from './open-files.ts';
import { configuredRoutes } from './routes-place.ts';
import type { Sources } from './sources.ts';

/** What a reload replaces as a whole, for the proxy and the admin listener. */
interface Settings extends ProxySettings {
  readonly adminGuard: Guard;
  readonly limits: RateLimits;
}

/** The parts that reloads keep. */
interface Lasting {
  readonly clock: Clock;
  readonly lookup: Lookup;
  readonly sources: Sources;
  readonly secrets: KnownSecrets;
  readonly watchdog: Watchdog;
  /** Names this process in `Via`. */
  readonly loopMark: string;
}

/** Settings that are read only at the start, by their key in the file. */
const BOUND_AT_START: Readonly<Record<string, (config: Config) => unknown>> = {
  listen: (config) => config.listen,
  listenTls: (config) => config.listenTls !== undefined,
  'admin.listen': (config) => config.adminListen,
  'admin.probes': (config) => config.probesListen,
  'limits.headerSize': (config) => config.limits.headerSizeBytes,
  'log.format': (config) => config.log.format,
  sinks: (config) => config.sinks,
};

/** Their values as text, by key. */
function boundBy(config: Config): ReadonlyMap<string, string | undefined> {
  return new Map(Object.entries(BOUND_AT_START).map(([key, of]) => [key, JSON.stringify(of(config))]));
}

/** The configuration in use, and what was made of it. */
export class RunningConfig {
  config: Config;
  settings: Settings;
  /** When the configuration was applied, on the wall clock. */
  sinceMs: number;
  readonly #lasting: Lasting;
  /** What the start has bound, and no reload changes. */
  readonly #bound: ReadonlyMap<string, string | undefined>;
  readonly #mostConnections = connectionsWithin(openFilesLimit());

  constructor(config: Config, lasting: Lasting) {
    this.#lasting = lasting;
    this.#bound = boundBy(config);
    this.config = config;
    this.settings = this.#make(config);
    this.sinceMs = lasting.clock.wallMs();
  }

  /**
   * Applies a new configuration as a whole.
   *
   * @returns the keys of settings that need a restart, since they differ from what the start has bound
   */
  take(config: Config): string[] {
    const before = this.config;
    this.settings = this.#make(config, { config: before, settings: this.settings });
    this.config = config;
    this.sinceMs = this.#lasting.clock.wallMs();
    this.settings.pools.closePrevious();
    return [...boundBy(config)].filter(([key, value]) => value !== this.#bound.get(key)).map(([key]) => key);
  }

  /** Everything that may fail comes before the first change, so that a failure changes nothing. */
  #make(config: Config, before?: { readonly config: Config; readonly settings: Settings }): Settings {
    const { clock, lookup, sources, secrets, watchdog, loopMark } = this.#lasting;
    const pools = new UpstreamPools(config, lookup, before?.settings.pools);
    const { credentials, commit } = sources.prepare(config, before?.config, pools);
    const routes = createRoutes(configuredRoutes(config), credentials, sessionPlaces(config));
    const limits = new RateLimits(
      { routes: routes.routes, callers: config.callers, clock },
      before?.settings.limits,
    );
    const settings = {
      pools,
      admit: limits.none ? admit : limits.admit,
      guard: createGuard(config),
      adminGuard: createAdminGuard(config),
      limits,
      routes,
      lanes: config.sinks.some(({ kind }) => kind === 'haproxy') ? createLanes(routes) : undefined,
      browserCookies: config.browserCookies,
      requestIdHeader: config.log.requestIdHeader?.toLowerCase(),
      loopMark,
      headerSizeBytes: config.limits.headerSizeBytes,
      ...connectionLimit(config.limits.connections, this.#mostConnections),
      tunnelsExpire: config.closeTunnels === 'at-expiry',
    };
    for (const route of settings.routes.routes) pools.ofRoute(route);
    watchdog.setLimits(config.routes.flatMap(({ timeouts }) => [timeouts.responseMs, timeouts.idleMs]));
    commit();
    secrets.configure(secretsOf(config));
    return settings;
  }
}
