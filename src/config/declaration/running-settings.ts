import * as kinds from '../values/vocabulary.ts';
import { LONGEST_TIMER, type SecretSetting, type Setting } from './setting.ts';

const timeout = kinds.duration({ min: 1, off: true, ...LONGEST_TIMER });

/** How long things take, how much there may be of them, logs, TLS and sharing. */
export const RUNNING_SETTINGS = {
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
