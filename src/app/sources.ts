import type { Clock } from '../base/clock.ts';
import type { EngineState } from '../base/engine-state.ts';
import type { Observe } from '../base/events.ts';
import { LoginError } from '../base/login-error.ts';
import type { Config } from '../config/config.ts';
import type { TokenNews } from '../integrations/fleet/shared-login.ts';
import type { PresentCredential } from '../integrations/sink.ts';
import type { AccessToken } from '../login/access-token.ts';
import type { Credential } from '../login/credential.ts';
import { RenewingSource, type RenewingSourceOptions } from '../tokens/renewing-source.ts';
import type { SourceLogin } from '../tokens/source-login.ts';
import type { TokenStatus } from '../tokens/token-status.ts';
import type { UpstreamPools } from '../upstream/pools.ts';
import { fixedCredential, presentOf, tokenCredential } from './credentials.ts';
import { type LoginCredentialConfig, loginFor, logsIn, sourceChange } from './logins.ts';
import { type RenewSecrets, withRenewedSecrets } from './renewed-secrets.ts';
import { type OpenEngine, openRedis, type PreparedSharing, Sharing } from './sharing.ts';

interface SourcesOptions {
  readonly clock: Clock;
  readonly observe: Observe;
  /** Opens the engine that shares tokens; Redis unless a test sets another one. */
  readonly openEngine?: OpenEngine;
  readonly renewSecrets?: RenewSecrets | undefined;
}

/** The credentials of a new configuration that is not applied yet. */
interface PreparedSources {
  /** By name, for the routes. */
  readonly credentials: ReadonlyMap<string, Credential>;
  /** Applies it. */
  commit(): void;
}

interface Preparation {
  readonly config: Config;
  readonly before: Config | undefined;
  readonly pools: UpstreamPools;
  readonly sharing: PreparedSharing;
}

/** A source, present or new, and the function that applies the new configuration to it. */
interface Prepared {
  readonly source: RenewingSource;
  readonly take: () => void;
}

/**
 * The token sources of all credentials that log in, with their background loops. A credential keeps its source through
 * reloads, unless `sourceChange` says that the tokens before and after belong apart.
 */
export class Sources {
  readonly #clock: Clock;
  readonly #observe: Observe;
  readonly #sharing: Sharing;
  readonly #renewSecrets: RenewSecrets | undefined;
  readonly #loops = new Set<Promise<void>>();
  #sources: ReadonlyMap<string, RenewingSource> = new Map();
  #credentials: ReadonlyMap<string, Credential> = new Map();
  #started = false;

  constructor({ clock, observe, openEngine = openRedis, renewSecrets }: SourcesOptions) {
    this.#clock = clock;
    this.#observe = observe;
    this.#renewSecrets = renewSecrets;
    this.#sharing = new Sharing({ clock, observe, openEngine });
  }

