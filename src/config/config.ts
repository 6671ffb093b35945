import type { ConfigFault } from '../base/config-error.ts';
import type { OutboundProxies } from './reading/outbound-proxy.ts';
import type { CallersInForce } from './sections/callers.ts';
import type { CredentialConfig } from './sections/credentials/credential.ts';
import type { RouteConfig } from './sections/routes.ts';
import type { ShareConfig } from './sections/share.ts';
import type { SettingsInForce } from './sections/single-settings.ts';
import type { SinkConfig } from './sections/sink-config.ts';
import type { ListenTls, TlsFiles } from './sections/tls.ts';
import type { UpstreamAddress } from './values/addresses.ts';
import type { Upstream } from './values/urls.ts';

/**
 * The whole configuration: complete, checked and frozen. No other code reads bearerd's settings, except that
 * `cli/quick-healthcheck.ts` looks for the admin address. Files of `LoginFile` are read anew at each login. `SETTINGS`
 * describes each of the single settings; durations are in milliseconds, and a listener that is off has no address.
 */
export interface Config extends SettingsInForce, CallersInForce {
  /** The configuration file, if one was read. */
  readonly file?: string;
  readonly upstream: Upstream;
  /** By origin, for connections that no route opens, such as a login's; an origin that is missing is its own address. */
  readonly upstreamAddresses: ReadonlyMap<string, UpstreamAddress>;
  readonly credentials: ReadonlyMap<string, CredentialConfig>;
  readonly routes: readonly RouteConfig[];
  readonly listenTls?: ListenTls;
  readonly sinks: readonly SinkConfig[];
  readonly share?: ShareConfig;
  readonly tls: TlsFiles;
  readonly outboundProxy: OutboundProxies;
  /** Every secret and TLS file that was read, to be watched by a running proxy. */
  readonly watchedFiles: readonly string[];
  /** The same files, each with its path as it was configured. */
  readonly fileNames: ReadonlyMap<string, string>;
  /** Environment variables that hold secrets, which no child process may inherit. */
  readonly secretVariables: readonly string[];
  /** By key or variable of each secret from a command: the name of its credential, if it belongs to one. */
  readonly secretCommands: ReadonlyMap<string, string | undefined>;
  /** The configuration as a plain object for a person to read, each secret as `***`. */
  readonly effective: Readonly<Record<string, unknown>>;
  /** Where each of its values comes from, by dotted key. */
  readonly provenance: Readonly<Record<string, string>>;
  /** What became of the working directory's `.env`; `ignored` only if it has variables of ours. */
  readonly dotEnv: 'read' | 'ignored' | 'none';
  /** What works and is probably a mistake. */
  readonly warnings: readonly ConfigFault[];
}
