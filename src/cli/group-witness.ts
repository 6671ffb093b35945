import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { ONE_EVENT_MS } from './signals.ts';

/** A process that got a signal ends within this time; under load the kernel shows which signals are pending. */
const MOMENT_MS = 30;

/** Leaves no core file at SIGQUIT, and ends with bearerd, since its input then ends. */
const SCRIPT = 'ulimit -c 0; exec cat';

/**
 * Tells a signal to our whole process group (by a terminal, `timeout`, job control) from one to this process alone. The
 * system doesn't say which it was; so another process is put into the group, and ends by a signal of the first kind.
 */
export class GroupWitness {
  #witness = standIn();
  /** When the group last got each signal. */
  readonly #seenMs = new Map<NodeJS.Signals, number>();

  /** Whether the others in the group have got this signal, too; asked right after we got it. */
  async saw(signal: NodeJS.Signals): Promise<boolean> {
    if (signal === 'SIGWINCH') return isForeground(); // By default this one ends no process, and no witness.
    const witness = this.#witness;
    if (witness.signalCode === null) await Promise.race([ended(witness), sleep(MOMENT_MS)]);
    if (witness.signalCode !== null || hasGot(witness.pid, signal)) {
      this.#seenMs.set(signal, performance.now());
      if (this.#witness === witness) this.#witness = standIn();
    }
    // The same signal a moment later belongs to the same event, though the new witness has not got it.
    return performance.now() - (this.#seenMs.get(signal) ?? Number.NEGATIVE_INFINITY) < ONE_EVENT_MS;
  }

  end(): void {
    this.#witness.stdin?.end();
  }
}

function standIn(): ChildProcess {
  const { PATH } = process.env;
  const child = spawn('sh', ['-c', SCRIPT], { env: { PATH }, stdio: ['pipe', 'ignore', 'ignore'] });
  // Where there is no shell, a signal is taken for one to us alone.
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  return child;
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

/** Whether a process has got a signal that it has not ended by yet: it is pending, or the process is just ending. */
function hasGot(pid: number | undefined, signal: NodeJS.Signals): boolean {
  try {
    const mask = /^ShdPnd:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
    const isPending = ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
    return isPending || isEnding(pid);
  } catch {
    return false;
  }
}

/** `PF_EXITING` and `PF_SIGNALED` of Linux: a signal that would write a core file is not pending while it does. */
const ENDING_FLAGS = 0x404;

function isEnding(pid: number | undefined): boolean {
  const [state, , , , , , flags] = fieldsOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return state === 'Z' || (Number(flags) & ENDING_FLAGS) !== 0;
}

/** proc(5): what follows the name, which is in parentheses: state, ppid, pgrp, session, tty_nr, tpgid, flags and more. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * Whether our process group is the foreground group of a terminal: to it go the signals that keys make (Ctrl-C,
 * Ctrl-\) and that of a new window size. False if it can't be told.
 */
function isForeground(): boolean {
  try {
    const [ours, foreground] = process.platform === 'linux' ? groupsByProc() : groupsByPs();
    return ours === foreground;
  } catch {
    return false;
  }
}

type Groups = readonly [ours: string | undefined, foreground: string | undefined];

/** `tpgid` is -1 where there is no terminal. */
function groupsByProc(): Groups {
  const [, , pgrp, , , tpgid] = fieldsOf(readFileSync('/proc/self/stat', 'utf8'));
  return [pgrp, tpgid];
}

function groupsByPs(): Groups {
  const text = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' });
  const [pgid, tpgid] = text.trim().split(/\s+/);
  return [pgid, tpgid];
}
