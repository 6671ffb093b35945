import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | undefined;

/**
 * CPU, memory, event loop and garbage collector: of the process, whatever number of proxies is in it. The library's
 * observer of the collector can't be ended, and keeps all that is in one registry with it.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return registry;
}
