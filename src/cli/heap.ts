import { setFlagsFromString } from 'node:v8';

/**
 * Half as much again as what is in use may pile up before the heap is swept, in place of four times as much: a proxy
 * has little that lives, and the rest is what was under way when the young generation was swept.
 * Call it when all is loaded: with another set of flags, V8 doesn't take Node's own code from its cache.
 */
export function boundHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=50');
}
