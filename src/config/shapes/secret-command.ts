import { LONGEST_TIMER } from '../declaration/setting.ts';
import { folderOf } from '../reading/reading.ts';
import type { SecretCommand } from '../reading/secret-commands.ts';
import { isProgramName, placed, shownProgram } from '../values/commands.ts';
import { formatDuration } from '../values/measures.ts';
import * as kinds from '../values/vocabulary.ts';
import { object } from './object.ts';
import type { At } from './shape.ts';

const SHELL = '/bin/sh';
const TIMEOUT_MS = 30_000;

/** `{command: [PROGRAM, ARG…], timeout: 30s}` in the place of a secret. */
export const COMMAND = object(
  {
    command: {
      kind: kinds.command,
      required: true,
      description: 'a program and its arguments, run without a shell; it prints the secret and nothing else',
    },
    timeout: {
      kind: kinds.duration({ min: 1, ...LONGEST_TIMER }),
      default: formatDuration(TIMEOUT_MS),
      description: 'longest time that it may take; then it is killed',
    },
  },
  // `{ command: [pass], hunter2 }` has a key `hunter2`.
  { holdsSecrets: true },
);

/** The command at a key of the file; undefined if a fault was reported. */
export function commandAt(raw: unknown, at: At): SecretCommand | undefined {
  const run = COMMAND.read(raw, at, {});
  if (run?.command === undefined) return undefined;
  const command = placed(run.command, folderOf(at.reading));
  return { command, timeoutMs: run.timeout, shown: shownProgram(run.command[0] ?? '') };
}

/** The command in a variable's text, which a shell runs. */
export function shellCommand(text: string): SecretCommand {
  const [program = '', ...others] = text.trim().split(/\s+/);
  const isName = isProgramName(program);
  const run = { command: [SHELL, '-c', text], timeoutMs: TIMEOUT_MS };
  // One word may be the secret itself.
  if (isName && others.length === 0) return { ...run, shown: SHELL, shownOnceRun: program };
  return { ...run, shown: isName ? program : SHELL };
}

/** What a command has printed; undefined until it has run, or if its failure was reported. */
export function printedBy(asked: SecretCommand, at: At): string | undefined {
  const { text, problem } = at.reading.commands.outcomeOf(at.key, asked) ?? {};
  if (problem !== undefined && text === undefined) return at.report(problem);
  if (problem !== undefined) at.reading.warn(at.key, `${problem}; the last value goes on`);
  return text;
}
