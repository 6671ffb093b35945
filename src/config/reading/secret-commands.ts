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
  /** The program once it has run: only then is it known that the word is no secret. */
  readonly shownOnceRun?: string;
}

/** What a command printed, and the command as it was then. */
export interface Given {
  readonly asked: SecretCommand;
  readonly secret: Secret;
}

/** `problem` says why there is no value, or only the one of before; it holds nothing of the output. */
interface Outcome {
  readonly text?: string | undefined;
  readonly problem?: string;
}

/** Runs the commands so that none of them outlives the process. */
export type Around = <T>(work: () => Promise<T>) => Promise<T>;

export interface SecretCommandsOptions {
  /** By key, what the commands of the configuration in use printed. */
  readonly given?: ReadonlyMap<string, Given>;
  /** Whether to run a command again that printed something before. */
  readonly isDue?: (key: string) => boolean;
  /** Commands that have run for this reading before: they don't run again, unless they were others. */
  readonly ran?: SecretCommands | undefined;
  /** Kills the commands. */
  readonly signal?: AbortSignal;
  readonly around?: Around;
  /** Called for each command that has run. */
  readonly onRun?: (key: string, result: 'ok' | 'failed') => void;
  /** Run no command: a different made-up value stands for each secret, for callers that only check the rest. */
  readonly standIns?: boolean;
}

interface Ran {
  readonly asked: SecretCommand;
  readonly end: CommandEnd;
  readonly stderr: LastLine;
}

/**
 * The commands that a configuration takes secrets from. The first reading asks for each by its key and finds no value;
 * then all of them run at once, and the configuration is read again.
 */
export class SecretCommands {
  readonly #options: SecretCommandsOptions;
  readonly #asked = new Map<string, SecretCommand>();
  readonly #outcomes = new Map<string, Outcome>();
  /** The outcomes of those that have run. */
  readonly #ran = new Map<string, Outcome>();
  /** Texts of secrets from every source, which no fault may show. */
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

  /** For the next reading. */
  get given(): ReadonlyMap<string, Given> {
    return new Map(
      [...this.#asked].flatMap(([key, asked]) => {
        const { text } = this.#outcomes.get(key) ?? {};
        return text === undefined ? [] : [[key, { asked, secret: new Secret(text) }] as const];
      }),
    );
  }

  knows(text: string): void {
    this.#known.add(text);
  }

  /** The value at a key, or why there is none; undefined until it has run. */
  outcomeOf(key: string, asked: SecretCommand): Outcome | undefined {
    this.#asked.set(key, asked);
    const outcome = this.#withoutRun(key, asked);
    if (outcome !== undefined) this.#outcomes.set(key, outcome);
    return this.#outcomes.get(key);
  }

  /** What this very command gave when it ran here; undefined if it did not. */
  outcomeOfRun(key: string, asked: SecretCommand): Outcome | undefined {
    return isSame(this.#asked.get(key), asked) ? this.#ran.get(key) : undefined;
  }

  #withoutRun(key: string, asked: SecretCommand): Outcome | undefined {
    if (this.standIns) return { text: standIn(key) };
    const { isDue = () => true, ran } = this.#options;
    const outcome = ran?.outcomeOfRun(key, asked);
    // What was in use when it failed may have been replaced since.
    if (outcome?.problem !== undefined) return { ...outcome, text: this.#before(key) };
    if (outcome !== undefined) return outcome;
    const text = isDue(key) ? undefined : this.#before(key);
    return text === undefined ? undefined : { text };
  }

  /** Shows a key's command; empty if it has none. */
  words(key: string): string {
    const asked = this.#asked.get(key);
    return asked === undefined ? '' : ` { command: ${asked.shownOnceRun ?? asked.shown} … }`;
  }

  /**
   * Runs all commands that were asked for and have no outcome.
   *
   * @param secretVariables are removed from their environment
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
    // One command may have written to stderr what another has printed.
    for (const [, { end }] of ran) if (end.kind === 'ended') this.knows(textOf(end.stdout));
    for (const { secret } of this.#options.given?.values() ?? []) this.knows(secret.expose());
    for (const [key, each] of ran) {
      const outcome = this.#outcome(key, each);
      this.#outcomes.set(key, outcome);
      this.#ran.set(key, outcome);
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
    return isSame(before?.asked, this.#asked.get(key)) ? before?.secret.expose() : undefined;
  }
}

function isSame(one: SecretCommand | undefined, other: SecretCommand | undefined): boolean {
  return JSON.stringify(one?.command) === JSON.stringify(other?.command);
}

/** Different for each key, as long as a good secret, and valid as the URL of a Redis. */
function standIn(key: string): string {
  return `redis://${new Secret(key).fingerprint()}.not-run.invalid`;
}

/** As in a secret's file, the final line end is no part of the secret. */
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

/** Exit codes of a shell that can't find the program, or may not run it. */
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
