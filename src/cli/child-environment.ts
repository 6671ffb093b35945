import type { Config } from '../config/config.ts';
import { isLoopbackHost } from '../config/values/addresses.ts';
import { secretsIn } from '../config/values/secrets.ts';
import { scrubText } from '../forward/scrub/scrubber.ts';
import { Searcher } from '../forward/scrub/searcher.ts';
import { SERVICE_VARIABLES } from './service.ts';

/** A shorter secret is in many a text by chance. */
const SHORTEST_SOUGHT = 8;

/**
 * What a command of `exec` gets: ours without the secrets, and what it is to know of its proxy. A copy of a secret is found
 * in each encoding that `scrub` finds: in base64 after `Basic`, percent-encoded in a URL.
 */
export function childEnvironment(
  ours: NodeJS.ProcessEnv,
  config: Pick<Config, 'secretVariables' | 'credentials' | 'share' | 'routes'>,
  told: ReadonlyMap<string, string>,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...ours };
  for (const variable of [...config.secretVariables, ...SERVICE_VARIABLES]) delete env[variable];
  const secrets = secretsIn([...config.credentials.values(), config.share])
    .map((secret) => asBytes(secret.expose()))
    .filter(({ length }) => length >= SHORTEST_SOUGHT);
  const searcher = new Searcher(secrets);
  for (const [variable, value = ''] of Object.entries(env)) {
    const bytes = asBytes(value);
    if (scrubText(searcher, bytes) !== bytes) delete env[variable];
  }
  for (const [variable, value] of told) env[variable] = value;
  return { ...env, ...withoutProxy(env, config) };
}

/** In UTF-8, each character a byte. */
const asBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** The command's calls to us go past the proxy of its environment. Each spelling has those who read it alone. */
function withoutProxy(
  env: NodeJS.ProcessEnv,
  { routes }: Pick<Config, 'routes'>,
): { NO_PROXY: string; no_proxy: string } {
  // Not everyone takes what is below a name for named with it. A name elsewhere may be that of the API itself.
  const local = routes.flatMap(({ host }) => (host !== undefined && isLoopbackHost(host) ? [host] : []));
  const added = (list: string) => {
    const entries = list.split(/[,\s]+/).filter((entry) => entry !== '');
    // Beside others `*` is no wildcard to curl.
    if (entries.includes('*')) return list;
    return [...new Set([...entries, 'localhost', '127.0.0.1', '::1', ...local])].join(',');
  };
  const { NO_PROXY: upper, no_proxy: lower } = env;
  return { NO_PROXY: added(upper ?? lower ?? ''), no_proxy: added(lower ?? upper ?? '') };
}
