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

/** The same by the scheduler's own count, which is in nanoseconds; threads that have ended are left out. */
export function exactCpuMs(pid: number): number {
  const ofTask = (task: string) => Number(readFileSync(`${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  return sum(tree(pid), (each) =>
    tasks(each)
      .map(ofTask)
      .reduce((a, b) => a + b, 0),
  );
}

/** Of all children of ours that have ended. */
export function childrenCpuMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return ((Number(fields[13]) + Number(fields[14])) * TICK_US) / 1_000;
}

/** How often any thread has gone to sleep so far: it was awake before. A busy machine adds none of these. */
export function wakeUps(pid: number): number {
  const ofTask = (task: string) =>
    Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`${task}/status`, 'utf8'))![1]);
  return sum(tree(pid), (each) =>
    tasks(each)
      .map(ofTask)
      .reduce((a, b) => a + b, 0),
  );
}

function tasks(pid: number): string[] {
  return readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);
}

/** Memory in which a page that several processes share is divided among them. */
export function proportionalMegabytes(pid: number): number {
  return sum(tree(pid), (each) => {
    const rollup = readFileSync(`/proc/${each}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)![1]) / 1024;
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
