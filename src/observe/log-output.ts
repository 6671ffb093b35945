import { pino } from 'pino';

/**
 * Lines within this time are written together. A write is a system call on another thread; one for each line would cost
 * more than half as much as forwarding the request.
 */
const GATHER_MS = 20;
const GATHER_CHARACTERS = 32 * 1024;
/** While the output is blocked, lines are held up to this size; further ones are dropped and counted. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
/** A full disk, or a pipe without a reader, must not delay the end of the process. */
const CLOSE_LIMIT_MS = 300;

/** Lines of the log that could not be written. */
export interface LogLoss {
  readonly lines: number;
  /** The system's code of the last failure; `full` if lines were held until there was no more room. */
  readonly code: string;
  /** When the last were lost, on the wall clock. */
  readonly lastMs: number;
  /** None is written any more. */
  readonly forGood: boolean;
}

/** Writes lines to stdout or stderr, and counts those that can't be written (full disk, closed pipe). */
export class LogOutput {
  readonly #destination;
  readonly #render: (lines: string) => string;
  #held = '';
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;
  #lastMs = 0;
  #code = '';
  #readerGone = false;

  /** @param render gives the text to write for lines of JSON */
  constructor(fd: 1 | 2, render: (lines: string) => string) {
    this.#render = render;
    this.#destination = pino.destination({ dest: fd, sync: false, maxLength: MAX_HELD_BYTES });
    // The proxy must survive a closed pipe and a full disk.
    this.#destination.on('error', ({ code }: NodeJS.ErrnoException) => {
      this.#lose(1, code ?? 'unknown');
      if (code === 'EPIPE') this.#readerGone = true;
    });
    this.#destination.on('drop', (text: string) => this.#drop(text, 'full'));
  }

  /** Adds a line, which ends with a line feed, to the next write. */
  write(line: string): void {
    this.#held += line;
    if (this.#held.length > GATHER_CHARACTERS) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS).unref();
  }

  readonly dropped = (): number => this.#dropped;

  /** Undefined while none is lost. */
  readonly loss = (): LogLoss | undefined =>
    this.#dropped === 0
      ? undefined
      : { lines: this.#dropped, code: this.#code, lastMs: this.#lastMs, forGood: this.#readerGone };

  /** Writes the lines still held; gives up after a time limit. */
  close(): Promise<void> {
    // Not by `flushSync`, which retries endlessly. Destroyed, since pino would call `flushSync` at the exit.
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#destination.destroy();
        resolve();
      };
      const timer = setTimeout(done, CLOSE_LIMIT_MS);
      this.#destination.once('close', done);
      this.#flush();
      this.#destination.end();
    });
  }

  /** Drops the lines still held: the process ends now. */
  abandon(): void {
    this.#destination.destroy();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#held;
    this.#held = '';
    if (text === '') return;
    try {
      if (this.#readerGone) this.#drop(text, 'EPIPE');
      else this.#destination.write(this.#render(text));
    } catch {
      this.#drop(text, 'closed'); // The destination is.
    }
  }

  #drop(text: string, code: string): void {
    this.#lose(text.split('\n').length - 1, code);
  }

  #lose(lines: number, code: string): void {
    this.#dropped += lines;
    this.#code = code;
    this.#lastMs = Date.now();
  }
}
