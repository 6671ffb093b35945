import { collectDefaultMetrics, Registry } from 'prom-client';
import { EventLoopLag, type Pause } from './event-loop-lag.ts';

export interface ProcessMetrics {
  readonly render: () => Promise<string>;
  /** Called for each request. */
  readonly traffic: () => void;
  readonly pauses: () => readonly Pause[];
}

/** The library's monitor can't be left out: it looks once in 24 days, and what it would tell is removed. */
const NEVER_MS = 2 ** 31 - 1;
const LAG = /^nodejs_eventloop_lag_/;

let ofProcess: ProcessMetrics | undefined;

/**
 * CPU, memory, event loop and garbage collector: of the process, whatever number of proxies is in it. The library's
 * observer of the collector can't be ended, and keeps all that is in one registry with it.
 */
export function processMetrics(): ProcessMetrics {
  if (ofProcess === undefined) {
    const registry = new Registry();
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const { name } of registry.getMetricsAsArray())
      if (LAG.test(name)) registry.removeSingleMetric(name);
    const lag = new EventLoopLag(registry);
    ofProcess = {
      render: async () => {
        await lag.read();
        return registry.metrics();
      },
      traffic: () => lag.traffic(),
      pauses: () => lag.pauses,
    };
  }
  return ofProcess;
}
