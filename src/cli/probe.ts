import { ConfigError } from '../base/config-error.ts';
import type { ListenAddress } from '../config/values/addresses.ts';
import type { OptionValues } from './command.ts';
import { listenOf } from './configuration.ts';
import { look, type Sight } from './sight.ts';

/** The address to ask: port 0 does not say which one the system chose. */
export function fixed(addresses: readonly ListenAddress[]): ListenAddress | undefined {
  return addresses.find((address) => address.kind === 'unix' || address.port !== 0);
}

/**
 * Gives a function that looks at the admin listener. Of the configuration it needs the address alone: secrets may be
 * missing, and a running proxy is ready in spite of a later fault in the configuration.
 *
 * @throws ConfigError when there is no listener to ask.
 */
export async function readinessProbe(values: OptionValues): Promise<() => Promise<Sight>> {
  const address = await adminAddress(values);
  return () => look(address);
}

/** @throws ConfigError when there is no listener to ask. */
export async function adminAddress(values: OptionValues): Promise<ListenAddress> {
  const address = fixed(await listenOf('adminListen', values));
  if (address === undefined) {
    const problem =
      'is off, or has no fixed port; this command asks the admin listener: set it to localhost:9181 or another address';
    throw new ConfigError([{ key: 'BEARERD_ADMIN_LISTEN', problem }]);
  }
  return address;
}
