import type { ConfigFault } from '../base/config-error.ts';
import type { Secret } from '../base/secret.ts';
import type { CredentialConfig } from './credential-config.ts';
import type { Values } from './declaration/settings.ts';
import type { CALLER } from './sections/callers.ts';
import type { ROUTE } from './sections/routes.ts';
import type { Declared } from './shapes/object.ts';
import type { Upstream, UpstreamAddress } from './upstream-config.ts';

export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** Milliseconds; 0 means that there is no limit (`off`). */
export type Timeouts = Pick<Values, 'connectMs' | 'responseMs' | 'idleMs'>;

export type Limits = Pick<Values, 'connections' | 'waiting' | 'headerSizeBytes'>;

/** So many requests in so long. */
export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}

/** A route in force: as `ROUTE` describes it, with the global settings where it says nothing. */
export interface RouteConfig
  extends Omit<Declared<typeof ROUTE.fields>, 'prefix' | 'credential' | 'upstream' | 'timeouts' | 'scrub'> {
  readonly prefix: string;
  readonly credential: string;
  readonly upstream: Upstream;
  readonly timeouts: Timeouts;
  readonly scrub: boolean;
}

/** A caller, recognised by its key. */
export interface CallerConfig extends Omit<Declared<typeof CALLER.fields>, 'key'> {
  readonly name: string;
  readonly key: Secret;
}

/** A map in the memory of a HAProxy, by its Runtime API. */
export interface HaproxySinkConfig {
  readonly kind: 'haproxy';
  /** The unix socket of the Runtime API. */
  readonly path: string;
  readonly map: string;
  /** The credentials that HAProxy may send: those of the routes that are sent in a header. */
  readonly credentials: readonly string[];
}

/** A file that Envoy reads as a secret. */
export interface EnvoySdsSinkConfig {
  readonly kind: 'envoySds';
  readonly path: string;
  /** Name of the secret. */
  readonly name: string;
  readonly credential: string;
}

/** A file with nothing in it but the token. */
export interface FileSinkConfig {
  readonly kind: 'file';
  readonly path: string;
  readonly credential: string;
}

/** A place outside of this process that holds credentials. */
export type SinkConfig = HaproxySinkConfig | EnvoySdsSinkConfig | FileSinkConfig;

export interface TlsFiles {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  /** PEM texts, read when the configuration was. */
  readonly ca?: string;
  /** It may stand with its key in one file. */
  readonly cert?: Secret;
  readonly key?: Secret;
}

/** A Redis or Valkey. */
export interface ShareServer {
  readonly address:
    | { readonly host: string; readonly port: number; readonly tls: boolean }
    | { readonly path: string };
  readonly username?: Secret;
  readonly password?: Secret;
  readonly database: number;
}

/** Where instances of one account share its token. */
export interface ShareConfig {
  readonly server: ShareServer;
  /** Prefix of every key. */
  readonly prefix: string;
  /** Goes into the sealing key; needed by accounts that have no secret. */
  readonly key?: Secret;
}

/** The listener's certificate, where clients speak TLS. */
export interface ListenTls {
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM texts, read when the configuration was. */
  readonly cert: Secret;
  readonly key: Secret;
  /** When the first certificate of the chain expires, in epoch milliseconds. */
  readonly validUntilMs: number;
}

/** Settings that another part of the configuration holds, by itself or with others. */
export type PartOfAnother =
  | 'configFile'
  | 'upstream'
  | 'upstreamAddress'
  | 'allowInsecureUpstream'
  | 'routes'
  | 'scrub'
  | 'listenCertFile'
  | 'listenKeyFile'
  | 'caFile'
  | 'certFile'
  | 'keyFile'
  | 'sharePrefix'
  | keyof Timeouts
  | keyof Limits
  | 'logLevel'
  | 'logFormat'
  | 'requestIdHeader';

/**
 * The whole configuration: complete, checked and frozen. Nothing else reads the environment or a file. `SETTINGS`
 * describes each of the single settings; durations are in milliseconds, and a listener that is off has no address.
 */
export interface Config extends Omit<Values, PartOfAnother> {
  /** The configuration file that was read, if any. */
  readonly file?: string;
  readonly upstream: Upstream;
  /** By origin: where connections go that no route opens, such as a login's. An origin without one is its own address. */
  readonly upstreamAddresses: ReadonlyMap<string, UpstreamAddress>;
  readonly credentials: ReadonlyMap<string, CredentialConfig>;
  readonly routes: readonly RouteConfig[];
  readonly listenTls?: ListenTls;
  /** The key of callers that have no name. */
  readonly callerKey?: Secret;
  readonly callers: readonly CallerConfig[];
  readonly sinks: readonly SinkConfig[];
  readonly share?: ShareConfig;
  readonly timeouts: Timeouts;
  readonly limits: Limits;
  readonly log: {
    readonly level: string;
    readonly format: 'json' | 'pretty' | 'auto';
    readonly requestIdHeader?: string;
  };
  readonly tls: TlsFiles;
  /** Outbound proxies, as the environment gives them: their URLs may hold a password. */
  readonly outboundProxy: {
    readonly httpsProxy: Secret | undefined;
    readonly httpProxy: Secret | undefined;
    readonly noProxy: string;
  };
  /** Every secret and TLS file that was read: what a running proxy has to watch. */
  readonly watchedFiles: readonly string[];
  /** The same files, each with its path as it was configured. */
  readonly fileNames: ReadonlyMap<string, string>;
  /** Names of environment variables that hold secrets: what a child process must not inherit. */
  readonly secretVariables: readonly string[];
  /** Each secret that comes from a command, by its key or variable: the name of its credential, if it is of one. */
  readonly secretCommands: ReadonlyMap<string, string | undefined>;
  /** The configuration as a plain object for a person to read, each secret as `***`. */
  readonly effective: Readonly<Record<string, unknown>>;
  /** Where each single value of it comes from, by its dotted key. */
  readonly provenance: Readonly<Record<string, string>>;
  /** What became of the working directory's `.env`; `ignored` only where it has variables of ours. */
  readonly dotEnv: 'read' | 'ignored' | 'none';
  /** What works and is probably a mistake. */
  readonly warnings: readonly ConfigFault[];
}
