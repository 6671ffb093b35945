import type { Clock } from '../base/clock.ts';
import type { EngineState } from '../base/engine-state.ts';
import type { Event, Observe } from '../base/events.ts';
import { shareFailure } from '../base/failures/share-words.ts';
import type { Config } from '../config/config.ts';
import type { CredentialConfig } from '../config/sections/credentials/credential.ts';
import { isShared, type ShareConfig } from '../config/sections/share.ts';
import { formatUpstreamAddress } from '../config/values/addresses.ts';
import type { ShareServer } from '../config/values/share-url.ts';
import type { Engine } from '../integrations/fleet/engine.ts';
import type { SharedLogin, TokenNews } from '../integrations/fleet/shared-login.ts';
import type { Login } from '../login/http-login.ts';
import type { SourceLogin } from '../tokens/source-login.ts';
import { same, sessionUrlOf } from './logins.ts';

interface EngineOptions {
  readonly share: ShareConfig;
  readonly tls: Config['tls'];
  readonly onState: (state: EngineState) => void;
}

export type OpenEngine = (options: EngineOptions) => Promise<Engine>;

/** Loads the Redis client only if it is configured. */
export const openRedis: OpenEngine = async ({ share, tls, onState }) => {
  const { RedisEngine } = await import('../integrations/fleet/fleet.ts');
  return new RedisEngine({ server: share.server, probe: `${share.prefix}:probe`, tls, onState });
};

interface SharingOptions {
  readonly clock: Clock;
  readonly observe: Observe;
  readonly openEngine: OpenEngine;
}

/** The login of a credential, and the observer of its events. */
interface Wrapped {
  readonly login: SourceLogin;
  readonly observe: Observe;
}

export interface PreparedSharing {
  /**
   * If tokens of the credential are shared, wraps its login so that one instance logs in for all.
   *
   * @param unchanged the credential is the same as in the configuration in use
   */
  wrap(credential: CredentialConfig, unchanged: boolean, own: Login, news: TokenNews): Wrapped;
  commit(): void;
}

/** The address in a share URL: `HOST:PORT`, or the path of a socket. */
export function shareAddress({ address }: ShareServer): string {
  return 'path' in address ? address.path : formatUpstreamAddress(address);
}

/** Why the engine doesn't work, in words. */
export function shareTrouble(server: ShareServer, reason: string): { detail: string; remedy: string } {
  const tls = 'tls' in server.address && server.address.tls;
  const { what, remedy } = shareFailure(reason, tls);
  return { detail: `Redis at ${shareAddress(server)} (BEARERD_SHARE_URL) ${what}`, remedy };
}

/** The engine of a configuration, opened at its first use. */
class LazyEngine {
  state: EngineState = { state: 'connecting' };
  readonly share: ShareConfig;
  readonly tls: Config['tls'];
  readonly #options: SharingOptions;
  #opened: Promise<Engine> | undefined;

  constructor({ share, tls }: { share: ShareConfig; tls: Config['tls'] }, options: SharingOptions) {
    this.share = share;
    this.tls = tls;
    this.#options = options;
  }

  open(): Promise<Engine> {
    this.#opened ??= this.#options.openEngine({
      share: this.share,
      tls: this.tls,
      onState: (state) => this.#enter(state),
    });
    return this.#opened;
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }

  #enter(state: EngineState): void {
    const isNew = this.state.state !== state.state;
    this.state = state;
    if (!isNew) return;
    const { observe } = this.#options;
    if (state.state === 'ready') observe({ type: 'share-state', state: 'ready' });
    if (state.state === 'gone')
      observe({ type: 'share-state', ...state, ...shareTrouble(this.share.server, state.reason) });
  }
}

/** One credential's login, shared by one engine. */
class SharedCredential {
  readonly engine: LazyEngine;
  readonly #load: (own: Login) => Promise<SharedLogin>;
  #own: Login;
  #login: Promise<SharedLogin> | undefined;

  constructor(engine: LazyEngine, own: Login, load: (own: Login) => Promise<SharedLogin>) {
    this.engine = engine;
    this.#own = own;
    this.#load = load;
  }

