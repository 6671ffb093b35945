import type { Clock } from '../clock.ts';
import type { Config, CredentialConfig } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import type { Credential } from '../credentials/credential.ts';
import { basicValueOf, headerValueOf } from '../credentials/header-value.ts';
import { LoginError } from '../errors.ts';
import type { Observe } from '../events.ts';
import { RenewingSource, type RenewingSourceOptions } from '../tokens/renewing-source.ts';
import type { TokenStatus } from '../tokens/token-status.ts';
import type { UpstreamPools } from '../upstream/pools.ts';
import {
  type FixedCredentialConfig,
  type LoginCredentialConfig,
  loginChange,
  loginFor,
  logsIn,
} from './logins.ts';

/** What a configuration makes of the credentials, before anything has been changed by it. */
export interface PreparedSources {
  /** By name, for the routes. */
  readonly credentials: ReadonlyMap<string, Credential>;
  /** Takes it into use. */
  commit(): void;
}

/** A source, and what becomes of it with the new configuration. */
interface Prepared {
  readonly source: RenewingSource;
  readonly take: () => void;
}

/**
 * The token sources of all credentials that log in, with their background loops. A credential keeps its source
 * through reloads, and with it its token, as long as it keeps its name.
 */
export class Sources {
  readonly #clock: Clock;
  readonly #observe: Observe;
  readonly #loops = new Set<Promise<void>>();
  #sources: ReadonlyMap<string, RenewingSource> = new Map();
  #started = false;

  constructor(clock: Clock, observe: Observe) {
    this.#clock = clock;
    this.#observe = observe;
  }

  /** @param before the configuration in use; undefined at the start */
  prepare(config: Config, before: Config | undefined, pools: UpstreamPools): PreparedSources {
    const prepared = new Map<string, Prepared>();
    const credentials = new Map<string, Credential>();
    for (const credential of config.credentials.values()) {
      if (logsIn(credential)) prepared.set(credential.name, this.#prepare(credential, config, before, pools));
      credentials.set(credential.name, credentialOf(credential, prepared.get(credential.name)?.source));
    }
    return { credentials, commit: () => this.#commit(prepared) };
  }

  /** Begins to log in. */
  start(): void {
    this.#started = true;
    for (const source of this.#sources.values()) this.#run(source);
  }

  /** No more logins; one under way goes on. */
  stop(): void {
    for (const source of this.#sources.values()) source.stop();
  }

  /** No more logins, and none under way. Resolves when the loops have ended. */
  async abort(): Promise<void> {
    for (const source of this.#sources.values()) source.abort();
    await Promise.all(this.#loops);
  }

  statuses(): ReadonlyMap<string, TokenStatus> {
    return new Map([...this.#sources].map(([name, source]) => [name, source.status()]));
  }

  /** Requests that wait for a token. */
  get waiting(): number {
    let waiting = 0;
    for (const source of this.#sources.values()) waiting += source.waiting;
    return waiting;
  }

  /** Renews every token now; gives the reasons of those that could not be. */
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

  #prepare(
    credential: LoginCredentialConfig,
    config: Config,
    before: Config | undefined,
    pools: UpstreamPools,
  ): Prepared {
    const options: RenewingSourceOptions = {
      name: credential.name,
      login: loginFor(credential, config, pools, this.#clock),
      scheme: credential.scheme,
      renewAfterMs: config.renewAfterMs,
      tokenWaitMs: config.tokenWaitMs,
      maxWaiting: config.limits.waiting,
      clock: this.#clock,
      observe: this.#observe,
    };
    const known = this.#sources.get(credential.name);
    if (known === undefined || before === undefined) {
      const source = new RenewingSource(options);
      return { source, take: () => this.#started && this.#run(source) };
    }
    const take = () => {
      const change = loginChange(credential, before, config);
      known.reconfigure(options, change !== 'same', change === 'replaced');
    };
    return { source: known, take };
  }

  #commit(prepared: ReadonlyMap<string, Prepared>): void {
    for (const [name, source] of this.#sources) if (!prepared.has(name)) source.abort();
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

/** What is sent of one that doesn't log in, without its scheme. */
export function sentOf(config: FixedCredentialConfig): Secret {
  return config.kind === 'basic' ? basicValueOf(config.username, config.password) : config.key;
}

function credentialOf(config: CredentialConfig, source: RenewingSource | undefined): Credential {
  const { name, header, elsewhere, scheme, origins } = config;
  const placement = { name, header, ...(elsewhere && { elsewhere }), origins: new Set(origins) };
  if (source !== undefined) return { ...placement, kind: 'token', source };
  if (logsIn(config)) throw new Error(`no source for credential ${name}`);
  const key = sentOf(config);
  const secrets = config.kind === 'basic' ? [key, config.password] : [key];
  return { ...placement, kind: 'api-key', headerValue: headerValueOf(key, scheme), secrets };
}
