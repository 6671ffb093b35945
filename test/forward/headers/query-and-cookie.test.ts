import t from 'tap';
import {
  cookieValues,
  parameterValues,
  withoutCookie,
  withParameter,
} from '../../../src/forward/headers/query-and-cookie.ts';
import { fc } from '../../support/properties.ts';

t.test("the client's parameter is removed, ours comes last, and every other byte stays", async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['/a', '/a?api_key=K'],
    ['/a?', '/a?api_key=K'],
    ['/a?x=1', '/a?x=1&api_key=K'],
    ['/a?x=%2f&&y&api_key=mine&z=+', '/a?x=%2f&&y&z=+&api_key=K'],
    ['/a?api_key=mine', '/a?api_key=K'],
    ['/a?api_key', '/a?api_key=K'],
    ['/a?api%5Fkey=mine&%61pi_key=mine&api%5fke%79', '/a?api_key=K'],
    ['/a?x=1;api_key=mine&y=1;2', '/a?x=1&y=1;2&api_key=K'],
    ['/a?api_key=mine;x=1', '/a?x=1&api_key=K'],
    ['/a?x=api_key=mine&Api_Key=other&api_key2=b', '/a?x=api_key=mine&Api_Key=other&api_key2=b&api_key=K'],
    ['/a?x=%zz&%=1', '/a?x=%zz&%=1&api_key=K'],
    ['/a?x=/?api_key=mine', '/a?x=/?api_key=mine&api_key=K'],
    ['/a?x=\xe9', '/a?x=\xe9&api_key=K'],
  ];
  for (const [target, sent] of cases) t.equal(withParameter(target, 'api_key', 'K'), sent, target);
});

t.test('a parameter name with a blank, or beyond ASCII, is found in every spelling', async (t) => {
  t.equal(withParameter('/?my+key=1&my%20key=2', 'my key', 'K'), '/?my%20key=K');
  t.equal(withParameter('/?cl%C3%A9=1&cl%c3%A9=2', 'clé', 'K'), '/?cl%C3%A9=K');
});

t.test('a server reads the value from the query as it was configured, whatever it holds', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string(), (value, other) => {
      const bytes = Buffer.from(value, 'utf8').toString('latin1');
      const target = withParameter(`/a?o=${encodeURIComponent(other)}&k=mine`, 'k', bytes);
      const { searchParams } = new URL(target, 'http://x');
      return (
        searchParams.getAll('k').length === 1 &&
        searchParams.get('k') === value &&
        searchParams.get('o') === other &&
        !/[#\s;]/.test(target)
      );
    }),
  );
});

t.test('cookies of exactly that name are removed, and all other bytes stay', async (t) => {
  for (const [given, left] of [
    ['sid=1', ''],
    ['a=1; sid=2; b=3', 'a=1; b=3'],
    ['sid=1; a=1', 'a=1'],
    ['a=1;sid=2;sid;  sid =3', 'a=1'],
    ['SID=1; sid2=2; a=sid', 'SID=1; sid2=2; a=sid'],
    ['a="x;y"; b', 'a="x;y"; b'],
  ] as const) {
    t.equal(withoutCookie(given, 'sid'), left, given);
    t.equal(cookieValues(given, 'sid').length > 0, given !== left && !given.startsWith('SID'), given);
  }
});

t.test('the values of a parameter are found, also an empty one, but not in a path', async (t) => {
  t.same(parameterValues('/a?api%5Fkey&x;api_key=a%3Db&api_key==c', 'api_key'), ['', 'a=b', '=c']);
  t.same(parameterValues('/api_key?x=api_key', 'api_key'), []);
});

t.test('the values of a cookie are found, also an empty one', async (t) => {
  t.same(cookieValues('sid=1; sid; a=sid; sid=b=c;sid=', 'sid'), ['1', '', 'b=c', '']);
  t.same(cookieValues('', 'sid'), []);
});
