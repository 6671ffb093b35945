import * as kinds from '../values/vocabulary.ts';
import { LONGEST_TIMER, secret, setting } from './setting.ts';

const timeout = kinds.duration({ min: 1, off: true, ...LONGEST_TIMER });

/** Times, limits, logs, TLS and sharing. */
export const RUNNING_SETTINGS = {
  tokenWaitMs: setting('BEARERD_TOKEN_WAIT', 'session.tokenWait', kinds.duration(LONGEST_TIMER), {
    default: '10s',
    description: 'how long a request waits for a token before 503; `0s` is not at all',
  }),
  renewAfterMs: setting('BEARERD_RENEW_AFTER', 'session.renewAfter', kinds.duration({ min: 1 }), {
    default: '15m',
    description: 'longest age of a token before it is renewed, even if it expires later',
  }),
  connectMs: setting('BEARERD_CONNECT_TIMEOUT', 'timeouts.connect', timeout, {
    default: '10s',
    description: 'longest time to connect to the upstream, TLS included; `off` for no limit',
  }),
  responseMs: setting('BEARERD_RESPONSE_TIMEOUT', 'timeouts.response', timeout, {
    default: '5m',
    description: 'longest time from the whole request sent to the response headers; `off` for no limit',
  }),
  idleMs: setting('BEARERD_IDLE_TIMEOUT', 'timeouts.idle', timeout, {
    default: '5m',
    description: 'longest time between two pieces of a body; `off` for no limit',
  }),
  closeTunnels: setting('BEARERD_CLOSE_TUNNELS', 'closeTunnels', kinds.choice(['never', 'at-expiry']), {
    default: 'never',
    description:
      'when a tunnel (WebSocket) is closed though both ends go on: `never`, or `at-expiry` of the token that it was opened with',
  }),
  connections: setting('BEARERD_MAX_CONNECTIONS', 'limits.connections', kinds.count(1_000_000), {
    default: '10000',
    description: 'most open client connections',
  }),
  waiting: setting('BEARERD_MAX_WAITING', 'limits.waiting', kinds.count(1_000_000), {
    default: '1000',
    description: 'most requests that wait for a token; past it 503 `overloaded`',
  }),
  headerSizeBytes: setting(
    'BEARERD_MAX_HEADER_SIZE',
    'limits.headerSize',
    kinds.size({ min: 1024, max: 16 * 1024 ** 2 }),
    {
      default: '32KiB',
      description: "most bytes of a request's or a response's headers, `1KiB` to `16MiB`",
    },
  ),
  drainTimeoutMs: setting('BEARERD_DRAIN_TIMEOUT', 'drainTimeout', kinds.duration(LONGEST_TIMER), {
    default: '25s',
    description: 'longest wait for requests in flight when stopping',
  }),
  shutdownDelayMs: setting('BEARERD_SHUTDOWN_DELAY', 'shutdownDelay', kinds.duration(LONGEST_TIMER), {
    default: '0s',
    description:
      'how long requests are still taken after SIGTERM, while `/readyz` is 503 already: the time that a load balancer needs to see it',
  }),
  logLevel: setting(
    'BEARERD_LOG_LEVEL',
    'log.level',
    kinds.choice(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    {
      default: 'info',
      description: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
    },
  ),
  logFormat: setting('BEARERD_LOG_FORMAT', 'log.format', kinds.choice(['json', 'pretty', 'auto']), {
    default: 'auto',
    description: '`json`, `pretty` or `auto` (pretty on a terminal)',
  }),
  requestIdHeader: setting('BEARERD_REQUEST_ID_HEADER', 'log.requestIdHeader', kinds.requestIdHeader, {
    description: "header of a request's ID, such as `X-Request-Id`: a client's own is kept, else one is made",
  }),
  caFile: setting('BEARERD_TLS_CA_FILE', 'tls.caFile', kinds.text, {
    description: "PEM file of private certificate authorities, added to the system's",
  }),
  certFile: setting('BEARERD_TLS_CERT_FILE', 'tls.certFile', kinds.text, {
    description: 'PEM file of the client certificate for mutual TLS; together with its key',
  }),
  keyFile: setting('BEARERD_TLS_KEY_FILE', 'tls.keyFile', kinds.text, {
    description: 'PEM file of its private key, without a passphrase',
  }),
  shareUrl: secret(
    'body',
    'BEARERD_SHARE_URL',
    'share.url',
    'a Redis or Valkey by which instances of one account share its token: `redis://`, `rediss://` or `unix:/path`',
  ),
  sharePrefix: setting('BEARERD_SHARE_PREFIX', 'share.prefix', kinds.keyPrefix, {
    default: 'bearerd',
    description: 'prefix of every key there',
  }),
  shareKey: secret(
    'body',
    'BEARERD_SHARE_KEY',
    'share.key',
    "goes into the key that seals what is shared, beside the account's secret; required for an account without one",
  ),
};
