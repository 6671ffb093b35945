import t from 'tap';
import { clientLinks } from '../../../src/forward/headers/link.ts';
import { clientLocation } from '../../../src/forward/headers/location.ts';
import { ORIGIN, OTHER_ORIGIN, tableOf, tablesOf } from '../../routes/table.ts';

// A redirect is mapped to a path only if a client that follows it reaches what the upstream meant.

const elsewhere = { credential: 'reports', upstream: { origin: OTHER_ORIGIN, basePath: '' } };

t.test('a Location under the prefix of a route to another server stays absolute', async (t) => {
  const { routes } = tableOf({ '/': 'token', '/admin': elsewhere, '/closed': 'deny', '/api': 'token' });
  const [root, admin] = routes as [(typeof routes)[0], (typeof routes)[0]];
  for (const [value, mapped] of [
    [`${ORIGIN}/admin/secret?a#b`, `${ORIGIN}/admin/secret?a#b`],
    [`${ORIGIN}/admin`, `${ORIGIN}/admin`],
    ['/admin/secret', `${ORIGIN}/admin/secret`],
    [`${ORIGIN}/x/../admin/secret`, `${ORIGIN}/x/../admin/secret`],
    [`${ORIGIN}/x/%2E./admin/secret`, `${ORIGIN}/x/%2E./admin/secret`],
    [`${ORIGIN}/x\\..\\admin`, `${ORIGIN}/x\\..\\admin`],
    [`${ORIGIN}/adm\tin/secret`, `${ORIGIN}/adm\tin/secret`],
    [`${ORIGIN}/admins`, '/admins'],
    [`${ORIGIN}/x?/admin`, '/x?/admin'],
    [`${ORIGIN}/x/./y`, '/x/./y'],
    [`${ORIGIN}/api/x`, '/api/x'],
    [ORIGIN, '/'],
    [`${ORIGIN}/closed/x`, '/closed/x'],
  ] as const) {
    t.equal(clientLocation(value, root), mapped, value);
    t.equal(clientLinks(`<${value}>; rel=next`, root), `<${mapped}>; rel=next`, value);
  }
  t.equal(clientLocation(`${OTHER_ORIGIN}/admin/x`, admin), '/admin/x');
  t.equal(clientLocation(`${OTHER_ORIGIN}/x`, admin), `${OTHER_ORIGIN}/x`, '/ goes to another server');
});

t.test('a Location that the prefix would lead to another path is mapped by another route', async (t) => {
  const rules = {
    '/a': { credential: 'token', rewrite: '/' },
    '/a/b': { credential: 'token', rewrite: '/zzz' },
  };
  const { routes } = tableOf(rules);
  const [short, long] = routes as [(typeof routes)[0], (typeof routes)[0]];
  for (const [value, mapped] of [
    [`${ORIGIN}/b/x`, `${ORIGIN}/b/x`],
    ['/b', `${ORIGIN}/b`],
    [`${ORIGIN}/c/x`, '/a/c/x'],
    [`${ORIGIN}/zzz/x`, '/a/zzz/x'],
  ] as const)
    t.equal(clientLocation(value, short), mapped, value);
  t.equal(clientLocation(`${ORIGIN}/zzz/x`, long), '/a/b/x');

  const more = tableOf({ ...rules, '/c': { credential: 'token', rewrite: '/b' } }).routes;
  t.equal(clientLocation(`${ORIGIN}/b/x`, more[0]!), '/c/x');
  const same = tableOf({ ...rules, '/a/b': 'token', '/': 'none' }).routes;
  t.equal(clientLocation(`${ORIGIN}/b/x`, same[0]!), '/b/x');
});

t.test('a path that no route leads to is not mapped into the prefix of another server', async (t) => {
  const { routes } = tableOf({ '/api': { credential: 'token', rewrite: '/v2' }, '/app': elsewhere });
  const [api] = routes as [(typeof routes)[0]];
  t.equal(clientLocation(`${ORIGIN}/app/x`, api), `${ORIGIN}/app/x`);
  t.equal(clientLocation(`${ORIGIN}/other`, api), '/other');
  t.equal(clientLocation(`${ORIGIN}/api/x`, api), '/api/x', 'the upstream may know its prefix');
});

t.test('where a Location leads is judged by the routes of its host and caller', async (t) => {
  const tables = tablesOf({ '/': 'token', '/admin': elsewhere, '//o.localhost/': 'token' });
  const [root] = tables.at(undefined).routes;
  const [other] = tables.at('o.localhost').routes;
  t.equal(clientLocation(`${ORIGIN}/admin/x`, other!), '/admin/x');
  t.equal(
    clientLocation(`${ORIGIN}/admin/x`, root!, new Set(['/'])),
    '/admin/x',
    'it learns of no other route',
  );
  t.equal(clientLocation(`${ORIGIN}/admin/x`, root!, new Set(['/', '/admin'])), `${ORIGIN}/admin/x`);
});
