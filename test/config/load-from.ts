import { ConfigError } from '../../src/base/config-error.ts';
import type { Config } from '../../src/config/config.ts';
import type { FlagTexts } from '../../src/config/declaration/flags.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { SecretCommands } from '../../src/config/reading/secret-commands.ts';

/** Files by absolute path: their text, or the code of the error of reading them. */
export type Files = Readonly<Record<string, string | { readonly code: string }>>;

export interface World {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly files?: Files;
  readonly configFile?: string;
  readonly flags?: FlagTexts;
  readonly commands?: SecretCommands;
}

export const CWD = '/srv/app';
export const FILE = `${CWD}/bearerd.yaml`;

/** The smallest valid environment: a base URL and a service account. */
export const LEAST = {
  BEARERD_BASE_URL: 'https://api.example.com',
  BEARERD_CLIENT_ID: 'sa-1',
  BEARERD_CLIENT_SECRET: 'client-secret',
};

export function loadFrom({ env = LEAST, files = {}, configFile, flags, commands }: World): Promise<Config> {
  const readFile = (path: string): string => {
    const content = files[path] ?? { code: 'ENOENT' };
    if (typeof content === 'string') return content;
    throw Object.assign(new Error(`${content.code}: ${path}`), content);
  };
  return loadConfig({ env, readFile, configFile, flags, commands, cwd: CWD });
}

/** Loads one file from the default place. */
export function loadYaml(yaml: string, env: World['env'] = {}, files: Files = {}): Promise<Config> {
  return loadFrom({ env, files: { [FILE]: yaml, ...files } });
}

/** Every fault as `KEY: problem`; empty for a valid configuration. */
export async function faultsOf(world: World): Promise<readonly string[]> {
  try {
    await loadFrom(world);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ key, problem }) => `${key}: ${problem}`);
    throw error;
  }
}

export function faultsOfYaml(
  yaml: string,
  env: World['env'] = {},
  files: Files = {},
): Promise<readonly string[]> {
  return faultsOf({ env, files: { [FILE]: yaml, ...files } });
}
