import { readFileSync } from 'node:fs';
import type { Config } from './config.ts';
import { loadAdminListen, loadConfig } from './load.ts';
import type { LoadInput } from './reading/reading.ts';

/** What says where to look, besides the environment: flags of a command line, or the host's own object. */
export type CommandLine = Pick<LoadInput, 'configFile' | 'content' | 'flags' | 'defaults'>;
export type Environment = LoadInput['env'];

const fromDisk = (path: string) => readFileSync(path, 'utf8');

/** Reads the configuration, and remembers what stood in the files: a change of one of them needs the others as they were. */
export class ConfigurationSource {
  readonly #env: Environment;
  readonly #commandLine: CommandLine;
  #contents = new Map<string, string>();

  constructor(env: Environment, commandLine: CommandLine = {}) {
    this.#env = env;
    this.#commandLine = commandLine;
  }

  /** What each file held when the configuration in use was read. */
  get contents(): ReadonlyMap<string, string> {
    return this.#contents;
  }

  /** Everything anew from the disk. What it read is kept only when it makes a good configuration. */
  load(): Promise<Config> {
    return this.#read(fromDisk);
  }

  loadAdminListen(): Promise<Config['adminListen']> {
    return loadAdminListen(this.#input(fromDisk));
  }

  /** The configuration in use with the new content of some files: nothing else on the disk is looked at. */
  loadWith(changed: ReadonlyMap<string, string>): Promise<Config> {
    const before = this.#contents;
    return this.#read((path) => {
      const text = changed.get(path) ?? before.get(path);
      if (text === undefined) throw Object.assign(new Error('not there before'), { code: 'ENOENT' });
      return text;
    });
  }

  async #read(readFile: (path: string) => string): Promise<Config> {
    const contents = new Map<string, string>();
    const remember = (path: string) => {
      const text = readFile(path);
      contents.set(path, text);
      return text;
    };
    const config = await loadConfig(this.#input(remember));
    this.#contents = contents;
    return config;
  }

  #input(readFile: (path: string) => string): LoadInput {
    return { env: this.#env, readFile, ...this.#commandLine };
  }
}
