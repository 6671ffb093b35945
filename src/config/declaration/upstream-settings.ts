import * as kinds from '../values/vocabulary.ts';
import type { SecretSetting, Setting } from './setting.ts';

/** Where requests go, and with which credential. */
export const UPSTREAM_SETTINGS = {
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
} as const satisfies Record<string, Setting<unknown> | SecretSetting>;
