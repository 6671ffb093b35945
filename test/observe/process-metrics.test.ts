import t from 'tap';
import { processMetrics } from '../../src/observe/process-metrics.ts';
import { until } from '../support/raw-client.ts';

async function lag(): Promise<Map<string, number>> {
  const text = await processMetrics().render();
  const lines = text.matchAll(/^nodejs_eventloop_lag_(\w*?)_?seconds ([\d.e+-]+|NaN)$/gm);
  return new Map([...lines].map(([, name, value]) => [name!, Number(value)]));
}

function blockMs(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

t.test('the metrics of event loop lag have the names of prom-client, and a value at each read', async (t) => {
  for (const asked of ['first', 'again']) {
    const figures = await lag();
    t.same([...figures.keys()].sort(), ['', 'max', 'mean', 'min', 'p50', 'p90', 'p99', 'stddev'], asked);
    t.ok([...figures.values()].every(Number.isFinite), JSON.stringify([...figures]));
  }
});

t.test('a blocked event loop under traffic shows in the lag', async (t) => {
  const { traffic } = processMetrics();
  await lag();
  traffic();
  traffic();
  blockMs(1_300); // The timer is due after a second.
  let most = 0;
  await until(async () => {
    most = Math.max(most, (await lag()).get('max')!);
    return most >= 0.25;
  }, 'the lag is not measured');
  t.ok(most >= 0.25);
});
