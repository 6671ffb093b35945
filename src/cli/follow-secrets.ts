import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { watchSecretFiles } from '../config/watch.ts';
import { ConfigError } from '../errors.ts';
import type { Observe } from '../events.ts';

/** Builds the configuration anew with this one file's new content, everything else as it was read last. */
export type Rebuild = (path: string, content: string) => Promise<Config>;

export interface FollowedSecrets {
  /** After a reload: watch what the new configuration reads. */
  update(config: Config, known: ReadonlyMap<string, string>): void;
  stop(): void;
}

/** An id and its secret change together, but are seen one after the other: a login with half of a pair is refused. */
const GATHER_MS = 100;

/** Takes a changed secret or TLS file into use; a faulty one leaves the old configuration as it is. */
export function followSecretFiles(
  config: Config,
  known: ReadonlyMap<string, string>,
  rebuild: Rebuild,
  apply: (config: Config, by: string) => void,
  observe: Observe,
): FollowedSecrets {
  const ended = new AbortController();
  let pending: NodeJS.Timeout | undefined;
  const watch = watchSecretFiles({
    files: config.watchedFiles,
    known,
    readFile: (path) => readFile(path, 'utf8'),
    onChange: async (path, content) => {
      try {
        const next = await rebuild(path, content);
        clearTimeout(pending);
        pending = setTimeout(() => apply(next, path), GATHER_MS);
        return true;
      } catch (error) {
        const reason = error instanceof ConfigError ? error.message : "it can't be used";
        observe({ type: 'reload-refused', by: path, reason });
        return false;
      }
    },
    onTrouble: (path, reason) => observe({ type: 'secret-trouble', path, reason }),
    signal: ended.signal,
  });
  return {
    update(next, contents) {
      clearTimeout(pending); // What it would apply is older than what has just been read.
      watch.update(next.watchedFiles, contents);
    },
    stop() {
      clearTimeout(pending);
      ended.abort();
    },
  };
}
