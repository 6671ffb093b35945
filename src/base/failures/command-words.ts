/** Why a program can't be started. @param code the system's */
export function startFailure(code: string): string {
  return { ENOENT: "can't be found", EACCES: 'may not be run' }[code] ?? `can't be started (${code})`;
}

/** How a program ended that exceeded its time limit. */
export function stillRunning(timeoutMs: number): string {
  return `was killed: it was still running after ${timeoutMs / 1000} s`;
}
