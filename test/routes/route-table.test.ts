import t, { type Test } from 'tap';
import type { RoutesByHost } from '../../src/routes/routes-by-host.ts';
import { spellingsOf } from './spellings.ts';
import { ORIGIN, OTHER_ORIGIN, outcomeOf, SESSION_PATH, tableOf, tablesOf } from './table.ts';

type Outcomes = Readonly<Record<string, string>>;

function check(t: Test, table: ReturnType<typeof tableOf>, outcomes: Outcomes): void {
  for (const [path, outcome] of Object.entries(outcomes)) t.equal(outcomeOf(table, path), outcome, path);
}

t.test('the longest prefix that ends at a segment boundary wins, whatever the order', async (t) => {
  const rules = Object.entries({ '/': 'token', '/api': 'apiKey', '/api/admin': 'deny', '/api/v1/x': 'none' });
  for (const order of [rules, [...rules].reverse()]) {
    check(t, tableOf(order), {
      '/': '/ -> /',
      '/api': '/api -> /api',
      '/api/': '/api -> /api/',
      '/api/x': '/api -> /api/x',
      '/api/v1/x/y': '/api/v1/x -> /api/v1/x/y',
      '/api/v1/xy': '/api -> /api/v1/xy',
      '/api/admin': 'route-denied',
      '/api/admin/': 'route-denied',
      '/api/admin/x': 'route-denied',
      '/api/administrator': '/api -> /api/administrator',
      '/apiary': '/ -> /apiary',
      '/apikey': '/ -> /apikey',
      '/api.json': '/ -> /api.json',
      '/api-v2': '/ -> /api-v2',
      '/x/api': '/ -> /x/api',
    });
  }
});

t.test('a denied route also closes paths whose last segment goes on with a dot or a semicolon', async (t) => {
  const table = tableOf({
    '/': 'token',
    '/reports': 'apiKey',
    '/reports/archive': 'deny',
    '/reports/archive.pdf': 'reports',
    '/a%20b': 'deny',
  });
  check(t, table, {
    '/reports/archive.json': 'route-denied',
    '/reports/archive.tar.gz': 'route-denied',
    '/reports/archive.json/2026': 'route-denied',
    '/reports/archive.json;v=1': 'route-denied',
    '/reports/archive%2Ejson': 'route-denied',
    '/reports/archive.': 'bad-path',
    '/reports/archive;v=1': 'bad-path',
    '/reports/archive;v=1/2026': 'bad-path',
    '/a%20b.json': 'route-denied',
    // Other names, and a longer prefix with another rule.
    '/reports/archives': '/reports -> /reports/archives',
    '/reports/archive-2026.json': '/reports -> /reports/archive-2026.json',
    '/reports/archive.pdf': '/reports/archive.pdf -> /reports/archive.pdf',
    '/reports/archive.pdf/2': '/reports/archive.pdf -> /reports/archive.pdf/2',
    '/reports/archive.pdfx': 'route-denied',
    '/reports.json': '/ -> /reports.json',
    '/.well-known/x': '/ -> /.well-known/x',
  });
  for (const ending of ['.json', ';v=1', '.tar.gz/x']) {
    for (const at of [1, 3, '/reports'.length, '/reports/arc'.length, '/reports/archive'.length]) {
      const path = `/reports/archive${ending}`;
      for (const spelling of spellingsOf(path[at]!)) {
        const spelt = path.slice(0, at) + spelling + path.slice(at + 1);
        t.match(outcomeOf(table, spelt), /^(?:route-denied|bad-path)$/, spelt);
      }
    }
  }
});

t.test('blanks at the beginning or end of a segment do not hide a route', async (t) => {
  const table = tableOf({ '/': 'token', '/reports': 'apiKey', '/reports/archive': 'deny' });
  for (const blank of ['%20', '%20%20', '%2520', '%C2%A0', '%E3%80%80']) {
    check(t, table, {
      [`/${blank}reports`]: 'bad-path',
      [`/reports/${blank}archive`]: 'bad-path',
      [`/reports/${blank}archive.json`]: 'route-denied',
      [`/${blank}reports/archive`]: 'bad-path',
      [`/reports/archive${blank}`]: 'bad-path',
      [`/reports/a${blank}b`]: `/reports -> /reports/a${blank}b`,
    });
  }
  t.match(outcomeOf(table, `/api/identity/v1/%20session`), /^(?:route-denied|bad-path)$/);
  t.match(outcomeOf(table, `/%20api/identity/v1/session`), /^(?:route-denied|bad-path)$/);
});

