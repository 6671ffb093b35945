import {
  ConfigError,
  type ConfigFault,
  ConfigFileError,
  formatFault,
  placedProblem,
} from '../base/config-error.ts';
import type { Observe } from '../base/events.ts';
import type { Config } from '../config/config.ts';
import { plainFile } from '../config/reading/plain-file.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { type SecretFileWatch, watchSecretFiles } from '../config/watch.ts';
import type { Reloaded } from '../listen/admin-endpoints.ts';

/** An ID and its secret change together, but the watch reports them one after the other; a login with only one is refused. */
const GATHER_MS = 100;

interface ReloadsOptions {
  /** The configuration in use. */
  readonly config: Config;
  readonly source: ConfigurationSource;
  /** Applies a valid configuration; gives the keys that need a restart. */
  readonly apply: (config: Config, by: string) => readonly string[];
  readonly observe: Observe;
}

/**
 * Applies changes of the configuration while the proxy runs: everything on request, and changed secret and TLS files by
 * itself. They are applied one at a time, and none after `stop`. A faulty configuration is refused, and the old one stays.
 */
export class Reloads {
  readonly #source: ConfigurationSource;
  readonly #apply: ReloadsOptions['apply'];
  readonly #observe: Observe;
  readonly #watch: SecretFileWatch;
  readonly #ended = new AbortController();
  /** New contents of files, by path, that are not in use: not tried yet, or refused because their counterpart is missing. */
  readonly #waiting = new Map<string, string>();
  /** The paths of those that came since the last try. */
  readonly #fresh = new Set<string>();
  #gathering: NodeJS.Timeout | undefined;
  /** The last change to be applied. Commands run before their turn: one that hangs holds up no changed file. */
  #last: Promise<unknown> = Promise.resolve();
  /** The last reload of everything. */
  #whole: Promise<unknown> = Promise.resolve();
  /** The last renewal of each credential. */
  readonly #renewals = new Map<string, Promise<void>>();
  #warnings: Config['warnings'] = [];
  /** A reload of everything that has not begun yet; later requests for one share it. */
  #next: Promise<Reloaded | undefined> | undefined;

