import { readFileSync } from 'node:fs';

/** The time that processes have waited for a processor since the last call: the longest of them. */
export class HeldUp {
  readonly #waitedMs: Map<number, number>;

  constructor(pids: readonly number[]) {
    this.#waitedMs = new Map(pids.map((pid) => [pid, waitedMs(pid)]));
  }

  take(): number {
    let longestMs = 0;
    for (const [pid, before] of this.#waitedMs) {
      const now = waitedMs(pid);
      longestMs = Math.max(longestMs, now - before);
      this.#waitedMs.set(pid, now);
    }
    return longestMs;
  }
}

/** The second number of the main thread's schedstat: nanoseconds on a run queue. */
function waitedMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}
