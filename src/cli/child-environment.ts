import { asBytes } from '../base/bytes.ts';
import type { Config } from '../config/config.ts';
import { secretsIn } from '../config/sections/credentials/credential.ts';
import { isLoopbackHost } from '../config/values/addresses.ts';
import { asSent } from '../forward/scrub/known-secrets.ts';
import { scrubText } from '../forward/scrub/scrubber.ts';
import { Searcher } from '../forward/scrub/searcher.ts';
import { SERVICE_VARIABLES } from './systemd.ts';

/** A shorter secret stands in many texts by chance. */
const SHORTEST_SOUGHT = 8;

/**
 * The environment of a command of `exec`: that of bearerd without the secrets, and with the variables that name its proxy.
 * A copy of a secret is found in each encoding that `scrub` finds: in base64 after `Basic`, percent-encoded in a URL.
 */
export function childEnvironment(
  ours: NodeJS.ProcessEnv,
  config: Pick<Config, 'secretVariables' | 'credentials' | 'share' | 'routes'>,
  told: ReadonlyMap<string, string>,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...ours };
  for (const variable of [...config.secretVariables, ...SERVICE_VARIABLES]) delete env[variable];
  const secrets = [
    ...secretsIn([...config.credentials.values(), config.share]).map(asSent),
    ...proxyLogins(env),
  ];
  const searcher = new Searcher(secrets.filter(({ length }) => length >= SHORTEST_SOUGHT));
  for (const [variable, value = ''] of Object.entries(env)) {
    const bytes = asBytes(value);
    if (scrubText(searcher, bytes) !== bytes) delete env[variable];
  }
  for (const [variable, value] of told) env[variable] = value;
  return { ...env, ...withoutProxy(env, config) };
}

/** The names that curl, npm and others give to the URL of an outbound proxy. */
const PROXY = /^(?!no_).*proxy$/i;
/** The scheme may be missing. */
const WITH_LOGIN = /^(\s*(?:[a-z][a-z0-9+.-]*:\/\/)?)([^/?#]*)@/i;

/**
 * Takes user and password out of the URLs of outbound proxies, which the command may need for other hosts. @returns the
 * passwords, or the user name where there is none, of which other variables may hold copies; each character is a byte
 */
function proxyLogins(env: NodeJS.ProcessEnv): string[] {
  const found: string[] = [];
  for (const [variable, url = ''] of Object.entries(env)) {
    const [, , login] = (PROXY.test(variable) && WITH_LOGIN.exec(url)) || [];
    if (login === undefined) continue;
    env[variable] = url.replace(WITH_LOGIN, '$1');
    const colon = login.indexOf(':');
    const [user, password] = colon === -1 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)];
    found.push(decoded(password === '' ? user : password));
  }
  return found;
}

function decoded(text: string): string {
  try {
    return asBytes(decodeURIComponent(text));
  } catch {
    return asBytes(text);
  }
}

/** Keeps the command's calls to bearerd from the outbound proxy. Some programs read only one of the two spellings. */
function withoutProxy(
  env: NodeJS.ProcessEnv,
  { routes }: Pick<Config, 'routes'>,
): { NO_PROXY: string; no_proxy: string } {
  // Not every program takes `localhost` for all names below it. A name that is not loopback may be the API's own.
  const local = routes.flatMap(({ host }) => (host !== undefined && isLoopbackHost(host) ? [host] : []));
  const added = (list: string) => {
    const entries = list.split(/[,\s]+/).filter((entry) => entry !== '');
    // curl takes `*` as a wildcard only if it stands alone.
    if (entries.includes('*')) return list;
    return [...new Set([...entries, 'localhost', '127.0.0.1', '::1', ...local])].join(',');
  };
  const { NO_PROXY: upper, no_proxy: lower } = env;
  return { NO_PROXY: added(upper ?? lower ?? ''), no_proxy: added(lower ?? upper ?? '') };
}
