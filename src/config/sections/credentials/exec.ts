import { resolve } from 'node:path';
import type { ExecCredentialConfig } from '../../config.ts';
import { LONGEST_TIMER } from '../../declaration/settings.ts';
import { folderOf } from '../../reading/reading.ts';
import type { At } from '../../shapes/at.ts';
import type { Declared } from '../../shapes/object.ts';
import * as kinds from '../../values/vocabulary.ts';
import { credential, type Unplaced } from './placement.ts';

/** A program that prints a token. */
export const EXEC = credential({
  command: {
    kind: kinds.command,
    required: true,
    description:
      'a program and its arguments, run without a shell; it prints the token, or JSON with token and expiresAt',
  },
  timeout: {
    kind: kinds.duration({ min: 1, ...LONGEST_TIMER }),
    default: '10s',
    description: 'longest time that it may take; then it is killed',
  },
});

export function execInForce(
  { command, timeout: timeoutMs }: Declared<typeof EXEC.fields>,
  { reading }: At,
): Unplaced<ExecCredentialConfig> | undefined {
  const [program, ...args] = command ?? [];
  if (program === undefined) return undefined;
  // A name alone is looked for in PATH; a path begins where all paths of the file begin.
  const found = program.includes('/') ? resolve(folderOf(reading), program) : program;
  return { kind: 'exec', command: [found, ...args], timeoutMs };
}
