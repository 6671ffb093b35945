import { existsSync, readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended, and that nobody has asked after, is a zombie and runs no more. */
export function isRunning(pid: number): boolean {
  if (process.platform === 'linux') {
    const stat = `/proc/${pid}/stat`;
    return existsSync(stat) && !/\) [ZX]/.test(readFileSync(stat, 'utf8'));
  }
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
