import { ConfigError } from '../base/config-error.ts';
import type { ListenAddress } from '../config/config.ts';
import type { OptionValues } from './command.ts';
import { adminListenOf } from './configuration.ts';
import { look, type Sight } from './sight.ts';

/** The one to ask: a port that is 0 can't be known. */
export function fixed(addresses: readonly ListenAddress[]): ListenAddress | undefined {
  return addresses.find((address) => address.kind === 'unix' || address.port !== 0);
}

/**
 * Gives a look at the admin listener of this configuration, of which it needs the address alone: no secret has to be
 * there, and a proxy that runs is ready in spite of a fault in the configuration by now.
 *
 * @throws ConfigError when there is no listener to ask.
 */
export async function readinessProbe(values: OptionValues): Promise<() => Promise<Sight>> {
  const address = await adminAddress(values);
  return () => look(address);
}

/** @throws ConfigError when there is no listener to ask. */
export async function adminAddress(values: OptionValues): Promise<ListenAddress> {
  const address = fixed(await adminListenOf(values));
  if (address === undefined) {
    const problem =
      'is off, or has no fixed port; this command asks the admin listener: set it to localhost:9181 or another address';
    throw new ConfigError([{ key: 'BEARERD_ADMIN_LISTEN', problem }]);
  }
  return address;
}
