/**
 * Lines of so short a time are written together. A write is a system call, done by another thread: one for each line
 * costs more than half as much as forwarding the request that the line tells of.
 */
const GATHER_MS = 20;
const GATHER_CHARACTERS = 32 * 1024;

/** Holds lines for a moment, to write them in one piece. */
export class Gatherer {
  readonly #out: (text: string) => void;
  #held = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(out: (text: string) => void) {
    this.#out = out;
  }

  write(line: string): void {
    this.#held += line;
    if (this.#held.length > GATHER_CHARACTERS) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), GATHER_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#held;
    this.#held = '';
    if (text !== '') this.#out(text);
  }
}
