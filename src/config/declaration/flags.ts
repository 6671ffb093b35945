import { flag as booleanKind } from '../values/vocabulary.ts';
import { formsOf } from './setting.ts';
import { PLAIN_SETTINGS, SECRET_SETTINGS, SETTINGS } from './settings.ts';

/** A setting as an argument of the command line: `--base-url` for `BEARERD_BASE_URL`. */
export interface Flag {
  /** Without the two hyphens. */
  readonly name: string;
  readonly variable: string;
  /** Alone it means `true`. */
  readonly bare: boolean;
  readonly description: string;
}

/** What flags give, by their variables' names. */
export type FlagTexts = Readonly<Record<string, string>>;

export function flagName(variable: string): string {
  return variable
    .replace(/^BEARERD_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
}

const plain = PLAIN_SETTINGS.map(([, { variable, kind, description }]) => ({
  name: flagName(variable),
  variable,
  bare: kind === booleanKind,
  description,
}));

/** Every user of a machine sees the arguments of a process: a secret has no flag but the one for its file. */
const files = SECRET_SETTINGS.map((setting) => {
  const [itself, file] = formsOf(setting);
  const description = `file of ${itself}: ${setting.description}`;
  return { name: flagName(file), variable: file, bare: false, description };
});

/** A flag for each setting but the configuration file, whose flag each command has. */
export const FLAGS: readonly Flag[] = [...plain, ...files].filter(
  ({ variable }) => variable !== SETTINGS.configFile.variable,
);

/** Flags that people may try and that are refused: their values would be secrets. */
export const SECRET_FLAGS: readonly string[] = SECRET_SETTINGS.map(({ variable }) => flagName(variable));
