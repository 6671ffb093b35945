import { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import { SERVICE_VARIABLES } from './service.ts';

/** A shorter secret is in many a text by chance. */
const SHORTEST_SOUGHT = 8;
/** What is kept like a secret and may well stand in other variables: a user's name, a resource's URL. */
const HARMLESS: readonly string[] = ['clientId', 'username', 'parameters'];

/** What a command of `exec` gets: ours without the secrets, and what it is to know of its proxy. */
export function childEnvironment(
  ours: NodeJS.ProcessEnv,
  config: Pick<Config, 'secretVariables' | 'credentials'>,
  told: ReadonlyMap<string, string>,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...ours };
  for (const variable of [...config.secretVariables, ...SERVICE_VARIABLES]) delete env[variable];
  const secrets = secretsIn([...config.credentials.values()]);
  for (const [variable, value = ''] of Object.entries(env)) {
    if (secrets.some((secret) => value.includes(secret))) delete env[variable];
  }
  for (const [variable, value] of told) env[variable] = value;
  return { ...env, ...withoutProxy(env) };
}

/** The texts of all secrets in a value, whatever kinds of credentials there are. */
function secretsIn(value: unknown): readonly string[] {
  if (value instanceof Secret) {
    const text = value.expose();
    return text.length < SHORTEST_SOUGHT ? [] : [text];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (HARMLESS.includes(key) ? [] : secretsIn(inner)));
}

/** The command's calls to us go past the proxy of its environment. Each spelling has those who read it alone. */
function withoutProxy(env: NodeJS.ProcessEnv): { NO_PROXY: string; no_proxy: string } {
  const added = (list: string) => {
    const entries = list.split(/[,\s]+/).filter((entry) => entry !== '');
    // Beside others `*` is no wildcard to curl.
    if (entries.includes('*')) return list;
    return [...new Set([...entries, 'localhost', '127.0.0.1', '::1'])].join(',');
  };
  const { NO_PROXY: upper, no_proxy: lower } = env;
  return { NO_PROXY: added(upper ?? lower ?? ''), no_proxy: added(lower ?? upper ?? '') };
}
