import { ListenError } from '../base/errors.ts';
import { listenRemedy } from '../base/failures/listen-words.ts';
import type { Config } from '../config/config.ts';
import { flagName } from '../config/declaration/flags.ts';
import { SETTINGS } from '../config/declaration/settings.ts';

const LISTENERS = {
  proxy: { whose: "the proxy's listener", setting: SETTINGS.listen },
  admin: { whose: 'the admin listener', setting: SETTINGS.adminListen },
  probes: { whose: "the probes' listener", setting: SETTINGS.probesListen },
} as const;

/**
 * Opens a listener. @throws ListenError that says which listener it is, and what gives its address.
 *
 * @param open rejects with a ListenError that names the address
 */
export async function openListener<T>(
  name: keyof typeof LISTENERS,
  { provenance }: Pick<Config, 'provenance'>,
  open: () => Promise<T>,
): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const { whose, setting } = LISTENERS[name];
    const source = provenance[setting.key] ?? provenance[`${setting.key}[0]`] ?? 'default';
    const { code, port } = (error.cause ?? {}) as { code?: string; port?: number };
    const from = source === 'default' ? 'by default' : `from ${source}`;
    const remedy = `${listenRemedy(code, port)}give another address`.replace(/^g/, 'G');
    const where = `${setting.variable}, --${flagName(setting.variable)}, or ${setting.key} in the file`;
    throw new ListenError(`${error.message} (${whose}, ${from}). ${remedy}: ${where}`, {
      cause: error.cause,
    });
  }
}
