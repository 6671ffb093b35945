import type { Config } from '../config/config.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { Reloads } from './reloads.ts';

interface ReloadableOptions extends Omit<GatewayOptions, 'config' | 'reload' | 'renewSecrets'> {
  /** Where `config` came from, and where each reload reads. */
  readonly source: ConfigurationSource;
  readonly config: Config;
  /** Changes each configuration that a reload has read. */
  readonly adapt: (loaded: Config) => Config;
  /** Called with each configuration that a reload has put in use. */
  readonly onApplied?: (config: Config) => void;
  /** The admin listener takes `POST /reload`. */
  readonly reloadsOnRequest: boolean;
}

/** A gateway and its reloads, each of which needs the other. */
interface Reloadable {
  readonly gateway: Gateway;
  /** The configuration in use. */
  readonly config: () => Config;
  /** Watches files from now on, and lets reloads begin; to be called once the gateway has started. */
  readonly begin: () => Reloads;
}

export function createReloadable(options: ReloadableOptions): Reloadable {
  const { source, adapt, onApplied, reloadsOnRequest, ...gatewayOptions } = options;
  const { events } = gatewayOptions;
  let { config } = options;
  const begun = Promise.withResolvers<Reloads>();
  const gateway = new Gateway({
    ...gatewayOptions,
    ...(reloadsOnRequest && { reload: async () => (await begun.promise).all('POST /reload') }),
    renewSecrets: async (credential) => (await begun.promise).renewSecrets(credential),
  });
  const apply = (loaded: Config, by: string) => {
    const next = adapt(loaded);
    const restartNeededFor = gateway.reconfigure(next);
    config = next;
    onApplied?.(next);
    events.emit({ type: 'reloaded', by, restartNeededFor });
    return restartNeededFor;
  };
  const begin = () => {
    const reloads = new Reloads({ config, source, apply, observe: events.emit });
    begun.resolve(reloads);
    return reloads;
  };
  return { gateway, config: () => config, begin };
}