t.test('a path that no prefix matches has no route', async (t) => {
  check(t, tableOf({ '/companies': 'apiKey', '/api': 'token' }), {
    '/': 'no-route',
    '/company': 'no-route',
    '/companies2': 'no-route',
    '/x/companies': 'no-route',
    '/x%2Fy;v=1//z': 'no-route',
    '/companies/1': '/companies -> /companies/1',
  });
});

t.test('a refusal without a route says whether the path or the host is the reason', async (t) => {
  t.match(tableOf({ '/companies': 'apiKey' }).match('GET', '/x'), { why: 'no prefix matches' });
  t.match(tableOf({}).match('GET', '/x'), {
    why: 'each route has a host, and this request names none of them',
  });
});

const remedyOf = (tables: RoutesByHost, host?: string) => {
  const match = tables.at(host).match('GET', '/x');
  return match.ok ? undefined : match.remedy;
};

t.test('the remedy for a request without a route names the routes, and where to add one', async (t) => {
  const rules = { '/companies': 'apiKey', '/closed': 'deny', '//crm.localhost/api': 'token' };
  t.equal(
    remedyOf(tablesOf(rules, {}, 'BEARERD_ROUTES')),
    'Add a route for this path to BEARERD_ROUTES (/=apiKey takes every other path), or call a path that has one. The routes: /companies.',
  );
  t.equal(
    remedyOf(tablesOf(rules, {}, 'bearerd.yaml:12'), 'crm.localhost'),
    'Add a route for this path to the routes at bearerd.yaml:12 ({ host: crm.localhost, prefix: /, credential: apiKey } takes every other path), or call a path that has one. The routes of crm.localhost: //crm.localhost/api.',
  );
  t.match(
    remedyOf(tablesOf({ '//a.localhost/': 'token' }, {}, '.env')),
    /^Add a route without a host to BEARERD_ROUTES in \.env .* a host that has routes: \/\/a\.localhost\/\.$/,
  );
  t.match(
    remedyOf(tablesOf({ '/closed': 'deny' })),
    / to routes \(\{ prefix.*The routes: none that forwards\.$/,
  );
});

t.test('the remedy stays short, however many and however long the routes are', async (t) => {
  const many = Array.from({ length: 1_000 }, (_, n) => [`/${n}${'a'.repeat(1_000)}`, 'token'] as const);
  const remedy = remedyOf(tablesOf(many, {}, 'BEARERD_ROUTES'));
  t.match(remedy, / and 995 more\.$/);
  t.ok(remedy!.length < 600, `${remedy!.length} characters`);
});

t.test('a legal spelling is sent upstream byte for byte', async (t) => {
  const table = tableOf({ '/': 'token', '/api': 'apiKey' });
  for (const path of [
    '/a/x%2Fy',
    "/api/%5Bid%5D/a%2520b/c%20d/@2x:~!$'()*,",
    '/api/%ff/%5C/+;v=1//x',
    '/api/caf%E9',
    '//127.0.0.1:1/x',
    '/api/x;v=1/..y/z..',
  ]) {
    t.equal(outcomeOf(table, path).split(' -> ')[1], path);
  }
  for (const query of ['?', '??', '?a&a=1&a=2&&', '?x=%', '?a=b?c', '?x=/api/../y']) {
    t.equal(outcomeOf(table, '/api', { query }), `/api -> /api${query}`);
  }
});

t.test('a spelling is refused if its plain form takes another route', async (t) => {
  check(t, tableOf({ '/': 'token', '/api': 'apiKey', '/api/admin': 'deny', '/pub': 'none' }), {
    // Letter case.
    '/API': 'bad-path',
    '/Api/x': 'bad-path',
    '/api/ADMIN/x': 'bad-path',
    '/PUB': 'bad-path',
    '/X/API': '/ -> /X/API',
    // Escaped letters: once, twice, and in other forms that decode to them.
    '/%61pi/x': 'bad-path',
    '/a%70%69': 'bad-path',
    '/%2561pi/x': 'bad-path',
    '/api/%61dmin': 'bad-path',
    '/%ef%bd%81pi': 'bad-path',
    '/%c1%a1pi': 'bad-path',
    '/api/x%79': '/api -> /api/x%79',
    // Slashes.
    '//api': 'bad-path',
    '///api/x': 'bad-path',
    '/api//admin': 'bad-path',
    '/api%2Fadmin': 'bad-path',
    '/api/%2Fadmin': 'bad-path',
    '/api%5Cadmin': 'bad-path',
    '/api%2Fx': 'bad-path',
    '/pub%2Fx': 'bad-path',
    '/x%2Fapi': '/ -> /x%2Fapi',
    '/api/x%2Fadmin': '/api -> /api/x%2Fadmin',
    '//evil.example/api/x': 'bad-path',
    '/%2Fevil.example/api': 'bad-path',
    '//evil.example/x': '/ -> //evil.example/x',
    // Parameters.
    '/api;v=1': 'bad-path',
    '/api;v=1/x': 'bad-path',
    '/;x/api': 'bad-path',
    '/api/admin;x': 'bad-path',
    '/api/;x/admin': 'bad-path',
    '/api/v1;%2fx/../admin': 'bad-path',
    '/api/;%2fx/%61dmin': 'bad-path',
    '/api%3Bv=1': 'bad-path',
    '/api/x;v=1': '/api -> /api/x;v=1',
    // Dots and blanks at the end of a name, and an escaped `?` or `#`.
    '/api.': 'bad-path',
    '/api/admin.': 'bad-path',
    '/api/admin%20/x': 'bad-path',
    '/api%20': 'bad-path',
    '/api%3Fx': 'bad-path',
    '/api/admin%23': 'bad-path',
    '/api/admin%3F/x': 'bad-path',
    // Dot segments.
    '/pub/../api/x': 'bad-path',
    '/api/./admin': 'bad-path',
    '/api/x/%2e%2e/admin': 'bad-path',
  });
  t.equal(
    outcomeOf(tableOf({ '/api': 'token' }), '/API'),
    'bad-path',
    'also if the path itself has no route',
  );
});

t.test('a prefix may have capital letters and escapes', async (t) => {
  const table = tableOf({ '/': 'token', '/Reports': 'reports', '/caf%C3%A9': 'apiKey', '/a%20b': 'none' });
  check(t, table, {
    '/Reports/x': '/Reports -> /Reports/x',
    '/reports/x': 'bad-path',
    '/REPORTS': 'bad-path',
    '/caf%C3%A9/x': '/caf%C3%A9 -> /caf%C3%A9/x',
    '/caf%c3%a9/x': '/caf%C3%A9 -> /caf%c3%a9/x',
    '/cafe/x': '/ -> /cafe/x',
    '/caf%E9': '/ -> /caf%E9',
    '/caf%C3%89': 'bad-path',
    '/%63af%C3%A9': 'bad-path',
    '/caf%25C3%25A9': 'bad-path',
    '/cafe%CC%81/x': 'bad-path',
    '/a%20b/x': '/a%20b -> /a%20b/x',
    '/a%20bc': '/ -> /a%20bc',
    '/a%2520b': 'bad-path',
  });
});

t.test('a prefix that some servers misread works, and matches no other paths', async (t) => {
  check(t, tableOf({ '/': 'token', '/x;v=1': 'apiKey', '/v1.': 'reports' }), {
    '/x;v=1/y': '/x;v=1 -> /x;v=1/y',
    '/x/y': '/ -> /x/y',
    '/x;v=2': '/ -> /x;v=2',
    '/v1./y': '/v1. -> /v1./y',
    '/v1/y': '/ -> /v1/y',
  });
});

t.test('an ambiguous prefix matches no path, and does not affect other routes', async (t) => {
  check(t, tableOf({ '/': 'token', '/%C2%AD..': 'apiKey', '/a/../b': 'reports' }), {
    '/%C2%AD../x': 'bad-path',
    '/a/../b': 'bad-path',
    '/a/b': '/ -> /a/b',
  });
});

t.test('of prefixes that differ in letter case only, each matches its own paths', async (t) => {
  check(t, tableOf({ '/': 'token', '/api': 'apiKey', '/API': 'reports' }), {
    '/api/x': '/api -> /api/x',
    '/API/x': '/API -> /API/x',
    '/Api/x': 'bad-path',
  });
});

t.test('of two routes with the same prefix, the first counts', async (t) => {
  const table = tableOf([
    ['/api', 'apiKey'],
    ['/api', 'deny'],
  ]);
  const match = table.match('GET', '/api/x');
  t.ok(match.ok && match.route.credentialName === 'apiKey');
});

t.test('a route accepts its own methods only, and no route accepts TRACE or CONNECT', async (t) => {
  const table = tableOf({ '/': 'token', '/reports': { credential: 'reports', methods: ['GET', 'HEAD'] } });
  t.equal(outcomeOf(table, '/reports', { method: 'HEAD' }), '/reports -> /reports');
  const refusal = table.match('POST', '/reports/x');
  t.match(refusal, { ok: false, code: 'method-refused', route: { prefix: '/reports', allow: 'GET, HEAD' } });
  t.equal(outcomeOf(table, '/x', { method: 'PROPFIND' }), '/ -> /x');
  for (const method of ['TRACE', 'CONNECT']) {
    for (const path of ['/x', '/a/../b', SESSION_PATH]) {
      t.equal(outcomeOf(table, path, { method }), 'method-refused', `${method} ${path}`);
    }
  }
});

t.test('a rewrite replaces the prefix once, as whole segments, and leaves the query alone', async (t) => {
  const table = tableOf({
    '/svc': { credential: 'token', rewrite: '/' },
    '/companies': { credential: 'apiKey', rewrite: '/data/companies' },
    '/': { credential: 'none', rewrite: '/all' },
  });
  const cases: readonly (readonly [path: string, query: string, target: string])[] = [
    ['/svc', '', '/'],
    ['/svc', '?x=/svc/y', '/?x=/svc/y'],
    ['/svc/', '?', '/?'],
    ['/svc/svc/a', '', '/svc/a'],
    ['/svc/a%2Fb;c', '', '/a%2Fb;c'],
    ['/svc//evil.example/x', '', '//evil.example/x'],
    ['/svcx', '', '/all/svcx'],
    ['/companies', '', '/data/companies'],
    ['/companies/', '', '/data/companies/'],
    ['/companies/companies', '?q', '/data/companies/companies?q'],
    ['/', '', '/all/'],
  ];
  for (const [path, query, target] of cases) {
    t.equal(outcomeOf(table, path, { query }).split(' -> ')[1], target, path + query);
  }
});

t.test('every upstream path begins with the base path', async (t) => {
  const other = { origin: OTHER_ORIGIN, basePath: '/v2' };
  const table = tableOf(
    {
      '/': 'token',
      '/x': { credential: 'apiKey', rewrite: '/y' },
      '/o': { credential: 'reports', upstream: other },
    },
    { basePath: '/base' },
  );
  check(t, table, {
    '/': '/ -> /base/',
    '/a/b': '/ -> /base/a/b',
    '/x/b': '/x -> /base/y/b',
    '/o/b': '/o -> /v2/o/b',
  });
});

t.test('a route to an origin that its credential may not go to is an error', async (t) => {
  const upstream = { origin: 'https://evil.example', basePath: '' };
  t.throws(() => tableOf({ '/': { credential: 'token', upstream } }), /may not go to/);
  t.throws(() => tableOf({ '/': 'nobody' }), /no credential/);
  t.equal(
    outcomeOf(tableOf({ '/': { credential: 'none', upstream } }), '/x'),
    '/ -> /x',
    'a route without a credential may go to any origin',
  );
});

const everythingGoes = tableOf({ '/': 'none', '/api': 'token', '/api/identity': 'apiKey' });

t.test(
  'the session path and all paths that begin with it are closed, whatever route matches them',
  async (t) => {
    const ends = [
      '',
      '/',
      '/x',
      '/x/y',
      's',
      'ion',
      '.json',
      '.',
      ';x',
      '%3Fa',
      '%23a',
      '%2Fx',
      '%5Cx',
      '%ff',
      '%20',
    ];
    for (const end of [...ends, '//', '-2', '%252F', '+', '@']) {
      t.equal(outcomeOf(everythingGoes, SESSION_PATH + end), 'route-denied', SESSION_PATH + end);
    }
    t.equal(outcomeOf(everythingGoes, '/api/identity/v1/sessio'), '/api/identity -> /api/identity/v1/sessio');
    t.equal(outcomeOf(tableOf({ '/x': 'token' }), SESSION_PATH), 'route-denied', 'also if no route matches');
    t.equal(outcomeOf(everythingGoes, SESSION_PATH, { method: 'OPTIONS' }), 'route-denied');
  },
);

t.test('the session path is closed in every spelling, in each table', async (t) => {
  const tables = [everythingGoes, tablesOf({ '/': 'none', '//a.localhost/': 'token' }).at('a.localhost')];
  const passed: string[] = [];
  let count = 0;
  const attempt = (path: string) => {
    count++;
    if (tables.some((table) => table.match('POST', path).ok)) passed.push(path);
  };
  const characters = [...SESSION_PATH];
  // One character in another spelling, then two, with different endings.
  for (const [i, character] of characters.entries()) {
    for (const spelling of spellingsOf(character)) {
      const once = characters.with(i, spelling);
      for (const end of ['', '/', '/x', 's', '.json', ';x', '%3Fx', '.', '%2e%2e'])
        attempt(once.join('') + end);
      const j = (i * 7 + spelling.length * 5) % characters.length;
      for (const other of spellingsOf(characters[j]!)) if (j !== i) attempt(once.with(j, other).join(''));
    }
  }
  // All characters in one spelling.
  for (let way = 0; way < 16; way++) {
    attempt(characters.map((c) => spellingsOf(c)[way % spellingsOf(c).length]).join(''));
    for (const kind of [/[a-z]/, /\//, /[^/]/]) {
      attempt(
        characters.map((c) => (kind.test(c) ? spellingsOf(c)[way % spellingsOf(c).length] : c)).join(''),
      );
    }
  }
  t.same(passed, [], `none of ${count} passed`);
});

t.test('a session path with escapes or capital letters is closed in every spelling, too', async (t) => {
  const table = tableOf({ '/': 'none' }, { path: '/Auth/s%C3%A9ssion' });
  for (const path of [
    '/Auth/s%C3%A9ssion',
    '/auth/s%c3%a9ssion/x',
    '/AUTH/S%C3%89SSION',
    '/auth/se%CC%81ssion',
  ]) {
    t.equal(outcomeOf(table, path), 'route-denied', path);
  }
  for (const path of ['/auth/s%25C3%25A9ssion', '//Auth/s%C3%A9ssions', '/%41uth/s%C3%A9ssion']) {
    t.equal(outcomeOf(table, path), 'route-denied', path);
  }
  t.equal(outcomeOf(table, '/auth/session'), '/ -> /auth/session');
});

t.test('no rewrite and no other upstream leads to the session endpoint', async (t) => {
  const at = (basePath: string, origin = ORIGIN) => ({ credential: 'none', upstream: { origin, basePath } });
  const tables = {
    'a rewrite to it': tableOf({ '/login': { credential: 'none', rewrite: SESSION_PATH } }),
    'a rewrite to something that begins with it': tableOf({
      '/login': { credential: 'none', rewrite: `${SESSION_PATH}s/x` },
    }),
    'a rewrite in other letters': tableOf({
      '/login': { credential: 'none', rewrite: '/API/Identity/v1/SESSION' },
    }),
  };
  for (const [name, table] of Object.entries(tables)) {
    for (const path of ['/login', '/login/', '/login/x'])
      t.equal(outcomeOf(table, path), 'route-denied', `${name}: ${path}`);
  }
  check(t, tableOf({ '/id': { credential: 'token', rewrite: '/api/identity' }, '/': 'none' }), {
    '/id/v1/session': 'route-denied',
    '/id/v1/SESSIONs': 'route-denied',
    '/id/v1//session/x': 'route-denied',
    '/id/v1/s%65ssion': 'route-denied',
    '/id/v1/s%2565ssion': 'route-denied',
    '/id/v1;x/session': 'route-denied',
    '/id/v1%2Fsession': 'route-denied',
    '/id/v1/people': '/id -> /api/identity/v1/people',
  });
  const up = tableOf({ '/v1': at('/api/identity'), '/strip': { credential: 'none', rewrite: '/' } });
  check(t, up, {
    '/v1/session': 'route-denied',
    '/v1/session.json': 'route-denied',
    '/v1/x': '/v1 -> /api/identity/v1/x',
    '/strip/api/identity/v1/session': 'route-denied',
    '/strip//api/identity/v1/session': 'route-denied',
    '/strip/api/identity/v1': '/strip -> /api/identity/v1',
  });
  const below = { basePath: '/base', path: '/auth/session' };
  check(t, tableOf({ '/': 'none', '/a': { ...at(''), rewrite: '/base' } }, below), {
    '/a/auth/session': 'route-denied',
    '/a/auth/x': '/a -> /base/auth/x',
    '/base/auth/session': '/ -> /base/base/auth/session',
  });
});

t.test('the session path is also closed at another origin that leads to the same server', async (t) => {
  const rewrite = (origin: string) => ({
    '/l': { credential: 'none', rewrite: SESSION_PATH, upstream: { origin, basePath: '' } },
  });
  for (const origin of ['https://api.example.com.', 'http://api.example.com']) {
    t.equal(outcomeOf(tableOf(rewrite(origin)), '/l'), 'route-denied', origin);
  }
  for (const origin of [
    'http://localhost:8080',
    'http://[::1]:8080',
    'http://127.0.0.1:8080',
    'http://127.1.2.3:8080',
  ]) {
    const table = tableOf(rewrite(origin), { origin: 'http://127.0.0.1:8080' });
    t.equal(outcomeOf(table, '/l'), 'route-denied', origin);
  }
  for (const origin of [OTHER_ORIGIN, 'https://api.example.com:8443']) {
    t.equal(
      outcomeOf(tableOf(rewrite(origin)), '/l'),
      `/l -> ${SESSION_PATH}`,
      `${origin} is another server`,
    );
  }
});
