import { startFailure, stillRunning } from '../../base/failures/command-words.ts';
import type { CommandEnd } from '../../base/run-command.ts';
import { Secret } from '../../base/secret.ts';
import { isOtherEncoding, withoutLineEnd } from '../values/encoding.ts';
import { LastLine } from './last-line.ts';

const MOST_BYTES = 64 * 1024;
const LINE_END = 2;

/** A command that prints a secret. */
export interface SecretCommand {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** The program as a message may show it. */
  readonly shown: string;
  /** May show that it is the program's name after all: it has run. */
  readonly shownOnceRun?: string;
}

/** What a command has given, as it was then. */
export interface Given {
  readonly asked: SecretCommand;
  readonly secret: Secret;
}

/** `problem`: why there is no value, or only that of before. It holds nothing of the output. */
interface Outcome {
  readonly text?: string | undefined;
  readonly problem?: string;
}

/** Does something while commands run that leaves none of them behind. */
export type Around = <T>(work: () => Promise<T>) => Promise<T>;

export interface SecretCommandsOptions {
  /** By key, what the commands of the configuration in use have given. */
  readonly given?: ReadonlyMap<string, Given>;
  /** Whether a command that has given something is to run again. */
  readonly isDue?: (key: string) => boolean;
  /** Ends them. */
  readonly signal?: AbortSignal;
  readonly around?: Around;
  /** Learns of each command that has run, and whether it gave a value. */
  readonly onRun?: (key: string, result: 'ok' | 'failed') => void;
  /** No command runs: each value is another one that stands in, for those who need to know only that there is one. */
  readonly standIns?: boolean;
}

interface Ran {
  readonly asked: SecretCommand;
  readonly end: CommandEnd;
  readonly stderr: LastLine;
}

/**
 * The commands that a configuration takes secrets from. Reading asks for each by its key, and finds none; then all that
 * were asked for run at once, and it is read once more.
 */
export class SecretCommands {
  readonly #options: SecretCommandsOptions;
  readonly #asked = new Map<string, SecretCommand>();
  readonly #outcomes = new Map<string, Outcome>();
  /** Texts of secrets, whatever they come from. */
  readonly #known = new Set<string>();

  constructor(options: SecretCommandsOptions = {}) {
    this.#options = options;
  }

  get standIns(): boolean {
    return this.#options.standIns === true;
  }

  /** The key of each secret that comes from a command. */
  get keys(): readonly string[] {
    return [...this.#asked.keys()];
  }

  /** What is there to be remembered for the next reading. */
  get given(): ReadonlyMap<string, Given> {
    return new Map(
      [...this.#asked].flatMap(([key, asked]) => {
        const { text } = this.#outcomes.get(key) ?? {};
        return text === undefined ? [] : [[key, { asked, secret: new Secret(text) }] as const];
      }),
    );
  }

  /** Notes what no fault may show. */
  knows(text: string): void {
    this.#known.add(text);
  }

  /** The value at a key, or why there is none; undefined until it has run. */
  outcomeOf(key: string, asked: SecretCommand): Outcome | undefined {
    this.#asked.set(key, asked);
    const { isDue = () => true } = this.#options;
    const text = this.standIns ? standIn(key) : isDue(key) ? undefined : this.#before(key);
    if (text !== undefined) this.#outcomes.set(key, { text });
    return this.#outcomes.get(key);
  }

  /** What stands at a key for its value, to be shown; empty where no command does. */
  words(key: string): string {
    const asked = this.#asked.get(key);
    return asked === undefined ? '' : ` { command: ${asked.shownOnceRun ?? asked.shown} … }`;
  }

