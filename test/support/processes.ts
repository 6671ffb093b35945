import { readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended, and that its parent hasn't waited for, is a zombie and runs no more. */
export function isRunning(pid: number): boolean {
  try {
    if (process.platform !== 'linux') return process.kill(pid, 0);
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false; // It may end between the opening of its file and the reading.
  }
}

/** @param figure what it takes now (`VmRSS`), of that what no file backs (`RssAnon`), or the most that it has taken (`VmHWM`) */
export function residentMib(pid: number, figure: 'VmRSS' | 'RssAnon' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${figure}:\\s+(\\d+)`).exec(status)![1]) / 1024;
}
