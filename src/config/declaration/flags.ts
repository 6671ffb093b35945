import { flag as booleanKind } from '../values/vocabulary.ts';
import { formsOf } from './setting.ts';
import { PLAIN_SETTINGS, SECRET_SETTINGS, SETTINGS } from './settings.ts';

/** A setting as an argument of the command line: `--base-url` for `BEARERD_BASE_URL`. */
interface Flag {
  /** Without the two hyphens. */
  readonly name: string;
  readonly variable: string;
  /** The flag alone means `true`. */
  readonly bare: boolean;
  readonly description: string;
}

/** Texts of flags, by the names of their variables. */
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

/** All users of a machine see the arguments of a process, so a secret has only a flag for its file. */
const files = SECRET_SETTINGS.map((setting) => {
  const [itself, file] = formsOf(setting);
  const description = `file of ${itself}: ${setting.description}`;
  return { name: flagName(file), variable: file, bare: false, description };
});

/** One for each setting except the configuration file, whose flag each command declares. */
export const FLAGS: readonly Flag[] = [...plain, ...files].filter(
  ({ variable }) => variable !== SETTINGS.configFile.variable,
);

/** Refused with an explanation, because their values would be secrets. */
export const SECRET_FLAGS: readonly string[] = SECRET_SETTINGS.map(({ variable }) => flagName(variable));