  /**
   * Runs all that were asked for and have no outcome.
   *
   * @param secretVariables what their environment lacks
   * @returns whether there were any
   */
  async run(secretVariables: readonly string[]): Promise<boolean> {
    const due = [...this.#asked].filter(([key]) => !this.#outcomes.has(key));
    if (due.length === 0) return false;
    const { environmentWithout, runCommand } = await import('../../base/run-command.ts');
    const { signal = new AbortController().signal, around = (work) => work() } = this.#options;
    const env = environmentWithout(secretVariables);
    const inheritStderr = process.stderr.isTTY === true;
    for (const name of secretVariables) this.knows(process.env[name] ?? '');
    const runOne = async ([key, asked]: (typeof due)[number]): Promise<[string, Ran]> => {
      const stderr = new LastLine();
      const options = { env, timeoutMs: asked.timeoutMs, maxOutputBytes: MOST_BYTES + LINE_END, signal };
      const onStderr = (chunk: Uint8Array) => stderr.add(chunk);
      return [
        key,
        { asked, end: await runCommand(asked.command, { ...options, inheritStderr, onStderr }), stderr },
      ];
    };
    const ran = await around(() => Promise.all(due.map(runOne)));
    // One may have written what another has printed.
    for (const [, { end }] of ran) if (end.kind === 'ended') this.knows(textOf(end.stdout));
    for (const { secret } of this.#options.given?.values() ?? []) this.knows(secret.expose());
    for (const [key, each] of ran) {
      const outcome = this.#outcome(key, each);
      this.#outcomes.set(key, outcome);
      if (each.end.kind !== 'aborted')
        this.#options.onRun?.(key, outcome.problem === undefined ? 'ok' : 'failed');
    }
    return true;
  }

  #outcome(key: string, { asked, end, stderr }: Ran): Outcome {
    const problem = problemOf(end, asked);
    if (problem === undefined && end.kind === 'ended') return { text: textOf(end.stdout) };
    const said = stderr.shown([...this.#known, ...secretWords(asked, end)]);
    return {
      problem: `names a command (${nameOf(asked, end)}) that ${problem}${said === '' ? '' : `: ${said}`}`,
      text: this.#before(key),
    };
  }

  /** What the same command gave before. */
  #before(key: string): string | undefined {
    const before = this.#options.given?.get(key);
    const isSame = JSON.stringify(before?.asked.command) === JSON.stringify(this.#asked.get(key)?.command);
    return isSame ? before?.secret.expose() : undefined;
  }
}

/** As long as a good one, different for each key, and a URL of a Redis where one is asked for. */
function standIn(key: string): string {
  return `redis://${new Secret(key).fingerprint()}.not-run.invalid`;
}

/** The final line end that programs print is no part of a secret, as that of a secret's file isn't. */
function textOf(stdout: Uint8Array): string {
  return withoutLineEnd(Buffer.from(stdout).toString('utf8'));
}

function problemOf(end: CommandEnd, { timeoutMs }: SecretCommand): string | undefined {
  switch (end.kind) {
    case 'not-started':
      return startFailure(end.code);
    case 'timeout':
      return stillRunning(timeoutMs);
    case 'too-much-output':
      return 'printed more than 64 KiB';
    case 'aborted':
      return 'was killed, since its secret is no longer wanted';
    case 'ended':
      if (end.signal !== null) return `was ended by ${end.signal}`;
      return end.exitCode === 0 ? problemIn(textOf(end.stdout)) : `ended with status ${end.exitCode}`;
  }
}

function problemIn(text: string): string | undefined {
  if (text === '') return 'printed nothing';
  if (Buffer.byteLength(text) > MOST_BYTES) return 'printed more than 64 KiB';
  return isOtherEncoding(text) ? 'printed what is not UTF-8 text' : undefined;
}

/** What a shell answers where it finds no such program, or may not run it. */
const NOT_RUN: readonly (number | null)[] = [126, 127];

function isNotRun(end: CommandEnd): boolean {
  return end.kind === 'ended' && NOT_RUN.includes(end.exitCode);
}

/** A secret may stand where its command belongs; a shell that can't run it writes it to stderr. */
function secretWords({ command, shownOnceRun }: SecretCommand, end: CommandEnd): readonly string[] {
  return shownOnceRun !== undefined && isNotRun(end) ? [command.at(-1)?.trim() ?? ''] : [];
}

function nameOf({ shown, shownOnceRun }: SecretCommand, end: CommandEnd): string {
  return shownOnceRun === undefined || isNotRun(end) ? shown : shownOnceRun;
}
