import { basename, dirname } from 'node:path';
import type { FlagTexts } from '../declaration/flags.ts';
import type { Report } from './faults.ts';
import type { PlaceOf } from './lines.ts';
import { isAbsent, valueAt, type YamlMap } from './maps.ts';
import type { SecretCommands } from './secret-commands.ts';

/** What the world gives, so that tests can give something else. */
export interface LoadInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a text file, or throws what `fs.readFileSync` throws. */
  readonly readFile: (path: string) => string;
  /** What would stand in a configuration file, as a program hands it in: no file is looked for then, and no `.env`. */
  readonly content?: unknown;
  /** From `--config`. */
  readonly configFile?: string | undefined;
  /** What flags of the command line say, by their variables' names; they win over everything else. */
  readonly flags?: FlagTexts | undefined;
  /** By variable: what is in force where nothing is given, in place of the usual default. */
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  /** By which secrets come from commands; new ones, of which each runs, unless given. */
  readonly commands?: SecretCommands | undefined;
  /** Where relative paths of variables begin; the process's working directory unless given. */
  readonly cwd?: string | undefined;
}

export interface Environment {
  /** Our variables that have a value: from a flag, the environment or `.env`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Every name that begins with BEARERD_, known or not. */
  readonly ownNames: readonly string[];
  /** Its value is the one in `.env`. */
  readonly fromDotEnv: (name: string) => boolean;
  /** Where a variable's value comes from, as a person calls it: `--listen`, `BEARERD_LISTEN` or `.env`. */
  readonly sourceOf: (name: string) => string;
  /** What became of `.env`; `none` also where one is ignored that has nothing of ours. */
  readonly dotEnv: 'read' | 'ignored' | 'none';
  /** A line of `.env` can't be read: what is missing may stand there. */
  readonly broken: boolean;
  /** Any variable at all; the real environment wins over `.env`. */
  readonly lookUp: (name: string) => string | undefined;
}

export interface ConfigFile {
  /** Absolute; absent when there is no configuration file. */
  readonly path?: string;
  /** Where one was looked for in vain; absent where there is one, or none is looked for. */
  readonly sought?: readonly string[];
  readonly content: YamlMap;
  /** The lines of its keys; of nothing where it can't be understood. */
  readonly placeOf: PlaceOf;
  /** It can't be understood, so that nothing can be said about what it lacks. */
  readonly broken: boolean;
}

/** One reading of the configuration: where values come from, and what is learned on the way. */
export interface Reading {
  readonly cwd: string;
  readonly environment: Environment;
  readonly file: ConfigFile;
  readonly report: Report;
  /** Takes what works and is probably a mistake. */
  readonly warn: Report;
  readonly defaults: Readonly<Record<string, string>>;
  readonly readFile: (path: string) => string;
  /** Absolute paths of the secret and TLS files that were read. */
  readonly filesRead: Map<string, string>;
  /** Variables that the file's `{env: NAME}` name. */
  readonly variablesNamed: Set<string>;
  readonly commands: SecretCommands;
}

/** Where the file's relative paths begin. */
export function folderOf({ file, cwd }: Pick<Reading, 'file' | 'cwd'>): string {
  return file.path === undefined ? cwd : dirname(file.path);
}

/** What a broken file may well hold can't be said to be missing. */
export function isWhole({ file, environment }: Pick<Reading, 'file' | 'environment'>): boolean {
  return !file.broken && !environment.broken;
}

/** The file and the line of what is, or would be, at a key; nothing where the file has no part in it. */
export function placeInFile(key: string, { path, placeOf }: ConfigFile): string | undefined {
  const place = placeOf(key);
  return path === undefined || place === undefined ? undefined : `${basename(path)}:${place.line}`;
}

/** Where a setting's value comes from: the key that a fault is to name, and the folder where its paths begin. */
export function sourceOf(
  setting: { readonly variable: string; readonly key?: string },
  reading: Reading,
): { readonly key: string; readonly folder: string } {
  const { environment, file, cwd } = reading;
  const inFile = setting.key !== undefined && !isAbsent(valueAt(file.content, setting.key));
  if (setting.variable in environment.variables || !inFile) return { key: setting.variable, folder: cwd };
  return { key: setting.key, folder: folderOf(reading) };
}
