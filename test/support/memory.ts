import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOKS = 20;

/** Bytes that this process uses once garbage is gone, in V8's heap and outside of it. */
export async function usedBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let n = 0; n < 3; n++) {
    collect();
    await sleep(20); // What lies outside of the heap is freed later.
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The same, the least of some looks: a busy machine frees later. The first below the bound is the last. */
export async function leastBytes(boundBytes: number): Promise<number> {
  let least = await usedBytes();
  for (let looks = 1; looks < LOOKS && least >= boundBytes; looks++)
    least = Math.min(least, await usedBytes());
  return least;
}

/** Bytes of the C library's main heap that are resident. Linux tells it. */
export function mallocBytesOf(pid: number): number {
  const heap = /\[heap\]\n[\s\S]*?^Rss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps`, 'utf8'));
  return 1_024 * Number(heap?.[1]);
}

/** Why bearerd can't give back free pages of the C library here; false where it does. */
export function keepsFreePages(): string | false {
  const { header } = process.report.getReport() as unknown as { header: object };
  if (!('glibcVersionRuntime' in header)) return 'only glibc gives them back';
  return !isBuiltin('node:ffi') && 'this Node calls no foreign functions';
}
