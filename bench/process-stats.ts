import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second here, whatever the kernel's own clock is. */
const TICK_US = 10_000;

/** A process and everything that it has started, as with nginx's workers. */
function tree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(tree)];
}

/** User and system time so far, of all threads of all its processes. */
export function cpuMicroseconds(pid: number): number {
  return sum(tree(pid), (each) => {
    const stat = readFileSync(`/proc/${each}/stat`, 'utf8');
    // The name before it may hold anything, spaces too.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  });
}

/** Resident memory of all its processes; pages that two of them share count twice. */
export function residentMegabytes(pid: number): number {
  return sum(tree(pid), (each) => {
    const status = readFileSync(`/proc/${each}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
  });
}

function sum(pids: readonly number[], figure: (pid: number) => number): number {
  return pids.map(figure).reduce((a, b) => a + b, 0);
}
