import { exists } from '../base/exists.ts';

const SHELL = '/bin/sh';

/** Puts a shell in the place of this process, which keeps its number. Returns if there is no shell, and on Windows. */
export function becomeShell(script: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  // Where the file is missing, `execve` would abort, and write a core dump.
  if (process.execve === undefined || !exists(SHELL)) return;
  process.removeAllListeners('warning'); // Node's warning that `execve` is experimental.
  try {
    process.execve(SHELL, ['sh', '-c', script, ...args], env);
  } catch {
    // It is as if there were none.
  }
}
