import { setMaxIdleHTTPParsers } from 'node:http';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { trimMalloc } from './malloc-trim.ts';

/** V8 frees memory outside of its heap on other threads, and in later turns of the event loop. */
const TRIM_MS = 1_000;
/** How many HTTP parsers, of 10 KB each, Node keeps for later connections. Its default is a thousand. */
const IDLE_PARSERS = 16;

/**
 * Limits the memory that an idle process keeps: HTTP parsers for later connections, and V8's heap.
 *
 * In the minute after activity V8 would collect the whole heap twice, for 25 ms each: most of the CPU that an idle
 * process needs. That is switched off; `releaseMemory` gives memory back instead, when there is some.
 *
 * The heap may grow by half before it is collected, not to four times its size: few objects of a proxy live long, and
 * the rest belonged to requests that were under way at the last minor collection.
 *
 * Call it when everything is loaded: with other flags, V8 does not use its code cache for Node's own code.
 */
export function boundMemory(): void {
  setMaxIdleHTTPParsers(IDLE_PARSERS);
  setFlagsFromString('--heap-growing-percent=50');
  setFlagsFromString('--memory-reducer-gc-count=0');
}

const SWEEP_BYTES = 4 * 1024 ** 2;

/**
 * Collects the young generation after each 4 MiB of bodies. Call the result with the size of each piece. Pieces are 64
 * KiB of memory outside of V8's heap, with a small object in it. V8 would not notice this garbage until there is so
 * much of it that V8 collects the whole heap. A minor collection takes a third of a millisecond; with it a large body
 * costs three fifths of the CPU, and a quarter of the memory.
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
 * Gives the system back memory that only the start or a burst needed: the young generation, which has grown, and empty
 * pages of the heap. V8 does so only when it collects the whole heap, which an idle process never makes it do. It takes
 * 30 ms after the start, and saves 10 MB.
 */
export function releaseMemory(): void {
  collector()({ type: 'major', flavor: 'last-resort' });
  setTimeout(trimMalloc, TRIM_MS).unref();
}

/** What V8's heap holds, garbage included, and the most that it may hold. */
export function heapUse(): { readonly heapBytes: number; readonly heapLimitBytes: number } {
  const { used_heap_size: heapBytes, heap_size_limit: heapLimitBytes } = getHeapStatistics();
  return { heapBytes, heapLimitBytes };
}

/** Makes V8's `gc` available here, and not as a global. */
function collector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}
