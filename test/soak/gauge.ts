/** What a process holds, once what it doesn't is gone. */
export interface Gauge {
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly residentBytes: number;
  /** Sockets, servers, timers and the like, by their kinds. */
  readonly resources: Readonly<Record<string, number>>;
}

/** Loaded into the process that is measured, by `--import` and with `--expose-gc`: it answers its parent. */
process.on('message', () => {
  globalThis.gc!();
  const { heapUsed, external, rss } = process.memoryUsage();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const gauge: Gauge = { heapBytes: heapUsed, externalBytes: external, residentBytes: rss, resources };
  process.send!(gauge);
});
process.on('disconnect', () => process.exit()); // Whoever measures is gone, and nobody else wants it.
