import type { Kind } from '../values/kind.ts';
import * as kinds from '../values/vocabulary.ts';

/** A setting that a variable, the file, or both may give. */
export interface Setting<T> {
  readonly variable: string;
  /** Where it stands in the file; none for what can't stand there. */
  readonly key?: string;
  readonly kind: Kind<T>;
  /** As a person would write it. */
  readonly default?: string;
  readonly required?: boolean;
  readonly description: string;
}

/** A secret that a variable may give, a file that `<variable>_FILE` names, or a command in `<variable>_COMMAND`. */
export interface SecretSetting {
  readonly secret: 'header' | 'body';
  readonly variable: string;
  readonly key: string;
  readonly description: string;
}

/** The variables that may give a secret, the one that holds it first. */
export function formsOf({ variable }: SecretSetting): readonly [string, string, string] {
  return [variable, `${variable}_FILE`, `${variable}_COMMAND`];
}

/** Past it `setTimeout` fires at once (2^31-1 ms, nearly 25 days). */
export const LONGEST_TIMER = { max: 596 * 3_600_000 };
const timeout = kinds.duration({ min: 1, off: true, ...LONGEST_TIMER });

/**
 * Every setting, once. The variables, the shape of the file, `bearerd schema` and the table in
 * docs/configuration.md all come from here, in this order.
 */
