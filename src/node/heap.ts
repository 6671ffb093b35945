import { setMaxIdleHTTPParsers } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { trimMalloc } from './malloc-trim.ts';

/** V8 frees on other threads, and in later turns, what the objects that it swept had outside of its heap. */
const TRIM_MS = 1_000;
/** Node would keep a thousand HTTP parsers of 10 KB for connections to come. */
const IDLE_PARSERS = 16;

/**
 * Bounds what the process keeps without need: HTTP parsers for connections to come, and V8's heap.
 *
 * V8 goes through the whole heap twice in the minute after it was last at work, for 25 ms each: most of what an idle process
 * would use. `releaseMemory` gives back instead, when there is something to give.
 *
 * Half as much again as what is in use may pile up before the heap is swept, in place of four times as much: a proxy
 * has little that lives, and the rest is what was under way when the young generation was swept.
 * Call it when all is loaded: with another set of flags, V8 doesn't take Node's own code from its cache.
 */
export function boundMemory(): void {
  setMaxIdleHTTPParsers(IDLE_PARSERS);
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--memory-reducer-gc-count=0');
}

const SWEEP_BYTES = 4 * 1024 ** 2;

/**
 * Sweeps the young generation each time that so much of bodies has passed; call the result with the bytes of each
 * piece. Pieces lie outside of V8's heap, 64 KiB at a time, with next to nothing inside: V8 finds no reason to look
 * for those that are done with before they are so many that it goes through the whole heap for them. A sweep takes
 * a third of a millisecond, and keeps that from happening: half the CPU of a large body, and a quarter of the memory.
 */
export function sweepBodies(): (bytes: number) => void {
  let collect: NodeJS.GCFunction | undefined;
  let passed = 0;
  return (bytes) => {
    passed += bytes;
    if (passed < SWEEP_BYTES) return;
    passed = 0;
    collect ??= collector();
    collect({ type: 'minor' });
  };
}

/**
 * Gives the system back what only the start or a burst needed: the young generation that grew in it, and pages of the heap
 * that nothing lives in. By itself V8 does so when it goes through the whole heap, which in an idle process is never. It
 * takes 30 ms after the start, and saves 10 MB.
 */
export function releaseMemory(): void {
  collector()({ type: 'major', flavor: 'last-resort' });
  setTimeout(trimMalloc, TRIM_MS).unref();
}

/** Not a global: nothing else can call it. */
function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
