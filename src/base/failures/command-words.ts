/** Why a program can't be started, by the system's code. */
export function startFailure(code: string): string {
  return { ENOENT: "can't be found", EACCES: 'may not be run' }[code] ?? `can't be started (${code})`;
}

/** What became of a program that took longer than it may. */
export function stillRunning(timeoutMs: number): string {
  return `was killed: it was still running after ${timeoutMs / 1000} s`;
}