export const SETTINGS = {
  configFile: {
    variable: 'BEARERD_CONFIG',
    kind: kinds.text,
    description: 'the configuration file; it must be there when it is named',
  },
  upstream: {
    variable: 'BEARERD_BASE_URL',
    key: 'baseUrl',
    kind: kinds.baseUrl,
    required: true,
    description: 'the upstream; a path is kept as a prefix of every request path',
  },
  upstreamAddress: {
    variable: 'BEARERD_UPSTREAM_ADDRESS',
    key: 'upstreamAddress',
    kind: kinds.upstreamAddress,
    description:
      '`HOST` or `HOST:PORT` to connect to in place of the host of the base URL, whose name stays in TLS and in `Host`: for a hosts entry that leads the name to bearerd',
  },
  allowInsecureUpstream: {
    variable: 'BEARERD_ALLOW_INSECURE_UPSTREAM',
    key: 'allowInsecureUpstream',
    kind: kinds.flag,
    default: 'false',
    description:
      'allow `http://` to a host that is not loopback: credentials then cross the network in clear text',
  },
  upstreamHttp2: {
    variable: 'BEARERD_UPSTREAM_HTTP2',
    key: 'upstreamHttp2',
    kind: kinds.flag,
    default: 'true',
    description: 'speak HTTP/2 with an `https://` upstream that offers it',
  },
  sessionPath: {
    variable: 'BEARERD_SESSION_PATH',
    key: 'session.path',
    kind: kinds.sessionPath,
    default: '/api/identity/v1/session',
    description: 'the session endpoint, below the base URL; never forwarded',
  },
  clientId: {
    secret: 'body',
    variable: 'BEARERD_CLIENT_ID',
    key: 'credentials.token',
    description: 'ID of the service account',
  },
  clientSecret: {
    secret: 'body',
    variable: 'BEARERD_CLIENT_SECRET',
    key: 'credentials.token',
    description: 'secret of the service account',
  },
  username: {
    secret: 'body',
    variable: 'BEARERD_USERNAME',
    key: 'credentials.token',
    description: 'name of the user; a fault together with a service account',
  },
  password: {
    secret: 'body',
    variable: 'BEARERD_PASSWORD',
    key: 'credentials.token',
    description: 'password of the user',
  },
  apiKey: {
    secret: 'header',
    variable: 'BEARERD_API_KEY',
    key: 'credentials.apiKey',
    description: 'a long-lived key',
  },
  routes: {
    variable: 'BEARERD_ROUTES',
    key: 'routes',
    kind: kinds.routePairs,
    description:
      '`PREFIX=CREDENTIAL` pairs with commas between them (`/companies=apiKey,/health=none,/api/admin=deny,/=token`; `//HOST/PREFIX` for one host), ' +
      'in place of all the routes of the file. Without any: everything with `token`, or with `apiKey` where only a key is configured',
  },
  listen: {
    variable: 'BEARERD_LISTEN',
    key: 'listen',
    kind: kinds.addresses,
    default: 'localhost:9180',
    description:
      'list of `HOST:PORT`, `[v6]:PORT`, `unix:/path`; `localhost` is both 127.0.0.1 and ::1, port 0 a free port',
  },
  adminListen: {
    variable: 'BEARERD_ADMIN_LISTEN',
    key: 'admin.listen',
    kind: kinds.addressesOrOff,
    default: 'localhost:9181',
    description: 'list of the same for health, metrics and the status page, or `off`',
  },
  probesListen: {
    variable: 'BEARERD_PROBES_LISTEN',
    key: 'admin.probes',
    kind: kinds.addressesOrOff,
    default: 'off',
    description:
      'list of the same for `/healthz` and `/readyz` alone, which answer whatever the `Host` and without a caller key: for `httpGet` probes. On an address beyond loopback they answer with a status and no body',
  },
  listenCertFile: {
    variable: 'BEARERD_LISTEN_TLS_CERT_FILE',
    key: 'listenTls.certFile',
    kind: kinds.text,
    description:
      'PEM file of the certificate, with the chain below it, that clients are shown: the proxy then speaks HTTPS on all addresses but Unix sockets; together with its key',
  },
  listenKeyFile: {
    variable: 'BEARERD_LISTEN_TLS_KEY_FILE',
    key: 'listenTls.keyFile',
    kind: kinds.text,
    description: 'PEM file of its private key, without a passphrase',
  },
  allowedHosts: {
    variable: 'BEARERD_ALLOWED_HOSTS',
    key: 'allowedHosts',
    kind: kinds.allowedHosts,
    default: '',
    description: 'list of more names that the `Host` header may have (`sidecar`, `*.svc.cluster.local`)',
  },
  browserCookies: {
    variable: 'BEARERD_BROWSER_COOKIES',
    key: 'browserCookies',
    kind: kinds.flag,
    default: 'false',
    description: 'let cookies through in requests that come from a browser',
  },
  allowedOrigins: {
    variable: 'BEARERD_ALLOWED_ORIGINS',
    key: 'allowedOrigins',
    kind: kinds.webOrigins,
    default: '',
    description: 'list of web origins whose pages may call (`http://localhost:3000`)',
  },
  scrub: {
    variable: 'BEARERD_SCRUB',
    key: 'scrub',
    kind: kinds.flag,
    default: 'false',
    description:
      'strike every credential and token out of answers that hold one, in each usual encoding; `true` unless given in `bearerd exec`',
  },
  callerKey: {
    secret: 'header',
    variable: 'BEARERD_CALLER_KEY',
    key: 'callerKey',
    description:
      'what each client must send, as `X-Bearerd-Key`, `Proxy-Authorization: Bearer …`, or where it would put an API key; it or `callers` are required to listen on an address that is not loopback',
  },
  allowRemoteCallers: {
    variable: 'BEARERD_ALLOW_REMOTE_CALLERS',
    key: 'allowRemoteCallers',
    kind: kinds.flag,
    default: 'false',
    description:
      'listen on an address that is not loopback without a caller key: everyone who reaches it may call',
  },
  tokenWaitMs: {
    variable: 'BEARERD_TOKEN_WAIT',
    key: 'session.tokenWait',
    kind: kinds.duration(LONGEST_TIMER),
    default: '10s',
    description: 'how long a request waits for a token before 503; `0s` is not at all',
  },
  renewAfterMs: {
    variable: 'BEARERD_RENEW_AFTER',
    key: 'session.renewAfter',
    kind: kinds.duration({ min: 1 }),
    default: '15m',
    description: 'longest age of a token before it is renewed, even if it expires later',
  },
  connectMs: {
    variable: 'BEARERD_CONNECT_TIMEOUT',
    key: 'timeouts.connect',
    kind: timeout,
    default: '10s',
    description: 'longest time to connect to the upstream, TLS included; `off` for no limit',
  },
  responseMs: {
    variable: 'BEARERD_RESPONSE_TIMEOUT',
    key: 'timeouts.response',
    kind: timeout,
    default: '5m',
    description: 'longest time from the whole request sent to the response headers; `off` for no limit',
  },
  idleMs: {
    variable: 'BEARERD_IDLE_TIMEOUT',
    key: 'timeouts.idle',
    kind: timeout,
    default: '5m',
    description: 'longest time between two pieces of a body; `off` for no limit',
  },
  closeTunnels: {
    variable: 'BEARERD_CLOSE_TUNNELS',
    key: 'closeTunnels',
    kind: kinds.choice(['never', 'at-expiry']),
    default: 'never',
    description:
      'when a tunnel (WebSocket) is closed though both ends go on: `never`, or `at-expiry` of the token that it was opened with',
  },
  connections: {
    variable: 'BEARERD_MAX_CONNECTIONS',
    key: 'limits.connections',
    kind: kinds.count(1_000_000),
    default: '10000',
    description: 'most open client connections',
  },
  waiting: {
    variable: 'BEARERD_MAX_WAITING',
    key: 'limits.waiting',
    kind: kinds.count(1_000_000),
    default: '1000',
    description: 'most requests that wait for a token; past it 503 `overloaded`',
  },
  headerSizeBytes: {
    variable: 'BEARERD_MAX_HEADER_SIZE',
    key: 'limits.headerSize',
    kind: kinds.size({ min: 1024, max: 16 * 1024 ** 2 }),
    default: '32KiB',
    description: "most bytes of a request's or a response's headers, `1KiB` to `16MiB`",
  },
  drainTimeoutMs: {
    variable: 'BEARERD_DRAIN_TIMEOUT',
    key: 'drainTimeout',
    kind: kinds.duration(LONGEST_TIMER),
    default: '25s',
    description: 'longest wait for requests in flight when stopping',
  },
  shutdownDelayMs: {
    variable: 'BEARERD_SHUTDOWN_DELAY',
    key: 'shutdownDelay',
    kind: kinds.duration(LONGEST_TIMER),
    default: '0s',
    description:
      'how long requests are still taken after SIGTERM, while `/readyz` is 503 already: the time that a load balancer needs to see it',
  },
  logLevel: {
    variable: 'BEARERD_LOG_LEVEL',
    key: 'log.level',
    kind: kinds.choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    default: 'info',
    description: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
  },
  logFormat: {
    variable: 'BEARERD_LOG_FORMAT',
    key: 'log.format',
    kind: kinds.choice(['json', 'pretty', 'auto']),
    default: 'auto',
    description: '`json`, `pretty` or `auto` (pretty on a terminal)',
  },
  requestIdHeader: {
    variable: 'BEARERD_REQUEST_ID_HEADER',
    key: 'log.requestIdHeader',
    kind: kinds.requestIdHeader,
    description: "header of a request's ID, such as `X-Request-Id`: a client's own is kept, else one is made",
  },
  caFile: {
    variable: 'BEARERD_TLS_CA_FILE',
    key: 'tls.caFile',
    kind: kinds.text,
    description: "PEM file of private certificate authorities, added to the system's",
  },
  certFile: {
    variable: 'BEARERD_TLS_CERT_FILE',
    key: 'tls.certFile',
    kind: kinds.text,
    description: 'PEM file of the client certificate for mutual TLS; together with its key',
  },
  keyFile: {
    variable: 'BEARERD_TLS_KEY_FILE',
    key: 'tls.keyFile',
    kind: kinds.text,
    description: 'PEM file of its private key, without a passphrase',
  },
  shareUrl: {
    secret: 'body',
    variable: 'BEARERD_SHARE_URL',
    key: 'share.url',
    description:
      'a Redis or Valkey by which instances of one account share its token: `redis://`, `rediss://` or `unix:/path`',
  },
  sharePrefix: {
    variable: 'BEARERD_SHARE_PREFIX',
    key: 'share.prefix',
    kind: kinds.keyPrefix,
    default: 'bearerd',
    description: 'prefix of every key there',
  },
  shareKey: {
    secret: 'body',
    variable: 'BEARERD_SHARE_KEY',
    key: 'share.key',
    description:
      "goes into the key that seals what is shared, beside the account's secret; required for an account without one",
  },
} as const satisfies Record<string, Setting<unknown> | SecretSetting>;

