import { stat } from 'node:fs/promises';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

/** The longest wait of a scrape for a file system. */
const LIMIT_MS = 1_000;

/**
 * When files were last changed. A file system that hangs holds a thread of Node's pool for each question, and four would stop
 * all work with files and names of hosts. So a file is asked for once at a time.
 */
export class FileTimes {
  readonly #asked = new Map<string, Promise<number | undefined>>();
  readonly #timeOf: (path: string) => Promise<number>;
  readonly #limitMs: number;

  /** @param timeOf gives epoch milliseconds, or rejects; it and the limit are the usual ones unless a test sets others */
  constructor(timeOf = async (path: string) => (await stat(path)).mtimeMs, limitMs = LIMIT_MS) {
    this.#timeOf = timeOf;
    this.#limitMs = limitMs;
  }

  /** Epoch milliseconds; undefined if there is no file, or if its file system does not answer in time. */
  of(path: string): Promise<number | undefined> {
    const asked = this.#asked.get(path) ?? this.#ask(path);
    return Promise.race([asked, this.#late()]);
  }

  async #late(): Promise<undefined> {
    await sleep(this.#limitMs, undefined, { ref: false });
    await turn(); // An answer that came while the event loop stood still counts first.
    return undefined;
  }

  #ask(path: string): Promise<number | undefined> {
    const asked = this.#timeOf(path)
      .catch(() => undefined)
      .finally(() => this.#asked.delete(path));
    this.#asked.set(path, asked);
    return asked;
  }
}
