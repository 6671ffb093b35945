import t from 'tap';
import { createLanes, type Lanes, laneVia } from '../../src/routes/lanes.ts';
import { PLAIN } from '../../src/routes/path.ts';
import { isUnder } from '../../src/routes/prefixes.ts';
import { type Route, type RouteTable, upstreamTarget } from '../../src/routes/route-table.ts';
import { randomFrom } from '../support/random.ts';
import { OTHER_ORIGIN, SESSION_PATH, tablesOf } from './table.ts';

// A proxy that only compares text must decide as the table does, or leave the decision to the table.

const TIMEOUTS = { connectMs: 0, responseMs: 60_000, idleMs: 30_000 };
const routes = tablesOf(
  {
    '/': 'token',
    '/api': 'token',
    '/api/admin': 'deny',
    '/api/v2': 'apiKey',
    '/API/Old': 'token',
    '/companies': { credential: 'apiKey', rewrite: '/data/companies' },
    '/svc': { credential: 'token', rewrite: '/', methods: ['GET'] },
    '/identity': { credential: 'token', rewrite: '/api/identity' },
    '/caf%C3%A9': 'token',
    '/open': 'none',
    '/kept': { credential: 'token', clientAuthorization: 'keep' },
    '/scrubbed': { credential: 'token', scrub: true },
    '/limited': { credential: 'token', limit: { requests: 60, perMs: 60_000 } },
    '/slow': { credential: 'token', timeouts: TIMEOUTS },
    '/other': { credential: 'reports', upstream: { origin: OTHER_ORIGIN, basePath: '/base' } },
  },
  { basePath: '' },
);
const table = routes.at(undefined);
const lanes = createLanes(routes);

/** Applies the rules as HAProxy does. */
function decide({ tables }: Lanes, path: string, host?: string): Route | undefined {
  const { rules } = tables.find((each) => each.host === host)!;
  const lower = path.toLowerCase();
  const rule = rules.find(({ begins, anyEnd }) =>
    anyEnd ? lower.startsWith(begins) : isUnder(lower, begins),
  );
  return rule?.route !== undefined && isUnder(path, rule.begins) ? rule.route : undefined;
}

/** Paths of plain characters that resemble the prefixes, in any letter case. */
function* paths({ routes }: RouteTable, seed: number, count: number): Generator<string> {
  const random = randomFrom(seed);
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  const beginnings = [
    ...routes.map(({ prefix }) => prefix),
    SESSION_PATH,
    '/svc/api/identity',
    '/identity/v1/session',
  ];
  for (let i = 0; i < count; i++) {
    const begin = one(beginnings).replace(/\/$/, '');
    const end = one([
      '',
      '/',
      '/x',
      'x',
      '.json',
      '/v1/session',
      '/v2/y',
      '/admin',
      '/a.b/c',
      '/Old',
      '/v1/session.json',
    ]);
    const path = (begin + end).replace(/[a-z]/g, (c) => (random() < 0.02 ? c.toUpperCase() : c));
    yield path === '' ? '/' : path;
  }
}

t.test('a fast lane takes a path only if the table gives it to the same route', async (t) => {
  let fast = 0;
  for (const path of paths(table, 1, 20_000)) {
    if (!PLAIN.test(path)) continue;
    const route = decide(lanes, path);
    if (route === undefined) continue;
    fast++;
    const match = table.match('GET', path);
    if (!match.ok || match.route !== route) t.fail(`${path} went to ${route.prefix}`);
  }
  t.ok(fast > 5_000, `${fast} went fast`);
});

t.test('a fast lane leaves a path to the table if a denied route closes it by a format ending', async (t) => {
  for (const path of ['/api/admin.json', '/api/Admin.JSON', '/api/admin.json/x'])
    t.equal(decide(lanes, path), undefined, path);
  t.equal(decide(lanes, '/api/adminx')?.prefix, '/api');
});

