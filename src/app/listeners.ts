import { ConfigError } from '../base/config-error.ts';
import { ListenError } from '../base/errors.ts';
import { listenRemedy } from '../base/failures/listen-words.ts';
import type { Config } from '../config/config.ts';
import { flagName } from '../config/declaration/flags.ts';
import { SETTINGS } from '../config/declaration/settings.ts';
import { isLoopbackHost, type ListenAddress } from '../config/values/addresses.ts';
import type { PassedSockets } from '../integrations/systemd/passed.ts';
import { AdminListener } from '../listen/admin.ts';
import type { AdminView } from '../listen/admin-endpoints.ts';
import type { ListenTarget } from '../listen/bind.ts';
import { asksForKey } from '../listen/callers.ts';
import { ProbesListener } from '../listen/probes.ts';
import type { ProxyListener } from '../listen/proxy.ts';

interface ListenersOptions {
  readonly config: Config;
  readonly sockets: PassedSockets;
  readonly proxy: ProxyListener;
  readonly view: AdminView;
}

/** The listeners of one process: the proxy's, the admin listener, and the probes'. */
export class Listeners {
  readonly proxy: ProxyListener;
  /** Undefined where it has no address. */
  readonly admin: AdminListener | undefined;
  readonly #probes: ProbesListener;
  readonly #sockets: PassedSockets;
  urls: readonly string[] = [];
  adminUrls: readonly string[] = [];
  probeUrls: readonly string[] = [];

  constructor({ config, sockets, proxy, view }: ListenersOptions) {
    const { headerSizeBytes } = config.limits;
    this.proxy = proxy;
    this.#sockets = sockets;
    if (config.adminListen.length > 0 || sockets.admin.length > 0) {
      this.admin = new AdminListener(view, headerSizeBytes);
    }
    this.#probes = new ProbesListener(view, headerSizeBytes);
  }

  /**
   * Listens at all addresses, one listener after another. After an error, `close()` closes those that are open.
   *
   * @throws ListenError if an address can't be listened on.
   * @throws ConfigError if other machines can reach a passed socket, and no caller key is configured.
   */
  async open(config: Config): Promise<void> {
    const { proxy, admin } = this.#sockets;
    this.urls = await opened('proxy', config, this.proxy.listen(placesOf(proxy, config.listen)));
    if (proxy.length > 0) checkReach(this.urls, config);
    const adminOpens = this.admin?.listen(placesOf(admin, config.adminListen));
    this.adminUrls = (await opened('admin', config, adminOpens)) ?? [];
    this.probeUrls = await opened('probes', config, this.#probes.listen(config.probesListen));
  }

  async close(): Promise<void> {
    await Promise.all([this.proxy.close(), this.admin?.close(), this.#probes.close()]);
  }
}

function placesOf(sockets: readonly number[], addresses: readonly ListenAddress[]): readonly ListenTarget[] {
  return sockets.length === 0 ? addresses : sockets.map((fd) => ({ kind: 'passed', fd }));
}

/** Passed sockets have the same rule as configured addresses. Their addresses are known only now. */
function checkReach(urls: readonly string[], config: Config): void {
  if (asksForKey(config) || config.allowRemoteCallers) return;
  const remote = urls.find((url) => !url.startsWith('unix:') && !isLoopbackHost(new URL(url).hostname));
  if (remote === undefined) return;
  const problem = `${remote}, which was passed, can be reached from other machines; set BEARERD_CALLER_KEY, or BEARERD_ALLOW_REMOTE_CALLERS=true`;
  throw new ConfigError([{ key: 'LISTEN_FDS', problem }]);
}

const NAMES = {
  proxy: { listener: "the proxy's listener", setting: SETTINGS.listen },
  admin: { listener: 'the admin listener', setting: SETTINGS.adminListen },
  probes: { listener: "the probes' listener", setting: SETTINGS.probesListen },
} as const;

/**
 * Adds to a ListenError of `opening` which listener failed, and which setting has the address.
 */
async function opened<T>(
  name: keyof typeof NAMES,
  { provenance }: Config,
  opening: T | Promise<T>,
): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (!(error instanceof ListenError)) throw error;
    const { listener, setting } = NAMES[name];
    const source = provenance[setting.key] ?? provenance[`${setting.key}[0]`] ?? 'default';
    const { code, port } = (error.cause ?? {}) as { code?: string; port?: number };
    const from = source === 'default' ? 'by default' : `from ${source}`;
    const remedy = `${listenRemedy(code, port)}give another address`.replace(/^g/, 'G');
    const where = `${setting.variable}, --${flagName(setting.variable)}, or ${setting.key} in the file`;
    const message = `${error.message} (${listener}, ${from}). ${remedy}: ${where}`;
    throw new ListenError(message, { cause: error.cause });
  }
}
