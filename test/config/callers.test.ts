import t from 'tap';
import { faultsOfYaml, loadYaml } from './load-from.ts';

// The section `callers`: named clients, each with its own key.

const TOKEN = `
baseUrl: https://api.example.com
credentials: { token: { type: session, clientId: a, clientSecret: b } }
routes:
  - { prefix: /api, credential: token }
  - { prefix: /api/admin, credential: deny }
`;
const CALLERS = `${TOKEN}
callers:
  agent: { key: c4n4ry-1, routes: [/api] }
  build: { key: { env: BUILD_KEY }, routes: '/api, /api/admin/' }
  night-shift: { key: { file: night } }
`;
const ENV = { BUILD_KEY: 'c4n4ry-2' };
const FILES = { '/srv/app/night': 'c4n4ry-3\n' };

t.test('callers have names, keys and optional routes', async (t) => {
  const { callers, callerKey, watchedFiles, secretVariables, effective } = await loadYaml(
    CALLERS,
    ENV,
    FILES,
  );
  t.equal(callerKey, undefined);
  t.same(
    callers.map(({ name, key, routes }) => [name, key.expose(), routes]),
    [
      ['agent', 'c4n4ry-1', ['/api']],
      ['build', 'c4n4ry-2', ['/api', '/api/admin']],
      ['night-shift', 'c4n4ry-3', undefined],
    ],
  );
  t.same(watchedFiles, ['/srv/app/night']);
  t.ok(secretVariables.includes('BUILD_KEY'), 'a child process does not inherit the key');
  t.same(effective.callers, {
    agent: { key: '***', routes: ['/api'] },
    build: { key: '***', routes: ['/api', '/api/admin'] },
    'night-shift': { key: '***' },
  });
  t.notMatch(JSON.stringify({ callers, effective }), /c4n4ry/);
});

t.test('an invalid name, a repeated key or an unknown route of a caller is a fault', async (t) => {
  const faults = async (callers: string, more = '') =>
    faultsOfYaml(`${TOKEN}${more}\ncallers: ${callers}`, { MY_SAME: 'same' });
  t.same(await faults('{ a: { key: one }, b: { key: same }, c: { key: { env: MY_SAME } } }'), [
    'callers.c.key: is the same as callers.b.key; each needs its own',
  ]);
  t.same(await faults('{ a: { key: same } }', 'callerKey: same'), [
    'callers.a.key: is the same as callerKey; each needs its own',
  ]);
  t.same(await faults('{ a: { key: k, routes: [/api, /api/x, /apl] } }'), [
    'callers.a.routes: /api/x is not the prefix of a route (there are /api, /api/admin); did you mean /api?',
    'callers.a.routes: /apl is not the prefix of a route (there are /api, /api/admin); did you mean /api?',
  ]);
  t.match(await faults('{ a: { key: k, routes: [] } }'), [/^callers\.a\.routes: needs at least one prefix/]);
  t.match(await faults('{ a: { key: k, route: [/api] } }'), [
    /route: unknown key; did you mean callers\.a\.routes/,
  ]);
  t.match(await faults('{ a: { routes: [/api] }, b: , c: { key: "" } }'), [
    /^callers\.a\.key: is missing/,
    /^callers\.b\.key: is missing/,
    /^callers\.c\.key: is empty/,
  ]);
  t.match(await faults('{ "a b": { key: k }, a: text }'), [
    /^callers\.a: must be a map/,
    /^callers\.a b: must have a name/,
  ]);
  t.match(await faults('{ a: { key: "k\\n" } }'), [/^callers\.a\.key: cannot be sent in a header/]);
  t.match(await faults('[a]'), [/^callers: must be a map/]);
  for (const bad of [
    '{ a: { hunter2: } }',
    '{ a: { key: { hunter2 } } }',
    '{ a: { key: hunter2, hunter2 } }',
  ]) {
    t.notMatch((await faults(bad)).join(), /hunter2/);
  }
});

t.test('callers alone require a key, and so allow an address beyond loopback', async (t) => {
  const remote = 'listen: 0.0.0.0:9180';
  t.match(await faultsOfYaml(`${TOKEN}${remote}`), [/^listen: .*reached from other machines/]);
  t.same(await faultsOfYaml(`${CALLERS}${remote}`, ENV, FILES), []);
});

t.test('with BEARERD_ROUTES a caller names the routes of this variable', async (t) => {
  const env = { ...ENV, BEARERD_ROUTES: '/other=token' };
  t.match(await faultsOfYaml(CALLERS, env, FILES), [
    /agent\.routes: \/api is not/,
    /build\.routes: \/api is not/,
    /build\.routes: \/api\/admin is not/,
  ]);
});
