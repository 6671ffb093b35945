import { pino } from 'pino';

/**
 * Lines of so short a time are written together. A write is a system call, done by another thread: one for each line
 * costs more than half as much as forwarding the request of that line.
 */
const GATHER_MS = 20;
const GATHER_CHARACTERS = 32 * 1024;
/** Lines are held in memory up to this size while the file can't take them; then they are dropped and counted. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
/** A full disk, or a pipe without a reader, must not hold up the end. */
const CLOSE_LIMIT_MS = 300;

/** Lines of the log that could not be written. */
export interface LogLoss {
  readonly lines: number;
  /** The system's code of the last failure; `full` where lines were held until there was no more room. */
  readonly code: string;
  /** When the last were lost, on the wall clock. */
  readonly lastMs: number;
  /** None is written any more. */
  readonly forGood: boolean;
}

/** Writes lines to stdout or stderr, and counts those that can't be written: a full disk, a closed pipe. */
export class LogOutput {
  readonly #destination;
  readonly #render: (lines: string) => string;
  #held = '';
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;
  #lastMs = 0;
  #code = '';
  #readerGone = false;

  /** @param render what is written for some lines of JSON */
  constructor(fd: 1 | 2, render: (lines: string) => string) {
    this.#render = render;
    this.#destination = pino.destination({ dest: fd, sync: false, maxLength: MAX_HELD_BYTES });
    // The proxy goes on where the log's reader is gone, or the disk is full.
    this.#destination.on('error', ({ code }: NodeJS.ErrnoException) => {
      this.#lose(1, code ?? 'unknown');
      if (code === 'EPIPE') this.#readerGone = true;
    });
    this.#destination.on('drop', (text: string) => this.#drop(text, 'full'));
  }

  /** Holds a line, with its end, for a moment. */
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

  /** Writes what is still held; gives up where that takes too long. */
  close(): Promise<void> {
    // Not `flushSync`, which tries again for ever; and destroyed, since pino itself flushes so at the exit.
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

  /** Drops what is held: the process ends now. */
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
