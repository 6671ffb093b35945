import v8 from 'node:v8';

const CODE_SPACES = new Set([
  'code_space',
  'code_large_object_space',
  'trusted_space',
  'trusted_large_object_space',
]);

/** What a process holds, once what it doesn't is gone. */
export interface Gauge {
  readonly heapBytes: number;
  /** Of these, what V8 has compiled: it comes and goes with what is used, up to the size of the program. */
  readonly codeBytes: number;
  readonly externalBytes: number;
  readonly residentBytes: number;
  /** Sockets, servers, timers and the like, by their kinds. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Loaded into the process that is measured, by `--import` and with `--expose-gc`: it answers its parent. */
process.on('message', () => {
  globalThis.gc!();
  const { heapUsed, external, rss } = process.memoryUsage();
  const codeBytes = v8
    .getHeapSpaceStatistics()
    .filter(({ space_name }) => CODE_SPACES.has(space_name))
    .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const gauge: Gauge = {
    heapBytes: heapUsed,
    codeBytes,
    externalBytes: external,
    residentBytes: rss,
    resources,
  };
  process.send!(gauge);
});
process.on('disconnect', () => process.exit()); // The measuring process is gone, and this one has no other purpose.