  readonly logIn: SourceLogin = async (signal, spareMs) => {
    return (await this.start()).logIn(signal, spareMs);
  };

  start(): Promise<SharedLogin> {
    // Reads `#own` at each call: a reload may replace the login to the same account.
    this.#login ??= this.#load((abort) => this.#own(abort));
    return this.#login;
  }

  reconfigure(own: Login): void {
    this.#own = own;
  }

  observe(event: Event): void {
    if (event.type !== 'token-rejected') return;
    this.#login?.then((login) => login.rejected()).catch(() => {}); // The next login reports the failure.
  }

  async close(): Promise<void> {
    await (await this.#login)?.close();
  }
}

/** All shared logins and their engine. A reload keeps those that it does not change. */
export class Sharing {
  readonly #options: SharingOptions;
  readonly #closing = new Set<Promise<void>>();
  #engine: LazyEngine | undefined;
  #credentials: ReadonlyMap<string, SharedCredential> = new Map();

  constructor(options: SharingOptions) {
    this.#options = options;
  }

  /** Undefined if nothing is shared. */
  get state(): EngineState | undefined {
    return this.#engine?.state;
  }

  prepare(config: Config): PreparedSharing {
    const engine = this.#engineFor(config);
    const credentials = new Map<string, SharedCredential>();
    const changes: (() => void)[] = [];
    const wrap: PreparedSharing['wrap'] = (credential, unchanged, own, news) => {
      const { observe } = this.#options;
      if (engine === undefined || !isShared(credential)) return { login: own, observe };
      const known = this.#credentials.get(credential.name);
      const kept = unchanged && known?.engine === engine ? known : undefined;
      if (kept !== undefined) changes.push(() => kept.reconfigure(own));
      const shared =
        kept ??
        new SharedCredential(engine, own, (login) => this.#load({ credential, config, engine, login, news }));
      credentials.set(credential.name, shared);
      const observed: Observe = (event) => {
        shared.observe(event);
        observe(event);
      };
      return { login: shared.logIn, observe: observed };
    };
    const commit = () => {
      for (const change of changes) change();
      this.#take(engine, credentials);
    };
    return { wrap, commit };
  }

  /** Opens new shared logins, so that they learn of other instances' logins before their own is due. */
  start(): void {
    for (const shared of this.#credentials.values()) shared.start().catch(() => {}); // The next login reports the failure.
  }

  async close(): Promise<void> {
    this.#take(undefined, new Map());
    await Promise.all(this.#closing);
  }

  #engineFor({ share, tls }: Config): LazyEngine | undefined {
    if (share === undefined) return undefined;
    const inUse = this.#engine;
    const isSame = inUse !== undefined && same(inUse.share, share) && inUse.tls.ca === tls.ca;
    return isSame ? inUse : new LazyEngine({ share, tls }, this.#options);
  }

  #take(engine: LazyEngine | undefined, credentials: ReadonlyMap<string, SharedCredential>): void {
    const left = [...this.#credentials].flatMap(([name, old]) =>
      credentials.get(name) === old ? [] : [old],
    );
    const before = this.#engine === engine ? undefined : this.#engine;
    this.#engine = engine;
    this.#credentials = credentials;
    const closing = Promise.all(left.map((shared) => shared.close()))
      .then(() => before?.close())
      .catch((cause: unknown) => this.#options.observe({ type: 'internal-error', where: 'sharing', cause }))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #load({ credential, config, engine, login, news }: Loading): Promise<SharedLogin> {
    const { SharedLogin, AccountKeys, accountOf } = await import('../integrations/fleet/fleet.ts');
    const { key, prefix } = engine.share;
    const keys = new AccountKeys(accountOf(credential, sessionUrlOf(credential, config), key), prefix);
    const { clock, observe } = this.#options;
    return new SharedLogin({ keys, engine: await engine.open(), login, news, clock, observe });
  }
}

interface Loading {
  readonly credential: CredentialConfig;
  readonly config: Config;
  readonly engine: LazyEngine;
  readonly login: Login;
  readonly news: TokenNews;
}
