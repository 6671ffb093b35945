import { collectDefaultMetrics, Registry } from 'prom-client';
import { EventLoopLag, type Pause } from './event-loop-lag.ts';

interface ProcessMetrics {
  readonly render: () => Promise<string>;
  /** Called for each request. */
  readonly traffic: () => void;
  readonly pauses: () => readonly Pause[];
}

/** prom-client's event loop monitor can't be left out: it samples once in 24 days, and its metrics are removed. */
const NEVER_MS = 2 ** 31 - 1;
const LAG = /^nodejs_eventloop_lag_/;

let ofProcess: ProcessMetrics | undefined;

/**
 * CPU, memory, event loop and garbage collector of the process, once for all proxies in it. prom-client's observer of the
 * garbage collector can't be stopped, and keeps its registry in memory: hence a registry of their own.
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
