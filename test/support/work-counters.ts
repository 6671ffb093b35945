import { createHook } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import v8 from 'node:v8';

/** What a process has done so far, in numbers that do not depend on how fast it was. */
export interface Work {
  /** On V8's heap, whether or not it has been collected since. */
  readonly allocatedBytes: number;
  /** Calls of read and write by the main thread; 0 where the system does not tell. */
  readonly reads: number;
  readonly writes: number;
  /** Since `watch`, which itself makes work. */
  readonly timers: number;
  readonly promises: number;
  /** Calls that were put off by `process.nextTick` and by `setImmediate`; those of streams, too. */
  readonly ticks: number;
  readonly immediates: number;
  /** Buffers of 16 KiB and more that JavaScript made, by copying or anew. */
  readonly largeBuffers: number;
}

/** Loaded into the process that is counted, by `--import`: it answers its parent. */
let timers = 0;
let promises = 0;
let ticks = 0;
let immediates = 0;
let largeBuffers = 0;
const LARGE_BYTES = 16 * 1024;
for (const name of ['from', 'alloc', 'allocUnsafe', 'allocUnsafeSlow', 'concat'] as const) {
  const make = Buffer[name] as (...given: unknown[]) => Buffer;
  Object.assign(Buffer, {
    [name]: (...given: unknown[]) => {
      const made = make.apply(Buffer, given);
      if (made.length >= LARGE_BYTES) largeBuffers++;
      return made;
    },
  });
}
const hook = createHook({
  init: (_id, type) => {
    if (type === 'Timeout') timers++;
    else if (type === 'PROMISE') promises++;
    else if (type === 'TickObject') ticks++;
    else if (type === 'Immediate') immediates++;
  },
});

function work(): Work {
  const io = process.platform === 'linux' ? readFileSync('/proc/thread-self/io', 'utf8') : '';
  const calls = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(io)?.[1] ?? 0);
  // Node before 26 doesn't count it: there the newest one alone holds the limit.
  const { total_allocated_bytes: allocatedBytes = 0 } = v8.getHeapStatistics() as unknown as {
    total_allocated_bytes?: number;
  };
  const [reads, writes] = [calls('syscr'), calls('syscw')];
  return { allocatedBytes, reads, writes, timers, promises, ticks, immediates, largeBuffers };
}

process.on('message', (wish) => {
  if (wish === 'watch') hook.enable();
  process.send!(work());
});