t.test(
  "from a request on the fast lane, the client's own path is found, which gives the same request again",
  async (t) => {
    let undone = 0;
    for (const path of paths(table, 2, 5_000)) {
      const route = decide(lanes, path);
      if (route === undefined || !PLAIN.test(path)) continue;
      const target = upstreamTarget(route, path, '?a=/b?c');
      const host = new URL(route.upstreamOrigin).host;
      const asked = lanes.asked({ method: 'GET', via: laneVia(route), host, target });
      const again = asked?.slice(0, asked.indexOf('?'));
      if (asked === undefined || again === undefined || upstreamTarget(route, again, '?a=/b?c') !== target)
        t.fail(`${path} came back as ${asked}`);
      undone++;
    }
    t.ok(undone > 1_000);
  },
);

t.test('a request that no fast lane can have sent is refused', async (t) => {
  const asked = (via: string, host: string, target: string) =>
    lanes.asked({ method: 'GET', via, host, target });
  const host = 'api.example.com';
  t.equal(asked('1.1 bearerd (/companies)', host, '/data/companies/x?y'), '/companies/x?y');
  t.equal(asked('1.1 bearerd (/companies)', host, '/data/other'), undefined);
  t.equal(asked('1.1 bearerd (/companies)', 'other.example.com', '/data/companies/x'), undefined);
  t.equal(asked('1.1 bearerd (/companies)', host, '/data/companies/../x'), undefined);
  t.equal(asked('1.1 bearerd (/api)', host, '/api/v2/x'), undefined, 'the path belongs to another route');
  t.equal(asked('1.1 bearerd (/open)', host, '/open'), undefined);
  t.equal(asked('1.1 other', host, '/'), undefined);
  t.equal(asked('', host, '/'), undefined);
});

t.test(
  'each host has its own rules, and a request that comes back is checked with the table of its host',
  async (t) => {
    const byHost = tablesOf({
      '/': 'token',
      '/api': 'deny',
      '//orders.localhost/': { credential: 'apiKey', rewrite: '/orders' },
      '//orders.localhost/x': 'none',
      '//crm.localhost/api': 'token',
    });
    const lanes = createLanes(byHost);
    t.same(
      lanes.tables.map(({ host }) => host),
      ['orders.localhost', 'crm.localhost', undefined],
      'the tables of hosts come first',
    );
    for (const [host, path, name] of [
      ['orders.localhost', '/api', '//orders.localhost/'],
      ['orders.localhost', '/x/y', undefined],
      ['crm.localhost', '/api/x', '//crm.localhost/api'],
      ['crm.localhost', '/API/x', undefined],
      ['crm.localhost', '/', undefined],
      [undefined, '/api', undefined],
      [undefined, '/x', '/'],
    ] as const) {
      t.equal(decide(lanes, path, host)?.name, name, `${host}${path}`);
      t.equal(decide(lanes, `${SESSION_PATH}/x`, host), undefined);
    }
    const asked = (via: string, target: string) =>
      lanes.asked({ method: 'GET', via, host: 'api.example.com', target });
    t.equal(asked('1.1 bearerd (//orders.localhost/)', '/orders/api?q'), 'http://orders.localhost/api?q');
    t.equal(
      asked('1.1 bearerd (//orders.localhost/)', '/orders/x'),
      undefined,
      'there the path belongs to another route',
    );
    t.equal(asked('1.1 bearerd (//crm.localhost/api)', '/api/x'), 'http://crm.localhost/api/x');
    t.equal(asked('1.1 bearerd (/)', '/x?q'), 'http://127.0.0.1/x?q', 'a host without a table');
    t.equal(asked('1.1 bearerd (/)', '/api/x'), undefined);
  },
);

t.test('there is a reason for each route without a fast lane', async (t) => {
  t.same(Object.fromEntries([...lanes.slow].map(([{ prefix }, why]) => [prefix, why])), {
    '/api/admin': 'it denies all requests',
    '/API/Old': 'its prefix can be read in more than one way',
    '/caf%C3%A9': 'its prefix can be read in more than one way',
    '/open': 'it sends no credential',
    '/kept': 'clientAuthorization is keep',
    '/scrubbed': 'scrub looks into its answers',
    '/limited': 'its limit is counted by bearerd',
    '/slow': 'timeouts.response and timeouts.idle differ, and HAProxy has one limit for both',
  });
});
