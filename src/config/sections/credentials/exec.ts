import { LONGEST_TIMER } from '../../declaration/setting.ts';
import { folderOf } from '../../reading/reading.ts';
import type { Declared } from '../../shapes/object.ts';
import type { At } from '../../shapes/shape.ts';
import { placed } from '../../values/commands.ts';
import * as kinds from '../../values/vocabulary.ts';
import { credential, type InForce } from './placement.ts';

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

export function execInForce({ command, timeout }: Declared<typeof EXEC.fields>, { reading }: At) {
  const run = command && placed(command, folderOf(reading));
  return run && { kind: 'exec' as const, command: run, timeoutMs: timeout };
}

export type ExecCredentialConfig = InForce<typeof execInForce>;
