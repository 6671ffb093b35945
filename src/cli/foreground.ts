import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Whether our process group is the foreground group of a terminal: to it go the signals that keys make (Ctrl-C,
 * Ctrl-\) and that of a new window size. False where it can't be told.
 */
export function isForeground(): boolean {
  try {
    const [ours, foreground] = process.platform === 'linux' ? groupsByProc() : groupsByPs();
    return ours === foreground;
  } catch {
    return false;
  }
}

type Groups = readonly [ours: string | undefined, foreground: string | undefined];

/** proc(5): after the name in parentheses come state, ppid, pgrp, session, tty_nr and tpgid (-1 for no terminal). */
function groupsByProc(): Groups {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const [, , pgrp, , , tpgid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [pgrp, tpgid];
}

function groupsByPs(): Groups {
  const text = execFileSync('ps', ['-o', 'pgid=,tpgid=', '-p', `${process.pid}`], { encoding: 'utf8' });
  const [pgid, tpgid] = text.trim().split(/\s+/);
  return [pgid, tpgid];
}
