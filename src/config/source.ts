import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigFileError } from '../base/config-error.ts';
import type { Environment } from '../base/environment.ts';
import type { Config } from './config.ts';
import { Disk } from './disk.ts';
import { loadConfig, loadListen } from './load.ts';
import type { LoadInput } from './reading/reading.ts';
import { type Given, SecretCommands, type SecretCommandsOptions } from './reading/secret-commands.ts';
import { readFailure } from './reading/text-file.ts';

/** The sources besides the environment: flags of a command line, or an object of the host program. */
export type CommandLine = Pick<LoadInput, 'configFile' | 'content' | 'flags' | 'defaults' | 'unlessSet'>;

/** A file that has not changed for this long is complete. */
const STILL_MS = 50;
const LOOKS = 20;

/** Reads the configuration, and keeps the content of its files: a change of one file applies with the others as they were. */
export class ConfigurationSource {
  readonly #env: Environment;
  readonly #commandLine: CommandLine;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #disk = new Disk();
  #contents = new Map<string, string>();
  /** What commands printed for the configuration in use. */
  #given: ReadonlyMap<string, Given> = new Map();
  #inForce: Config | undefined;

  /** @param pause between two looks at a file; the time that it says unless a test sets another one */
  constructor(
    env: Environment,
    commandLine: CommandLine = {},
    pause: (ms: number) => Promise<unknown> = sleep,
  ) {
    this.#env = env;
    this.#commandLine = commandLine;
    this.#pause = pause;
  }

  /** The content of each file when the configuration in use was read. */
  get contents(): ReadonlyMap<string, string> {
    return this.#contents;
  }

  /** Whether another process can read the same, because nothing came from a pipe. */
  get isRepeatable(): boolean {
    return !this.#disk.keepsAny;
  }

  /** The watched files of a configuration, without pipes, which can't change. */
  changing({ watchedFiles }: Config): readonly string[] {
    return watchedFiles.filter((path) => !this.#disk.keeps(path));
  }

  /**
   * Reads everything anew from the disk; keeps it only if the configuration is valid. From the second time on, it waits
   * until files that are being written are complete, and a configuration that has lost a part is faulty.
   */
  async load(
    options: Pick<SecretCommandsOptions, 'ran' | 'signal' | 'around' | 'onRun' | 'standIns'> = {},
  ): Promise<Config> {
    if (this.#inForce !== undefined) await this.#still();
    return this.#read(this.#fromDisk, options);
  }

  /**
   * Runs commands again, and keeps nothing: `load` and `loadSecrets` take what they printed. Meanwhile others may load.
   *
   * @param credential whose commands run; without one, all that the disk names now
   * @returns undefined if the configuration in use has no such commands
   */
  async runCommands(
    options: Pick<SecretCommandsOptions, 'signal' | 'onRun'>,
    credential?: string,
  ): Promise<SecretCommands | undefined> {
    const inUse = this.#inForce?.secretCommands ?? new Map<string, string>();
    const isDue = (key: string) => credential === undefined || inUse.get(key) === credential;
    if (![...inUse.keys()].some(isDue)) return undefined;
    if (credential === undefined) await this.#still();
    const readFile = credential === undefined ? this.#fromDisk : this.#before(new Map());
    const commands = new SecretCommands({ ...options, isDue, given: this.#given });
    await loadConfig({ ...this.#input(readFile), commands }, this.#inForce);
    return commands;
  }

  /** The configuration in use, with what some of its commands have printed since. */
  async loadSecrets(ran: SecretCommands): Promise<{ readonly config: Config; readonly isChanged: boolean }> {
    const before = this.#given;
    const config = await this.#read(this.#before(new Map()), { ran, isDue: () => false });
    const isSame = [...this.#given].every(([key, { secret }]) => secret.equals(before.get(key)?.secret));
    return { config, isChanged: !isSame };
  }

  loadListen(name: 'listen' | 'adminListen'): Promise<Config['listen']> {
    return loadListen(name, this.#input(this.#fromDisk));
  }

  /** The configuration in use, with the new content of some files; reads nothing else from the disk. */
  loadWith(changed: ReadonlyMap<string, string>): Promise<Config> {
    return this.#read(this.#before(changed), { isDue: () => false });
  }

  /** Only the first reading may wait for the writer of a pipe: after it, requests are served. */
  get #fromDisk(): (path: string) => string {
    return this.#inForce === undefined ? this.#disk.read : this.#disk.readAgain;
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

  /** Waits until two looks at the files find the same. */
  async #still(): Promise<void> {
    let changing: string | undefined;
    let before = this.#looks();
    for (let look = 1; look < LOOKS; look++) {
      await this.#pause(STILL_MS);
      const now = this.#looks();
      changing = [...now.keys()].find((path) => now.get(path) !== before.get(path));
      if (changing === undefined) return;
      before = now;
    }
    throw new ConfigFileError(changing ?? '', 'is still being written; reload once it is whole');
  }

  /** The present content of each file in use, or why it can't be read. */
  #looks(): Map<string, string> {
    const look = (path: string) => {
      try {
        return this.#disk.readAgain(path);
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
