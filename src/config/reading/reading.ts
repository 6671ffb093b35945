import type { FlagTexts } from '../declaration/flags.ts';
import type { ConfigFile } from './config-file.ts';
import type { Environment } from './environment.ts';

/** Takes one fault: the variable or file key, what is wrong with it, and where in the file it stands. */
export type Report = (key: string, problem: string, place?: string) => void;

/** What the world gives, so that tests can give something else. */
export interface LoadInput {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Reads a text file, or throws what `fs.readFileSync` throws. */
  readonly readFile: (path: string) => string;
  /** From `--config`. */
  readonly configFile?: string | undefined;
  /** What flags of the command line say, by their variables' names; they win over everything else. */
  readonly flags?: FlagTexts | undefined;
  /** By variable: what is in force where nothing is given, in place of the usual default. */
  readonly defaults?: Readonly<Record<string, string>> | undefined;
  /** Where relative paths of variables begin; the process's working directory unless given. */
  readonly cwd?: string | undefined;
}

/** One reading of the configuration: where values come from, and what is learned on the way. */
export interface Reading {
  readonly cwd: string;
  readonly environment: Environment;
  readonly file: ConfigFile;
  readonly report: Report;
  readonly defaults: Readonly<Record<string, string>>;
  readonly readFile: (path: string) => string;
  /** Absolute paths of the secret and TLS files that were read. */
  readonly filesRead: Map<string, string>;
  /** Variables that the file's `{env: NAME}` name. */
  readonly variablesNamed: Set<string>;
  /** Origins besides the upstreams' that get a secret, by the key that names them. */
  readonly tokenOrigins: Map<string, string>;
}
