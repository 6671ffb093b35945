import type { Config } from '../config/config.ts';
import { becomeShell } from '../node/shell.ts';

/**
 * Process 1 must also reap each process that has lost its parent. A shell does that while it waits.
 * It passes signals on; a signal ends a `wait` early, with a status that is not the child's. The child keeps our
 * standard input, which a shell takes from a background process.
 */
const SCRIPT = `exec 3<&0
"$@" <&3 3<&- &
child=$!
for signal in TERM INT HUP QUIT USR1 USR2; do trap "kill -$signal $child" $signal; done
exec 3<&-
while :; do
  wait $child; code=$?
  [ $code -gt 128 ] && kill -0 $child 2>/dev/null && continue
  wait $child 2>/dev/null; again=$?
  [ $again = 127 ] || code=$again
  exit $code
done`;

/** As it was at the start: variables are removed from it later. */
const ENVIRONMENT = { ...process.env };

/**
 * As process 1 of a container, bearerd becomes the parent of the processes that a helper leaves behind. Node reaps its own
 * children only, so those become zombies. Here a shell replaces this process, and runs bearerd as its child. Returns
 * if this is not process 1, or if there is no shell.
 */
export function leaveReapingToShell(): void {
  if (process.pid !== 1) return;
  const [, main = '', ...args] = process.argv;
  becomeShell(SCRIPT, ['bearerd', process.execPath, ...process.execArgv, main, ...args], ENVIRONMENT);
}

/** Whether programs of others run beside the proxy. */
export function runsHelpers({ credentials }: Pick<Config, 'credentials'>): boolean {
  return [...credentials.values()].some(({ kind }) => kind === 'exec');
}
