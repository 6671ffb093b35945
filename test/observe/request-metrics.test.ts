import { Registry } from 'prom-client';
import t from 'tap';
import type { RequestEvent } from '../../src/base/events.ts';
import { newRequestEvent } from '../../src/listen/request-event.ts';
import { RequestMetrics } from '../../src/observe/request-metrics.ts';

const EVENT: RequestEvent = {
  ...newRequestEvent('1', 'GET', 0),
  path: '/api/x',
  route: '/api',
  credential: 'main',
  status: 200,
  durationMs: 3,
};

t.test('each series counts its own requests, in any order', async (t) => {
  const registry = new Registry();
  const metrics = new RequestMetrics(registry);
  const others: readonly Partial<RequestEvent>[] = [
    {},
    { method: 'POST' },
    { status: 404 },
    { credential: 'second' },
    { caller: 'ci' },
    { route: '/other' },
    { status: 777 },
  ];
  for (let round = 0; round < 2; round++) {
    for (const other of others) {
      metrics.observe({ ...EVENT, ...other });
      metrics.observe({ ...EVENT, ...other });
      metrics.observe(EVENT);
    }
  }
  const lines = (await registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('bearerd_requests_total{'));
  const series = (other: Partial<Record<'route' | 'credential' | 'method' | 'code' | 'caller', string>>) => {
    const { route, credential, method, code, caller } = {
      route: '/api',
      credential: 'main',
      method: 'GET',
      code: '200',
      caller: '',
      ...other,
    };
    return `bearerd_requests_total{route="${route}",credential="${credential}",method="${method}",code="${code}",caller="${caller}"}`;
  };
  t.same(
    lines.sort(),
    [
      `${series({})} ${2 * (others.length + 2)}`,
      `${series({ method: 'POST' })} 4`,
      `${series({ code: '404' })} 4`,
      `${series({ credential: 'second' })} 4`,
      `${series({ caller: 'ci' })} 4`,
      `${series({ route: '/other' })} 4`,
      `${series({ code: '0' })} 4`,
    ].sort(),
  );
  t.same(
    [...metrics.byRoute()],
    [
      ['/api', 38],
      ['/other', 4],
    ],
  );
});
