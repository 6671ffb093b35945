import { ConfigError } from '../base/config-error.ts';
import type { ListenAddress } from '../config/values/addresses.ts';
import type { OptionValues } from './command.ts';
import { listenOf } from './configuration.ts';

/** The address to ask: port 0 does not say which one the system chose. */
function fixed(addresses: readonly ListenAddress[]): ListenAddress | undefined {
  return addresses.find((address) => address.kind === 'unix' || address.port !== 0);
}

/**
 * Where the admin listener is. Reads nothing else of the configuration: secrets may be missing, and a running proxy is ready
 * in spite of a later fault in the configuration.
 *
 * @throws ConfigError when there is no listener to ask.
 */
export async function adminAddress(values: OptionValues): Promise<ListenAddress> {
  const address = fixed(await listenOf('adminListen', values));
  if (address === undefined) {
    const problem =
      'is off, or has no fixed port; this command asks the admin listener: set it to localhost:9181 or another address';
    throw new ConfigError([{ key: 'BEARERD_ADMIN_LISTEN', problem }]);
  }
  return address;
}
