import { Counter, Registry } from 'prom-client';
import type { Observe } from '../base/events.ts';
import { createEventCounters } from './event-counters.ts';
import { type MetricsView, registerCertificateGauge, registerGauges } from './gauges.ts';
import { processMetrics } from './process-metrics.ts';
import { RequestMetrics } from './request-metrics.ts';

export interface Metrics {
  readonly observe: Observe;
  /** The metrics in the Prometheus text format. */
  render(): Promise<{ contentType: string; text: string }>;
  /** Requests answered, by route prefix. */
  requestsByRoute(): ReadonlyMap<string, number>;
}

/**
 * Counts events. The number of series stays bounded, whatever clients send: `route` is a configured prefix, `credential`
 * a configured name, `method` one that the parser knows, and an invalid status counts as code 0.
 */
export function createMetrics(view: MetricsView): Metrics {
  const registry = new Registry();
  const ofProcess = processMetrics();
  const requests = new RequestMetrics(registry);
  const count = createEventCounters(registry);
  const scrubbed = new Counter({
    name: 'bearerd_scrubbed_total',
    help: 'Answers out of which a credential was struck, by route prefix.',
    labelNames: ['route'],
    registers: [registry],
  });
  const rateLimited = new Counter({
    name: 'bearerd_rate_limited_total',
    help: 'Requests refused with 429 by the limit of their route or their caller.',
    labelNames: ['route', 'caller'],
    registers: [registry],
  });
  registerGauges(registry, view);
  if (view.certificateExpiryMs) registerCertificateGauge(registry, view.certificateExpiryMs);
  return {
    observe(event) {
      if (event.type !== 'request') {
        count(event);
        return;
      }
      requests.observe(event);
      ofProcess.traffic();
      if (event.scrubbed === true) scrubbed.inc({ route: event.route });
      if (event.limitedBy !== undefined) rateLimited.inc({ route: event.route, caller: event.caller ?? '' });
    },
    render: async () => ({
      contentType: registry.contentType,
      text: (await ofProcess.render()) + (await registry.metrics()),
    }),
    requestsByRoute: () => requests.byRoute(),
  };
}
