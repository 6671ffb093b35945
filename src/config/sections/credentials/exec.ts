import type { ExecCredentialConfig } from '../../credential-config.ts';
import { LONGEST_TIMER } from '../../declaration/setting.ts';
import { folderOf } from '../../reading/reading.ts';
import type { At } from '../../shapes/at.ts';
import type { Declared } from '../../shapes/object.ts';
import { placed } from '../../values/commands.ts';
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
  return command && { kind: 'exec', command: placed(command, folderOf(reading)), timeoutMs };
}