  /** @param before the configuration in use; undefined at the start */
  prepare(config: Config, before: Config | undefined, pools: UpstreamPools): PreparedSources {
    const prepared = new Map<string, Prepared>();
    const credentials = new Map<string, Credential>();
    const sharing = this.#sharing.prepare(config);
    for (const credential of config.credentials.values()) {
      const { name } = credential;
      if (logsIn(credential)) {
        const taken = this.#prepare(credential, { config, before, pools, sharing });
        prepared.set(name, taken);
        credentials.set(name, tokenCredential(credential, taken.source));
      } else credentials.set(name, fixedCredential(credential));
    }
    const commit = () => {
      sharing.commit();
      this.#commit(prepared, credentials);
      if (this.#started) this.#sharing.start();
    };
    return { credentials, commit };
  }

  /** Begins to log in. */
  start(): void {
    this.#started = true;
    for (const source of this.#sources.values()) this.#run(source);
    this.#sharing.start();
  }

  /** No more logins; one under way goes on. */
  stop(): void {
    for (const source of this.#sources.values()) source.stop();
  }

  /** No more logins, and none under way. Resolves when the loops have ended. */
  async abort(): Promise<void> {
    for (const source of this.#sources.values()) source.abort();
    await Promise.all(this.#loops);
    await this.#sharing.close();
  }

  /** The state of the engine that shares tokens; undefined if nothing is shared. */
  get sharing(): EngineState | undefined {
    return this.#sharing.state;
  }

  statuses(): ReadonlyMap<string, TokenStatus> {
    return new Map([...this.#sources].map(([name, source]) => [name, source.status()]));
  }

  /** The value of a credential while it may be sent. */
  present(name: string): PresentCredential | undefined {
    return presentOf(this.#credentials.get(name), this.#clock);
  }

  /** The token of a credential while it may be sent. */
  token(name: string): AccessToken | undefined {
    return this.#sources.get(name)?.current();
  }

  /** Requests that wait for a token. */
  get waiting(): number {
    let waiting = 0;
    for (const source of this.#sources.values()) waiting += source.waiting;
    return waiting;
  }

  /** Renews every token now; gives the reasons for those that failed. */
  async renewAll(): Promise<{ renewed: string[]; failed: Record<string, string> }> {
    const renewed: string[] = [];
    const failed: Record<string, string> = {};
    await Promise.all(
      [...this.#sources].map(async ([name, source]) => {
        const result = await source.renewNow();
        if (result instanceof LoginError) failed[name] = result.message;
        else renewed.push(name);
      }),
    );
    return { renewed, failed };
  }

  #prepare(credential: LoginCredentialConfig, { config, before, pools, sharing }: Preparation): Prepared {
    const known = this.#sources.get(credential.name);
    const change =
      known === undefined || before === undefined
        ? 'replaced'
        : sourceChange(credential, before, config, known.outdated);
    const kept = change === 'same' || change === 'changed' ? known : undefined;
    const own = loginFor(credential, config, pools, this.#clock);
    // `source` is assigned below: news comes only after it has begun to log in.
    const news = newsFor(() => source);
    const wrapped = sharing.wrap(credential, change === 'same', own, news);
    const options: RenewingSourceOptions = {
      name: credential.name,
      ...wrapped,
      login: this.#withSecrets(credential.name, wrapped.login, config),
      scheme: credential.scheme,
      renewAfterMs: config.renewAfterMs,
      tokenWaitMs: config.tokenWaitMs,
      maxWaiting: config.limits.waiting,
      waitingInAll: () => this.waiting,
      clock: this.#clock,
    };
    const source = kept ?? new RenewingSource(options);
    if (known !== undefined && kept === undefined) source.continueFrom(known, change === 'moved');
    const take = () => {
      if (kept !== undefined) kept.reconfigure(options, change === 'changed');
      else if (this.#started) this.#run(source);
    };
    return { source, take };
  }

  #withSecrets(name: string, login: SourceLogin, { secretCommands }: Config): SourceLogin {
    const renew = this.#renewSecrets;
    if (renew === undefined || ![...secretCommands.values()].includes(name)) return login;
    return withRenewedSecrets(login, () => renew(name));
  }

  #commit(prepared: ReadonlyMap<string, Prepared>, credentials: ReadonlyMap<string, Credential>): void {
    this.#credentials = credentials;
    for (const [name, source] of this.#sources) if (prepared.get(name)?.source !== source) source.retire();
    this.#sources = new Map([...prepared].map(([name, { source }]) => [name, source]));
    for (const { take } of prepared.values()) take();
  }

  #run(source: RenewingSource): void {
    const loop = source
      .keepFresh()
      .catch((cause: unknown) =>
        this.#observe({ type: 'internal-error', where: `renewal of ${source.name}`, cause }),
      )
      .finally(() => this.#loops.delete(loop));
    this.#loops.add(loop);
  }
}

/** Tells a source what other instances have learned. */
function newsFor(source: () => RenewingSource): TokenNews {
  return {
    fresher: () => source().makeRenewalDue(),
    refused: () => {
      const token = source().current();
      if (token !== undefined) source().rejected(token);
    },
  };
}
