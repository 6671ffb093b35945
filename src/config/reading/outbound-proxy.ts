import { Secret } from '../../base/secret.ts';
import type { Report } from './faults.ts';
import type { LoadInput } from './reading.ts';

/** Their URLs may hold a password. */
export interface OutboundProxies {
  readonly httpsProxy: Secret | undefined;
  readonly httpProxy: Secret | undefined;
  readonly noProxy: string;
}

/** `proxy:3128` is common and means http. No fault shows the URL, because it may hold a password. */
function readProxy(name: string, env: LoadInput['env'], report: Report): Secret | undefined {
  const lower = name.toLowerCase();
  const key = env[lower] === undefined ? name : lower;
  const text = env[key]?.trim() ?? '';
  if (text === '') return undefined;
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url !== null && url.hostname !== '' && /^https?:$/.test(url.protocol)) return new Secret(url.href);
  report(key, 'must be the URL of an HTTP proxy, such as http://proxy.example.com:3128');
  return undefined;
}

/** From the usual variables; the lower-case name wins, as in curl. */
export function readOutboundProxies(env: LoadInput['env'], report: Report): OutboundProxies {
  return {
    httpsProxy: readProxy('HTTPS_PROXY', env, report),
    httpProxy: readProxy('HTTP_PROXY', env, report),
    noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
  };
}
