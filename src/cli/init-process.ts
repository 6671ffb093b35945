import { existsSync } from 'node:fs';
import type { Config } from '../config/config.ts';

const SHELL = '/bin/sh';

/**
 * What a process 1 has to do besides: take leave of each process that has lost its parent. A shell does while it waits.
 * It passes signals on; a signal ends a `wait` early, with a status that is not the child's. The child keeps our input,
 * which a shell takes from what it runs in the background.
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

/** Before anything was taken out of it. */
const ENVIRONMENT = { ...process.env };

/**
 * As process 1 of a container, what a helper leaves behind becomes ours when the helper ends, and a zombie when it ends
 * itself: Node waits for its own children only. Then a shell takes our place, and runs us as its child. Returns where
 * we are another process, and where there is no shell.
 */
export function leaveReapingToShell(): void {
  if (process.pid !== 1 || process.execve === undefined || !existsSync(SHELL)) return;
  process.removeAllListeners('warning'); // That `execve` is new to Node is nothing to tell of.
  const [, main = '', ...args] = process.argv;
  const again = [process.execPath, ...process.execArgv, main, ...args];
  try {
    process.execve(SHELL, ['sh', '-c', SCRIPT, 'bearerd', ...again], ENVIRONMENT);
  } catch {
    // Zombies are better than no proxy.
  }
}

/** Whether programs of others run beside the proxy. */
export function runsHelpers({ credentials }: Pick<Config, 'credentials'>): boolean {
  return [...credentials.values()].some(({ kind }) => kind === 'exec');
}
