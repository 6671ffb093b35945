import v8 from 'node:v8';

const CODE_SPACES = new Set([
  'code_space',
  'code_large_object_space',
  'trusted_space',
  'trusted_large_object_space',
]);

/** The memory and resources of a process after a garbage collection. */
export interface Gauge {
  readonly heapBytes: number;
  /** The part that is compiled code: it varies with use, up to the size of the program. */
  readonly codeBytes: number;
  readonly externalBytes: number;
  readonly residentBytes: number;
  /** The number of sockets, servers, timers and so on, by kind. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Loaded by `--import`, with `--expose-gc`, into the measured process: answers its parent. */
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
process.on('disconnect', () => process.exit()); // The parent has ended.
