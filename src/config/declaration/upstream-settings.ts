import * as kinds from '../values/vocabulary.ts';
import { secret, setting } from './setting.ts';

/** Where requests go, and with which credentials. */
export const UPSTREAM_SETTINGS = {
  configFile: {
    variable: 'BEARERD_CONFIG',
    kind: kinds.text,
    description: 'the configuration file; it must be there when it is named',
  },
  upstream: setting('BEARERD_BASE_URL', 'baseUrl', kinds.baseUrl, {
    required: true,
    description: 'the upstream; a path is kept as a prefix of every request path',
  }),
  upstreamAddress: setting('BEARERD_UPSTREAM_ADDRESS', 'upstreamAddress', kinds.upstreamAddress, {
    description:
      '`HOST` or `HOST:PORT` to connect to in place of the host of the base URL, whose name stays in TLS and in `Host`: for a hosts entry that leads the name to bearerd',
  }),
  allowInsecureUpstream: setting('BEARERD_ALLOW_INSECURE_UPSTREAM', 'allowInsecureUpstream', kinds.flag, {
    default: 'false',
    description:
      'allow `http://` to a host that is not loopback: credentials then cross the network in clear text',
  }),
  upstreamHttp2: setting('BEARERD_UPSTREAM_HTTP2', 'upstreamHttp2', kinds.flag, {
    default: 'true',
    description: 'speak HTTP/2 with an `https://` upstream that offers it',
  }),
  sessionPath: setting('BEARERD_SESSION_PATH', 'session.path', kinds.sessionPath, {
    default: '/api/identity/v1/session',
    description: 'the session endpoint, below the base URL; never forwarded',
  }),
  clientId: secret('body', 'BEARERD_CLIENT_ID', 'credentials.token', 'ID of the service account'),
  clientSecret: secret('body', 'BEARERD_CLIENT_SECRET', 'credentials.token', 'secret of the service account'),
  username: secret(
    'body',
    'BEARERD_USERNAME',
    'credentials.token',
    'name of the user; a fault together with a service account',
  ),
  password: secret('body', 'BEARERD_PASSWORD', 'credentials.token', 'password of the user'),
  apiKey: secret('header', 'BEARERD_API_KEY', 'credentials.apiKey', 'a long-lived key'),
  routes: setting('BEARERD_ROUTES', 'routes', kinds.routePairs, {
    description:
      '`PREFIX=CREDENTIAL` pairs with commas between them (`/companies=apiKey,/health=none,/api/admin=deny,/=token`; `//HOST/PREFIX` for one host), ' +
      'in place of all the routes of the file. Without any: everything with `token`, or with `apiKey` where only a key is configured',
  }),
};
