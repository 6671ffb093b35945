import * as kinds from '../values/vocabulary.ts';
import { secret, setting } from './setting.ts';

/** Where clients connect, and what they may do. */
export const CLIENT_SETTINGS = {
  listen: setting('BEARERD_LISTEN', 'listen', kinds.addresses, {
    default: 'localhost:9180',
    description:
      'list of `HOST:PORT`, `[v6]:PORT`, `unix:/path`; `localhost`, or a name below it, is both 127.0.0.1 and ::1, port 0 a free port',
  }),
  adminListen: setting('BEARERD_ADMIN_LISTEN', 'admin.listen', kinds.addressesOrOff, {
    default: 'localhost:9181',
    description: 'list of the same for health, metrics and the status page, or `off`',
  }),
  probesListen: setting('BEARERD_PROBES_LISTEN', 'admin.probes', kinds.addressesOrOff, {
    default: 'off',
    description:
      'list of the same for `/healthz` and `/readyz` alone, which answer whatever the `Host` and without a caller key: for `httpGet` probes. On an address beyond loopback they answer with a status and no body',
  }),
  listenCertFile: setting('BEARERD_LISTEN_TLS_CERT_FILE', 'listenTls.certFile', kinds.text, {
    description:
      'PEM file of the certificate, with the chain below it, that clients are shown: the proxy then speaks HTTPS on all addresses but Unix sockets; together with its key',
  }),
  listenKeyFile: setting('BEARERD_LISTEN_TLS_KEY_FILE', 'listenTls.keyFile', kinds.text, {
    description: 'PEM file of its private key, without a passphrase',
  }),
  allowedHosts: setting('BEARERD_ALLOWED_HOSTS', 'allowedHosts', kinds.allowedHosts, {
    default: '',
    description: 'list of more names that the `Host` header may have (`sidecar`, `*.svc.cluster.local`)',
  }),
  browserCookies: setting('BEARERD_BROWSER_COOKIES', 'browserCookies', kinds.flag, {
    default: 'false',
    description: 'let cookies through in requests that come from a browser',
  }),
  allowedOrigins: setting('BEARERD_ALLOWED_ORIGINS', 'allowedOrigins', kinds.webOrigins, {
    default: '',
    description: 'list of web origins whose pages may call (`http://localhost:3000`)',
  }),
  scrub: setting('BEARERD_SCRUB', 'scrub', kinds.flag, {
    default: 'false',
    description:
      'strike every credential and token out of answers that hold one, in each usual encoding; `true` unless given in `bearerd exec`',
  }),
  callerKey: secret(
    'header',
    'BEARERD_CALLER_KEY',
    'callerKey',
    'what each client must send, as `X-Bearerd-Key`, `Proxy-Authorization: Bearer …`, or where it would put an API key; it or `callers` are required to listen on an address that is not loopback',
  ),
  allowRemoteCallers: setting('BEARERD_ALLOW_REMOTE_CALLERS', 'allowRemoteCallers', kinds.flag, {
    default: 'false',
    description:
      'listen on an address that is not loopback without a caller key: everyone who reaches it may call',
  }),
};