type Settings = typeof SETTINGS;
type SecretName = { [K in keyof Settings]: Settings[K] extends SecretSetting ? K : never }[keyof Settings];

type ValueOf<S> = S extends { kind: Kind<infer T> }
  ? S extends { default: string }
    ? T
    : T | undefined
  : never;

/** What the settings that aren't secret say, by their names above. */
export type Values = { readonly [K in Exclude<keyof Settings, SecretName>]: ValueOf<Settings[K]> };

const ALL: readonly (readonly [string, Setting<unknown> | SecretSetting])[] = Object.entries(SETTINGS);

export const PLAIN_SETTINGS = ALL.flatMap(([name, setting]) =>
  'secret' in setting ? [] : [[name, setting] as const],
);
export const SECRET_SETTINGS = ALL.flatMap(([, setting]) => ('secret' in setting ? [setting] : []));

/** `bearerd exec` sets it for its child, which may be another bearerd: known, and ignored. */
export const URL_VARIABLE = 'BEARERD_URL';

/** Parts of the file that are more than one value, with readers of their own. */
export const STRUCTURED_KEYS = ['credentials', 'routes', 'callers', 'sinks'];

/** Settings that one key of the file gives, `session.path` for one. */
export const FILE_SETTINGS = PLAIN_SETTINGS.flatMap(([, setting]) =>
  setting.key === undefined || STRUCTURED_KEYS.includes(setting.key)
    ? []
    : [{ ...setting, key: setting.key }],
);

export const KNOWN_VARIABLES: readonly string[] = ALL.flatMap(([, setting]) =>
  'secret' in setting ? formsOf(setting) : [setting.variable],
);

/** Every dotted key of the file: the single settings, `callerKey`, and the structured ones. */
export const FILE_KEYS: readonly string[] = [
  ...FILE_SETTINGS.map((setting) => setting.key),
  SETTINGS.callerKey.key,
  SETTINGS.shareUrl.key,
  SETTINGS.shareKey.key,
  ...STRUCTURED_KEYS,
];
