import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { becomeShell } from './shell.ts';

/** Work that a file system or a name server may never end, by the names of `process.getActiveResourcesInfo`. */
const ENDLESS = /^(?:FSReq|GetAddrInfo|GetNameInfo)/;
/** How long such work may take at the end: the last lines of a log are written by the pool, too. */
const PATIENCE_MS = 1_000;
const LOOK_MS = 5;

/**
 * Ends the process at once, as `process.exit` should. That waits for the threads of Node's pool, and one of them may read from
 * a file system that hangs, or ask a name server that doesn't answer.
 */
export function exit(code: number): never {
  // After the other listeners, which end what this process has started.
  process.once('exit', () => {
    if (isPoolBusy()) endThreads(code);
  });
  process.exit(code);
}

/** Ends the process when the pool is done, or after a second. */
export async function leave(code: number): Promise<never> {
  const endMs = performance.now() + PATIENCE_MS;
  do await pause(LOOK_MS);
  while (isPoolBusy() && performance.now() < endMs);
  return exit(code);
}

/** Sets the exit code of a process that ends by itself. If after a second the pool alone still keeps it, it is ended. */
export function finish(code: number): void {
  process.exitCode = code;
  void pause(PATIENCE_MS, false).then(() => isPoolBusy() && working().every(isOfPool) && exit(code));
}

/** On a busy machine the event loop may have stood still: what the pool has done is heard of before it is asked for. */
async function pause(ms: number, keepsProcess = true): Promise<void> {
  await sleep(ms, undefined, { ref: keepsProcess });
  await turn();
}

/** Under the permission model Node also lists what that denied, and no program may be run: nothing is known there. */
function isPoolBusy(): boolean {
  return process.permission === undefined && working().some(isOfPool);
}

/** What keeps the process. Our own pauses don't, nor do stdout and stderr; a channel to a parent does. */
function working(): string[] {
  const idle = process.channel ? /^Immediate$/ : /^(?:Immediate|PipeWrap|TTYWrap)$/;
  return process.getActiveResourcesInfo().filter((name) => !idle.test(name));
}

function isOfPool(name: string): boolean {
  return ENDLESS.test(name);
}

/** Only another program in place of this one ends all threads and keeps the exit code. Without a shell the code is lost. */
function endThreads(code: number): void {
  becomeShell(`exit ${code}`, [], {});
  process.kill(process.pid, 'SIGKILL');
}
