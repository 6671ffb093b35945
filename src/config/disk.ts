import { readFileSync, statSync } from 'node:fs';
import { plainFileSync } from './reading/plain-file.ts';

/** Files of this process, which may be read to the end: `<(…)`, standard input. */
const OF_PROCESS = /^\/(?:dev|proc)\//;

/**
 * Reads text files, and keeps what can be read only once: a pipe (`--config <(…)`, standard input) is empty the second
 * time, and reading a named pipe waits for a writer that may never come. What was a pipe at the start stays as it was
 * read; what becomes one later is refused.
 */
export class Disk {
  readonly #kept = new Map<string, string>();

  /**
   * At the start: waits for the writer of a pipe.
   *
   * @throws what `fs.readFileSync` throws
   */
  readonly read = (path: string): string => {
    const kept = this.#keptOf(path);
    if (kept !== undefined) return kept;
    const text = textOf(path);
    if (!isReadAgain(path)) this.#kept.set(path, text);
    return text;
  };

  /**
   * After the start: waits for nobody, since requests would wait, too.
   *
   * @throws what `plainFileSync` throws
   */
  readonly readAgain = (path: string): string => {
    const kept = this.#keptOf(path);
    if (kept !== undefined) return kept;
    const text = plainFileSync(path);
    if (OF_PROCESS.test(path)) this.#kept.set(path, text);
    else this.#kept.delete(path); // A file in place of the pipe counts from now on.
    return text;
  };

  #keptOf(path: string): string | undefined {
    const kept = this.#kept.get(path);
    return kept === undefined || isReadAgain(path) ? undefined : kept;
  }

  get keepsAny(): boolean {
    return this.#kept.size > 0;
  }

  /** Whether the file can be read only once. */
  keeps(path: string): boolean {
    return this.#kept.has(path);
  }
}

/** Node gives a child a socket as standard input, which can't be opened by its name. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const named = /^\/dev\/(?:fd\/(\d+)|stdin)$/.exec(path);
    if (named === null || (error as NodeJS.ErrnoException).code !== 'ENXIO') throw error;
    return readFileSync(Number(named[1] ?? 0), 'utf8');
  }
}

function isReadAgain(path: string): boolean {
  try {
    return !OF_PROCESS.test(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}