  constructor({ config, source, apply, observe }: ReloadsOptions) {
    this.#source = source;
    this.#apply = apply;
    this.#observe = observe;
    this.#tellWarnings(config);
    // Counts the runs of the start: a series that began with a failure would show no increase.
    for (const key of config.secretCommands.keys()) observe({ type: 'secret-command', key, result: 'ok' });
    this.#watch = watchSecretFiles({
      files: source.changing(config),
      known: source.contents,
      readFile: plainFile,
      onChange: (path, content) => this.#gather(path, content),
      onTrouble: (path, reason) => observe({ type: 'secret-trouble', path, reason }),
      onUsable: (path) => observe({ type: 'secret-usable', path }),
      signal: this.#ended.signal,
    });
  }

  /** Reads everything again from disk. Gives undefined if stopped before. Never rejects. */
  all(by: string): Promise<Reloaded | undefined> {
    this.#next ??= this.#whole.then(() => {
      this.#next = undefined;
      return this.#everything(by);
    });
    this.#whole = this.#next;
    return this.#next;
  }

  async #everything(by: string): Promise<Reloaded | undefined> {
    if (this.#ended.signal.aborted) return undefined;
    try {
      const ran = await this.#source.runCommands(this.#commandOptions());
      return await this.#enqueue(async () => {
        const restartNeededFor = this.#use(await this.#source.load({ ...this.#commandOptions(), ran }), by);
        this.#waiting.clear(); // Older than what has just been read.
        this.#fresh.clear();
        return restartNeededFor && { reloaded: true, restartNeededFor };
      });
    } catch (error) {
      this.#refuse(by, error);
      return { reloaded: false, faults: faultsOf(error) };
    }
  }

  /** Runs the commands of one credential's secrets, and applies changed secrets. Never rejects. */
  renewSecrets(credential: string): Promise<void> {
    const before = this.#renewals.get(credential) ?? Promise.resolve();
    const renewal = before.then(() => this.#renew(credential));
    this.#renewals.set(credential, renewal);
    return renewal;
  }

  async #renew(credential: string): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const by = `commands of ${credential}`;
    try {
      const ran = await this.#source.runCommands(this.#commandOptions(), credential);
      if (ran === undefined) return;
      await this.#enqueue(async () => {
        const { config, isChanged } = await this.#source.loadSecrets(ran);
        if (isChanged) this.#use(config, by);
        else if (!this.#ended.signal.aborted) this.#tellWarnings(config);
      });
    } catch (error) {
      this.#refuse(by, error);
    }
  }

  #commandOptions() {
    const onRun = (key: string, result: 'ok' | 'failed') =>
      this.#observe({ type: 'secret-command', key, result });
    return { signal: this.#ended.signal, onRun };
  }

  stop(): void {
    clearTimeout(this.#gathering);
    this.#ended.abort();
  }

  #gather(path: string, content: string): void {
    this.#waiting.set(path, content);
    this.#fresh.add(path);
    clearTimeout(this.#gathering);
    this.#gathering = setTimeout(() => this.#enqueue(() => this.#changes()), GATHER_MS);
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T | undefined> {
    const unlessStopped = () => (this.#ended.signal.aborted ? undefined : work());
    const done = this.#last.then(unlessStopped, unlessStopped);
    this.#last = done;
    return done;
  }

  /** Tries all new contents, also those refused before: a certificate and its key may come in either order. */
  async #changes(): Promise<void> {
    const fresh = [...this.#fresh];
    this.#fresh.clear();
    let config: Config | undefined;
    let fault: unknown;
    for (const group of together([...this.#waiting.keys()])) {
      if (!group.every((path) => this.#waiting.has(path))) continue;
      try {
        const contents = new Map(group.map((path) => [path, this.#waiting.get(path) ?? '']));
        config = await this.#source.loadWith(contents);
        for (const path of group) this.#waiting.delete(path);
      } catch (error) {
        fault ??= error;
      }
    }
    const refused = fresh.filter((path) => this.#waiting.has(path));
    const taken = fresh.filter((path) => !refused.includes(path));
    if (config !== undefined) this.#use(config, taken.join(', '));
    if (refused.length > 0) this.#refuse(refused.join(', '), fault);
  }

  #use(config: Config, by: string): readonly string[] | undefined {
    if (this.#ended.signal.aborted) return undefined;
    const restartNeededFor = this.#apply(config, by);
    this.#tellWarnings(config);
    this.#watch.update(this.#source.changing(config), this.#source.contents);
    return restartNeededFor;
  }

  /** Emits only warnings that the last configuration did not have. */
  #tellWarnings({ warnings }: Config): void {
    const before = new Set(this.#warnings.map(formatFault));
    this.#warnings = warnings;
    for (const warning of warnings.filter((each) => !before.has(formatFault(each)))) {
      this.#observe({ type: 'doubtful-setting', key: warning.key, problem: placedProblem(warning) });
    }
  }

  #refuse(by: string, error: unknown): void {
    if (this.#ended.signal.aborted) return;
    const reason = isKnown(error) ? error.message : UNUSABLE;
    this.#observe({ type: 'reload-refused', by, reason });
  }
}

const UNUSABLE = "it can't be used";

function isKnown(error: unknown): error is ConfigError | ConfigFileError {
  return error instanceof ConfigError || error instanceof ConfigFileError;
}

/** The message of any other error may come from a library and hold anything. */
function faultsOf(error: unknown): readonly ConfigFault[] {
  if (error instanceof ConfigError) return error.faults;
  if (error instanceof ConfigFileError) return [{ key: error.path, problem: error.reason }];
  return [{ key: 'configuration', problem: UNUSABLE }];
}

/** The groups of paths to try: all, then each alone, then each pair, so that one faulty file does not block others. */
function together(paths: readonly string[]): readonly (readonly string[])[] {
  const pairs = paths.flatMap((a, index) => paths.slice(index + 1).map((b) => [a, b]));
  return [paths, ...paths.map((path) => [path]), ...pairs].filter((group) => group.length > 0);
}
