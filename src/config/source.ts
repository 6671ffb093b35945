import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigFileError } from '../base/config-error.ts';
import type { Config } from './config.ts';
import { Disk } from './disk.ts';
import { loadConfig, loadListen } from './load.ts';
import type { LoadInput } from './reading/reading.ts';
import { type Given, SecretCommands, type SecretCommandsOptions } from './reading/secret-commands.ts';
import { readFailure } from './reading/text-file.ts';

/** What says where to look, besides the environment: flags of a command line, or the host's own object. */
export type CommandLine = Pick<LoadInput, 'configFile' | 'content' | 'flags' | 'defaults'>;
export type Environment = LoadInput['env'];

/** A file that has not changed for this long is whole. */
const STILL_MS = 50;
const LOOKS = 20;

/** Reads the configuration, and remembers what stood in the files: a change of one of them needs the others as they were. */
export class ConfigurationSource {
  readonly #env: Environment;
  readonly #commandLine: CommandLine;
  readonly #disk = new Disk();
  #contents = new Map<string, string>();
  /** What commands gave for the configuration in use. */
  #given: ReadonlyMap<string, Given> = new Map();
  #inForce: Config | undefined;

  constructor(env: Environment, commandLine: CommandLine = {}) {
    this.#env = env;
    this.#commandLine = commandLine;
  }

  /** What each file held when the configuration in use was read. */
  get contents(): ReadonlyMap<string, string> {
    return this.#contents;
  }

  /** Whether another process could read the same: nothing of it came from a pipe. */
  get isRepeatable(): boolean {
    return !this.#disk.keepsAny;
  }

  /** The files that a configuration was read from and that can change; a pipe can't. */
  changing({ watchedFiles }: Config): readonly string[] {
    return watchedFiles.filter((path) => !this.#disk.keeps(path));
  }

  /**
   * Everything anew from the disk. What it read is kept only when it makes a good configuration. From the second time
   * on it waits until files that are being written are whole, and a configuration that has lost a part is faulty.
   */
  async load(
    options: Pick<SecretCommandsOptions, 'signal' | 'around' | 'onRun' | 'standIns'> = {},
  ): Promise<Config> {
    if (this.#inForce !== undefined) await this.#still();
    return this.#read(this.#disk.read, options);
  }

  /**
   * The configuration in use with what the commands of one credential print by now.
   *
   * @returns undefined where it has no commands
   */
  async loadSecretsOf(
    credential: string,
    options: Pick<SecretCommandsOptions, 'signal' | 'onRun'>,
  ): Promise<{ readonly config: Config; readonly isChanged: boolean } | undefined> {
    const commands = this.#inForce?.secretCommands ?? new Map<string, string>();
    const isDue = (key: string) => commands.get(key) === credential;
    if (![...commands.keys()].some(isDue)) return undefined;
    const before = this.#given;
    const config = await this.#read(this.#before(new Map()), { ...options, isDue });
    const isSame = [...this.#given].every(([key, { secret }]) => secret.equals(before.get(key)?.secret));
    return { config, isChanged: !isSame };
  }

  loadListen(name: 'listen' | 'adminListen'): Promise<Config['listen']> {
    return loadListen(name, this.#input(this.#disk.read));
  }

  /** The configuration in use with the new content of some files: nothing else on the disk is looked at. */
  loadWith(changed: ReadonlyMap<string, string>): Promise<Config> {
    return this.#read(this.#before(changed), { isDue: () => false });
  }

  #before(changed: ReadonlyMap<string, string>): (path: string) => string {
    const before = this.#contents;
    return (path) => {
      const text = changed.get(path) ?? before.get(path);
      if (text === undefined) throw Object.assign(new Error('not there before'), { code: 'ENOENT' });
      return text;
    };
  }

  async #read(readFile: (path: string) => string, options: SecretCommandsOptions): Promise<Config> {
    const commands = new SecretCommands({ ...options, given: this.#given });
    const contents = new Map<string, string>();
    const remember = (path: string) => {
      const text = readFile(path);
      contents.set(path, text);
      return text;
    };
    const config = await loadConfig({ ...this.#input(remember), commands }, this.#inForce);
    this.#contents = contents;
    this.#given = commands.given;
    this.#inForce = config;
    return config;
  }

  /** Waits until two looks at the files in use find the same. */
  async #still(): Promise<void> {
    let changing: string | undefined;
    let before = this.#looks();
    for (let look = 1; look < LOOKS; look++) {
      await sleep(STILL_MS);
      const now = this.#looks();
      changing = [...now.keys()].find((path) => now.get(path) !== before.get(path));
      if (changing === undefined) return;
      before = now;
    }
    throw new ConfigFileError(changing ?? '', 'is still being written; reload once it is whole');
  }

  /** What each file in use holds by now, or why it can't be read. */
  #looks(): Map<string, string> {
    const look = (path: string) => {
      try {
        return this.#disk.read(path);
      } catch (error) {
        return readFailure(error).reason;
      }
    };
    return new Map([...this.#contents.keys()].map((path) => [path, look(path)]));
  }

  #input(readFile: (path: string) => string): LoadInput {
    return { env: this.#env, readFile, ...this.#commandLine };
  }
}
