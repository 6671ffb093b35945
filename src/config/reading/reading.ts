import { basename, dirname } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import type { FlagTexts } from '../declaration/flags.ts';
import type { Report } from './faults.ts';
import type { PlaceOf } from './lines.ts';
import { isAbsent, valueAt, type YamlMap } from './maps.ts';
import type { SecretCommands } from './secret-commands.ts';

/** All that is read from outside; tests pass their own. */
export interface LoadInput {
  readonly env: Environment;
  /** Reads a text file, or throws what `fs.readFileSync` throws. */
  readonly readFile: (path: string) => string;
  /** The content of a configuration file as an object from a program: then no file is sought, and no `.env`. */
  readonly content?: unknown;
  /** From `--config`. */
  readonly configFile?: string | undefined;
  /** Flags of the command line, by the names of their variables; they win over everything else. */
  readonly flags?: FlagTexts | undefined;
  /** Variables that count where neither a flag, nor the environment, nor `.env` sets them; they win over the file. */
  readonly unlessSet?: Readonly<Record<string, string>> | undefined;
  /** By variable: defaults that replace the usual ones. */
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  /** Runs the commands of secrets; by default each command runs. */
  readonly commands?: SecretCommands | undefined;
  /** Where relative paths of variables begin; the working directory by default. */
  readonly cwd?: string | undefined;
}

/** bearerd's own variables, and where they come from. */
export interface OwnVariables {
  /** Our variables that have a value: from a flag, the environment or `.env`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Every name with the prefix BEARERD_, known or not. */
  readonly ownNames: readonly string[];
  /** Whether the value of this variable is the one in `.env`. */
  readonly fromDotEnv: (name: string) => boolean;
  /** Where a variable's value comes from: `--listen`, `BEARERD_LISTEN` or `.env`. */
  readonly sourceOf: (name: string) => string;
  /** What became of `.env`; `none` also if one without variables of ours is ignored. */
  readonly dotEnv: 'read' | 'ignored' | 'none';
  /** A line of `.env` can't be read, so that it may hold what is missing. */
  readonly broken: boolean;
  /** Any variable at all; the real environment wins over `.env`. */
  readonly lookUp: (name: string) => string | undefined;
}

export interface ConfigFile {
  /** Absolute; absent when there is no configuration file. */
  readonly path?: string;
  /** Where none was found; absent if there is a file, or none was sought. */
  readonly sought?: readonly string[];
  readonly content: YamlMap;
  /** The lines of its keys; finds none if the file can't be parsed. */
  readonly placeOf: PlaceOf;
  /** It can't be parsed, so that it may hold what is missing. */
  readonly broken: boolean;
}

/** One reading of the configuration: its sources, and what it has found so far. */
export interface Reading {
  readonly cwd: string;
  readonly environment: OwnVariables;
  readonly file: ConfigFile;
  readonly report: Report;
  /** Reports what works and is probably a mistake. */
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

/** Whether faults may say that something is missing: a file that can't be parsed may hold it. */
export function isWhole({ file, environment }: Pick<Reading, 'file' | 'environment'>): boolean {
  return !file.broken && !environment.broken;
}

/** The file and the line where a key is, or would be; undefined if no part of the key is in the file. */
export function placeInFile(key: string, { path, placeOf }: ConfigFile): string | undefined {
  const place = placeOf(key);
  return path === undefined || place === undefined ? undefined : `${basename(path)}:${place.line}`;
}

/** The key by which faults name a setting, and the folder where its relative paths begin. */
export function settingPlace(
  setting: { readonly variable: string; readonly key?: string },
  reading: Reading,
): { readonly key: string; readonly folder: string } {
  const { environment, file, cwd } = reading;
  const inFile = setting.key !== undefined && !isAbsent(valueAt(file.content, setting.key));
  if (setting.variable in environment.variables || !inFile) return { key: setting.variable, folder: cwd };
  return { key: setting.key, folder: folderOf(reading) };
}
