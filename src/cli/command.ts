import type { ParseArgsConfig } from 'node:util';
import { visible } from '../observe/visible.ts';

export type OptionValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** One subcommand. Its module is loaded when it is called: no command pays for another. */
export interface Command {
  /** What stands after `bearerd NAME` in its usage line. */
  readonly synopsis: string;
  readonly summary: string;
  /** More for `--help`, already broken into lines; may be empty. */
  readonly help: string;
  /** Whole command lines. */
  readonly examples: readonly string[];
  /** The variables that matter to it most; their words come from the settings. */
  readonly variables: readonly string[];
  readonly options: NonNullable<ParseArgsConfig['options']>;
  /** It takes a flag for each setting, too, or for those that are named. */
  readonly settings?: true | readonly string[];
  /** How many arguments it takes besides options: the fewest and the most. */
  readonly positionals: readonly [number, number];
  /** What to do instead, if arguments that can't be read show a likely slip. */
  readonly slip?: (args: readonly string[]) => string | undefined;
  /** Resolves with the exit code. */
  readonly run: (values: OptionValues, positionals: readonly string[]) => Promise<number>;
}

/** The whole line behind `usage:`. */
export function usageOf(name: string, { synopsis }: Command): string {
  return `bearerd ${name} ${synopsis}`.trimEnd();
}

export function textOption(values: OptionValues, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

/** All values of an option that may be given again and again. */
export function textOptions(values: OptionValues, name: string): readonly string[] {
  const value = values[name];
  return Array.isArray(value) ? value : [];
}

/** Tells a person on stderr. What it quotes of a file or an argument can't act on the terminal. */
export function complain(message: string): void {
  printToStderr(`bearerd: ${message.split('\n').map(visible).join('\n')}\n`);
}

/**
 * Writes to stderr as it is. A reader that has gone (`2> >(true)`) is no fault of ours. The listener is added here and not
 * at the start, because opening `process.stderr` makes a pipe non-blocking for all programs that share it.
 */
export function printToStderr(text: string): void {
  const { stderr } = process;
  if (stderr.listenerCount('error') === 0) stderr.on('error', () => {});
  stderr.write(text);
}

/**
 * Writes to stdout and waits until it is out, so that an exit cuts nothing off. Rejects when it can't be written;
 * a reader that has gone (`bearerd schema | head -1`) has read what it wanted.
 */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error == null || (error as NodeJS.ErrnoException).code === 'EPIPE') resolve();
      else reject(new Error(`stdout can't be written: ${(error as NodeJS.ErrnoException).code}`));
    });
  });
}
