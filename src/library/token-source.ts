import { logsIn } from '../app/logins.ts';
import { Reloads } from '../app/reloads.ts';
import { Sources } from '../app/sources.ts';
import { systemClock } from '../base/clock.ts';
import { ConfigError } from '../base/config-error.ts';
import { untilMs } from '../base/deadline.ts';
import { ClosedError } from '../base/errors.ts';
import { EventBus } from '../base/events.ts';
import { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import { ConfigurationSource } from '../config/source.ts';
import { systemLookup } from '../upstream/dial.ts';
import { UpstreamPools } from '../upstream/pools.ts';
import type { ConfigObject } from './config-object.ts';
import { type LibraryOptions, logOutputOf, warnOfLoosening } from './hosted.ts';

/** A token that may be sent now. */
export interface Token {
  readonly value: string;
  readonly expiresAt: Date;
}

/** The token of one credential, without a proxy. */
export interface TokenSource {
  /** The present token, or the next one after a wait of at most `session.tokenWait`. */
  token(): Promise<Token>;
  /** Reports that the API rejected this token (401). Logs in unless there is a newer token already. */
  invalidate(value: string): void;
  close(): Promise<void>;
}

/**
 * Logs in with one credential of the configuration, and keeps its token fresh. Opens no port.
 *
 * @throws ConfigError with every fault
 */
export async function createTokenSource(
  config: ConfigObject,
  name = 'token',
  { env = {}, log = false }: LibraryOptions = {},
): Promise<TokenSource> {
  // Routes have no effect here, but the default route would need a credential named `token` or `apiKey`.
  const content =
    config?.routes === undefined ? { ...config, routes: [{ prefix: '/', credential: name }] } : config;
  const configuration = new ConfigurationSource(env, { content });
  let current = alone(await configuration.load(), name);
  const output = await logOutputOf(log, current);
  const events = new EventBus(output.observe);
  warnOfLoosening(events.emit);
  // `reloads` is assigned below, before the first login.
  const renewSecrets = (credential: string) => reloads.renewSecrets(credential);
  const sources = new Sources({ clock: systemClock, observe: events.emit, renewSecrets });
  let pools = new UpstreamPools(current, systemLookup);
  const prepared = sources.prepare(current, undefined, pools);
  const credential = prepared.credentials.get(name);
  if (credential?.kind !== 'token') throw new Error(`${name} was not checked`);
  const { source } = credential; // Reloads keep it: only its secrets can change.
  prepared.commit();
  const apply = (loaded: Config, by: string) => {
    const next = alone(loaded, name);
    pools = new UpstreamPools(next, systemLookup, pools);
    sources.prepare(next, current, pools).commit();
    pools.closePrevious();
    current = next;
    events.emit({ type: 'reloaded', by, restartNeededFor: [] });
    return [];
  };
  const reloads: Reloads = new Reloads({
    config: current,
    source: configuration,
    apply,
    observe: events.emit,
  });
  sources.start();
  let ended: Promise<void> | undefined;
  const end = async () => {
    reloads.stop();
    await sources.abort();
    pools.destroy();
    await output.close();
  };
  return {
    async token() {
      if (ended !== undefined) throw new ClosedError();
      const { value, expires } = await source.wait();
      return { value: value.expose(), expiresAt: new Date(Date.now() + untilMs(expires, systemClock)) };
    },
    invalidate(value) {
      const token = source.current();
      if (ended === undefined && token?.value.equals(new Secret(value))) void source.rejected(token);
    },
    close() {
      ended ??= end();
      return ended;
    },
  };
}

/** The configuration with only this credential, so that no other one logs in. */
function alone(config: Config, name: string): Config {
  const credential = config.credentials.get(name);
  if (credential !== undefined && logsIn(credential))
    return { ...config, credentials: new Map([[name, credential]]) };
  const problem =
    credential === undefined
      ? 'does not exist, and a token was asked for'
      : 'is a key, and a token was asked for';
  throw new ConfigError([{ key: `credentials.${name}`, problem }]);
}
