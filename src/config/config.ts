import type { ConfigFault } from '../base/errors.ts';
import type { Secret } from '../base/secret.ts';
import type { Values } from './declaration/settings.ts';
import type { CALLER } from './sections/callers.ts';
import type { ROUTE } from './sections/routes.ts';
import type { Declared } from './shapes/object.ts';

/** A base URL, taken apart once. `basePath` is empty or begins with `/` and does not end with one. */
export interface Upstream {
  /** `scheme://host[:port]`, as `new URL().origin` writes it. */
  readonly origin: string;
  readonly basePath: string;
}

/** Where connections go in place of a URL's own host, and port where it is given. */
export interface UpstreamAddress {
  /** A name or an IP address, without brackets. */
  readonly host: string;
  readonly port?: number;
}

export type ListenAddress =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | { readonly kind: 'unix'; readonly path: string };

/** A place in a request that is no header of its own: a parameter of the query, or one of the cookies. */
export interface Elsewhere {
  readonly in: 'query' | 'cookie';
  readonly name: string;
}

/** What the kinds of credential have in common: where it may go, and where in a request it stands. */
export interface CredentialPlacement {
  readonly name: string;
  /** The origins that it may be sent to; the base URL's where the configuration names none. */
  readonly origins: readonly string[];
  /** Header name as it is sent, `Authorization` unless configured. */
  readonly header: string;
  /** `Bearer` in `Authorization` and empty elsewhere, unless configured; empty for the bare value. */
  readonly scheme: string;
  /** Where it stands if in no header. */
  readonly elsewhere?: Elsewhere;
}

export type SessionGrant =
  | { readonly kind: 'service-account'; readonly clientId: Secret; readonly clientSecret: Secret }
  | { readonly kind: 'user'; readonly username: Secret; readonly password: Secret };

export interface SessionCredentialConfig extends CredentialPlacement {
  readonly kind: 'session';
  readonly grant: SessionGrant;
  /** Its own, where it logs in elsewhere than the others. */
  readonly baseUrl?: Upstream;
  readonly sessionPath?: string;
}

export interface ApiKeyCredentialConfig extends CredentialPlacement {
  readonly kind: 'api-key';
  readonly key: Secret;
}

/** A user name and a password for `Authorization: Basic` (RFC 7617). */
export interface BasicCredentialConfig extends CredentialPlacement {
  readonly kind: 'basic';
  readonly username: Secret;
  readonly password: Secret;
}

/** Where an OAuth 2.0 token is obtained: `path` begins with `/` and holds the query, if there is one. */
export interface TokenEndpoint {
  readonly origin: string;
  readonly path: string;
}

/** A file that is read anew at each login: a change needs no reload. */
export interface LoginFile {
  /** Absolute. */
  readonly path: string;
  /** As a message may show it. */
  readonly shown: string;
}

/**
 * How an OAuth 2.0 client says who it is. Only the first has a secret of its own in the configuration; what the others
 * prove themselves by changes from login to login, or is the client's certificate.
 */
export type ClientAuthentication =
  /** In the `Authorization` header, or among the form's parameters (RFC 6749 §2.3.1). */
  | {
      readonly clientAuthentication: 'basic' | 'body';
      readonly clientId: Secret;
      readonly clientSecret: Secret;
    }
  /** A JWT that another program signs for us (RFC 7523 §2.2). */
  | {
      readonly clientAuthentication: 'assertion';
      readonly clientId?: Secret;
      readonly assertion: LoginFile;
    }
  /** A JWT that we sign (RFC 7523 §2.2). */
  | ({ readonly clientAuthentication: 'privateKeyJwt'; readonly clientId: Secret } & SigningKey)
  /** By the certificate in `tls` (RFC 8705 §2). */
  | {
      readonly clientAuthentication: 'tls';
      readonly clientId: Secret;
      readonly tls: ClientCertificate;
    }
  /** A public client: its name at most. */
  | { readonly clientAuthentication: 'none'; readonly clientId?: Secret };

/** What assertions are signed with. */
export interface SigningKey {
  readonly privateKey: LoginFile;
  readonly keyId?: string;
  readonly algorithm: SigningAlgorithm;
  /** The token endpoint unless given. */
  readonly assertionAudience?: string;
}

export type SigningAlgorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';

export interface ClientCertificate {
  readonly certFile: LoginFile;
  readonly keyFile: LoginFile;
}

/** Another party's token that is exchanged for ours (RFC 8693). */
export interface TokenExchange {
  readonly subjectToken: LoginFile;
  readonly subjectTokenType: string;
}

/** An assertion that is the grant itself (RFC 7523 §2.1): from a file, or signed by us. */
export type AssertionGrant =
  | { readonly assertion: LoginFile }
  | (SigningKey & {
      /** Any but those that we set: `aud`, `iat`, `exp`, `jti`. `iss` and `sub` are the client unless they are here. */
      readonly claims: Readonly<Record<string, unknown>>;
      readonly lifetimeMs: number;
    });

/** A person whose name and password are the grant (RFC 6749 §4.3). */
export interface ResourceOwner {
  readonly username: Secret;
  readonly password: Secret;
}

/** A client of a token endpoint, by client credentials (RFC 6749 §4.4) unless it has one of the other grants. */
export type OAuth2CredentialConfig = OAuth2Common & ClientAuthentication;

export interface OAuth2Common extends CredentialPlacement {
  readonly kind: 'oauth2';
  /** One of the two is there: the endpoint, or the issuer that tells where it is. */
  readonly tokenEndpoint?: TokenEndpoint;
  readonly issuer?: string;
  /** The certificate of its own that it shows to the token endpoint. */
  readonly tls?: ClientCertificate;
  /** There where the grant is token exchange. */
  readonly exchange?: TokenExchange;
  /** There where the grant is `jwtBearer`. */
  readonly assertionGrant?: AssertionGrant;
  /** There where the grant is `password`. */
  readonly owner?: ResourceOwner;
  readonly scope?: string;
  readonly audience?: string;
  /** More form parameters; none of those that the fields above make. */
  readonly parameters: Readonly<Record<string, Secret>>;
}

/** A program that prints a token. */
export interface ExecCredentialConfig extends CredentialPlacement {
  readonly kind: 'exec';
  /** The program and its arguments; run as they stand, without a shell. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

export type CredentialConfig =
  | SessionCredentialConfig
  | ApiKeyCredentialConfig
  | BasicCredentialConfig
  | OAuth2CredentialConfig
  | ExecCredentialConfig;

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

/** One of those who may call, known by its key. */
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
  /** Those that it may send: what of the routes' credentials stands in a header. */
  readonly credentials: readonly string[];
}

/** A file that Envoy reads as a secret. */
export interface EnvoySdsSinkConfig {
  readonly kind: 'envoySds';
  readonly path: string;
  /** The secret's. */
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
  readonly cert?: string;
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
  /** Before each key. */
  readonly prefix: string;
  /** Goes into the sealing key; needed by accounts that have no secret. */
  readonly key?: Secret;
}

/** What clients are shown, where they are to speak TLS. */
export interface ListenTls {
  readonly certFile: string;
  readonly keyFile: string;
  /** PEM texts, read when the configuration was. */
  readonly cert: string;
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
  /** By origin: where connections go that no route opens, a login's for one. Others go to the origin's own host. */
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
