import t from 'tap';
import { clientLocation } from '../../src/forward/headers/location.ts';
import type { Route, RouteTable } from '../../src/routes/route-table.ts';
import { ORIGIN, OTHER_ORIGIN, outcomeOf, SESSION_PATH, tablesOf } from './table.ts';

// A table for each host that has routes, and one for all other hosts.

const RULES = {
  '/': 'token',
  '/reports': 'reports',
  '/closed': 'deny',
  '//orders.localhost/': 'apiKey',
  '//orders.localhost/closed': 'none',
  '//orders.localhost/shut': 'deny',
  '//crm.localhost/api': { credential: 'token', methods: ['GET'] },
};
const routes = tablesOf(RULES);
const [orders, crm] = ['orders.localhost', 'crm.localhost'].map((host) => routes.at(host)) as [
  RouteTable,
  RouteTable,
];

t.test('a request for a host that has routes uses these routes only', async (t) => {
  for (const [path, outcome] of Object.entries({
    '/': '//orders.localhost/ -> /',
    '/reports/x': '//orders.localhost/ -> /reports/x',
    '/closed/x': '//orders.localhost/closed -> /closed/x',
    '/shut': 'route-denied',
    '/shut.json': 'route-denied',
    '/Shut': 'bad-path',
  }))
    t.equal(outcomeOf(orders, path), outcome, path);
  t.equal(outcomeOf(crm, '/api/x'), '//crm.localhost/api -> /api/x');
  t.equal(outcomeOf(crm, '/API'), 'bad-path');
  t.equal(outcomeOf(crm, '/api', { method: 'POST' }), 'method-refused');
  t.match(crm.match('GET', '/x'), {
    ok: false,
    code: 'no-route',
    route: undefined,
    why: 'no prefix of crm.localhost matches',
  });
});

t.test('every other request uses only the routes without a host', async (t) => {
  for (const host of [undefined, 'localhost', '127.0.0.1', 'other.localhost', 'api', 'localhost.orders']) {
    const table = routes.at(host);
    t.equal(table, routes.at(undefined), `${host}`);
    t.equal(outcomeOf(table, '/shut'), '/ -> /shut');
    t.equal(outcomeOf(table, '/reports'), '/reports -> /reports');
    t.equal(outcomeOf(table, '/closed'), 'route-denied');
  }
  const onlyHosts = tablesOf({ '//orders.localhost/': 'token' });
  t.equal(outcomeOf(onlyHosts.at('localhost'), '/'), 'no-route');
});

t.test('there is a table for each configured host, and together the tables have all routes', async (t) => {
  t.same(
    routes.tables.map(({ host }) => host),
    [undefined, 'orders.localhost', 'crm.localhost'],
  );
  t.same(
    routes.routes.map(({ name }) => name),
    Object.keys(RULES),
  );
  t.same(
    new Set(routes.tables.flatMap((table) => table.routes)),
    new Set(routes.routes),
    'each route is in one table',
  );
});

t.test(
  'the session paths are closed in each table, also under other paths that routes map to them',
  async (t) => {
    const tables = tablesOf({
      '//orders.localhost/': 'token',
      '//crm.localhost/id': { credential: 'token', rewrite: '/api/identity' },
      '//other.localhost/': {
        credential: 'reports',
        upstream: { origin: OTHER_ORIGIN, basePath: '' },
      },
    });
    for (const host of ['orders.localhost', 'crm.localhost', 'other.localhost', undefined]) {
      for (const path of [
        SESSION_PATH,
        `${SESSION_PATH}/x`,
        `${SESSION_PATH}.json`,
        '/api/identity/v1/SESSION',
      ])
        t.equal(outcomeOf(tables.at(host), path), 'route-denied', `${host}${path}`);
    }
    t.equal(outcomeOf(tables.at('crm.localhost'), '/id/v1/session'), 'route-denied');
    t.equal(outcomeOf(tables.at('crm.localhost'), '/id/v1/s%65ssion'), 'route-denied');
    t.equal(
      outcomeOf(tables.at('orders.localhost'), '/id/v1/session'),
      '//orders.localhost/ -> /id/v1/session',
    );
  },
);

t.test('a Location is mapped to the URL that a client of the same host would use', async (t) => {
  const tables = tablesOf(
    {
      '/crm': { credential: 'token', rewrite: '/crm-v1' },
      '/plain': 'none',
      '//orders.localhost/': { credential: 'token', rewrite: '/orders-v1' },
      '//orders.localhost/archive': 'token',
      '//crm.localhost/': { credential: 'token', rewrite: '/crm-v1' },
      '//other.localhost/': { credential: 'reports', upstream: { origin: OTHER_ORIGIN, basePath: '' } },
    },
    { basePath: '/v2' },
  );
  const [plain] = tables.at(undefined).routes as [Route];
  const [order] = tables.at('orders.localhost').routes as [Route];
  const [customer] = tables.at('crm.localhost').routes as [Route];
  for (const [route, value, mapped] of [
    [order, `${ORIGIN}/v2/orders-v1/7?a#b`, '/7?a#b'],
    [order, '/v2/orders-v1', '/'],
    [order, `${ORIGIN}/v2/archive/7`, '/archive/7'],
    [customer, `${ORIGIN}/v2/crm-v1/7`, '/7'],
    [plain, `${ORIGIN}/v2/crm-v1/7`, '/crm/7'],
    // Only a route of another host leads there.
    [order, `${ORIGIN}/v2/crm-v1/7?a`, `${ORIGIN}/v2/crm-v1/7?a`],
    [order, '/v2/crm-v1/7', `${ORIGIN}/v2/crm-v1/7`],
    [order, '//api.example.com/v2/plain', `${ORIGIN}/v2/plain`],
    [customer, `${ORIGIN}/v2/orders-v1/7`, `${ORIGIN}/v2/orders-v1/7`],
    [plain, `${ORIGIN}/v2/archive`, `${ORIGIN}/v2/archive`],
    // No route leads there, so it is mapped as without hosts.
    [order, `${ORIGIN}/v2/nowhere`, '/nowhere'],
    [order, `${ORIGIN}/elsewhere`, `${ORIGIN}/elsewhere`],
    [order, `${OTHER_ORIGIN}/x`, `${OTHER_ORIGIN}/x`],
  ] as const)
    t.equal(clientLocation(value, route), mapped, `${route.name}: ${value}`);
});

t.test('a denied route does not change how a Location is mapped', async (t) => {
  const tables = tablesOf({ '//orders.localhost/a': 'token', '//crm.localhost/b': 'deny' });
  const [order] = tables.at('orders.localhost').routes as [Route];
  t.equal(clientLocation(`${ORIGIN}/b/x`, order), '/b/x');
});
