import t from 'tap';
import { fieldOf } from '../../../src/base/fields.ts';
import { valueWithout, withoutCredential } from '../../../src/forward/headers/returned-credential.ts';
import { growthOf } from '../../support/proportion.ts';
import { IS_WHOLE } from '../../support/share.ts';

const once = encodeURIComponent;
const twice = (text: string) => once(once(text));

t.test('a URL in a header comes back without the parameter, and otherwise unchanged', async (t) => {
  for (const [given, left] of [
    ['/b?api_key=K', '/b'],
    ['https://x.example/b?a=1&api%5fkey=K&c#api_key=1', 'https://x.example/b?a=1&c#api_key=1'],
    ['/b?a=1&&x', '/b?a=1&&x'],
    ['/b?', '/b?'],
    ['/b?a=1;api_key=K', '/b?a=1'],
    ['/b?a=a b"<>&api_key=K;c', '/b?a=a b"<>&c'],
    ['/app/#/b?api_key=K', '/app/#/b'],
    ['/b?a=1?api_key=K&b', '/b?a=1?b'],
    ['/b?api_key=K?c&b', '/b?b'],
    [`/login?next=${once('/b?a=1&api_key=K&c=%26')}&x`, `/login?next=${once('/b?a=1&c=%26')}&x`],
    [`/login?next=${twice('/b?api_key=K&c=a b')}`, `/login?next=${twice('/b?c=a b')}`],
    [`/login?next=/b%3fapi_key=K&x`, '/login?next=/b&x'],
    [`/login?next=${once('/b?a=1&c')}`, `/login?next=${once('/b?a=1&c')}`],
  ] as const) {
    t.equal(valueWithout('Location', given, 'api_key'), left);
    t.equal(valueWithout('content-location', given, 'api_key'), left);
    t.equal(valueWithout('Refresh', `5; url=${given}`, 'api_key'), `5; url=${left}`);
  }
});

t.test('every URL in any other header loses the parameter, and the text around it stays', async (t) => {
  for (const [given, left] of [
    ['https://a/?api_key=K, https://b/?x=1,2&api_key=K', 'https://a/, https://b/?x=1,2'],
    ['"/b?api_key=K"; x', '"/b"; x'],
    ['see (/b?x&api_key=K), or not', 'see (/b?x), or not'],
    ['last=/b?a=1&api_key=K; Path=/; HttpOnly', 'last=/b?a=1; Path=/; HttpOnly'],
    [`last=${once('/b?api_key=K')}; Path=/`, `last=${once('/b')}; Path=/`],
    ['a;api_key=K', 'a;api_key=K'],
    ['text/html;api_key=K', 'text/html;api_key=K'],
    ['is it? yes;no', 'is it? yes;no'],
  ] as const)
    t.equal(valueWithout('X-Any', given, 'api_key'), left);
  t.equal(
    valueWithout('Link', '<https://a/b?x=a b,&api_key=K>; rel="next", </?api_key=K#f>', 'api_key'),
    '<https://a/b?x=a b,>; rel="next", </#f>',
  );
});

t.test('the parameter goes, whatever characters without escapes stand before it in the query', async (t) => {
  for (const byte of ['"', '<', '>', '\xa0', "')", '\xc3\xa0', '"?b', '>"<']) {
    const [given, left] = [`/x?a=${byte}&api_key=K`, `/x?a=${byte}`];
    for (const [header, before, after] of [
      ['Link', '<', '>; rel=next'],
      ['Link', '</?b>; title="is it?", <', '>; rel=next, </c>'],
      ['Link', '</?b>; anchor="', '"; rel=next'],
      ['X-Url', '', ''],
      ['X-Url', '"', '"; x'],
      ['Set-Cookie', 'last=', '; Path=/; HttpOnly'],
      ['Location', '', '#f'],
      ['Content-Location', '', ''],
      ['Refresh', '3; url=', ''],
    ] as const) {
      t.equal(valueWithout(header, before + given + after, 'api_key'), before + left + after);
      const second = `${before}${given}&b=1${after}`;
      t.equal(valueWithout(header, second, 'api_key'), `${before}${left}&b=1${after}`);
    }
  }
  for (const [given, left] of [
    [`last=${once('/x?a=')}\xa0${once('&api_key=K')}; Path=/`, `last=${once('/x?a=')}%A0; Path=/`],
    [`last=${once('/x?a=')}"${once('&api_key=K&b')}; Path=/`, `last=${once('/x?a=')}"${once('&b')}; Path=/`],
    [`next=${twice('/x?a=')}<${twice('&api_key=K')}`, `next=${twice('/x?a=')}<`],
  ] as const)
    t.equal(valueWithout('Set-Cookie', given, 'api_key'), left);
});

/** Of a value, in characters. */
const SIZE = IS_WHOLE ? 5_000 : 1_000;

t.test('the time to read a value is proportional to its length, whatever it holds', async (t) => {
  for (const part of [
    '?',
    '?,',
    ',',
    ';',
    '%25',
    '%3f',
    '%253f',
    '?a=',
    '?a&',
    "');",
    '&',
    '&k',
    '&k=',
    '%26',
    '<',
    '<?',
    '"',
  ]) {
    for (const name of ['Location', 'Link', 'X']) {
      const reading = (size: number) => () => valueWithout(name, `?${part.repeat(size / part.length)}`, 'k');
      const { isProportional, words } = growthOf(reading, SIZE);
      t.ok(isProportional, `${name}, ${part}: ${words}`);
    }
  }
});

t.test('a Set-Cookie of our own cookie is removed, and others stay', async (t) => {
  const pairs = [
    'Set-Cookie',
    'sid=K; Path=/',
    'set-cookie',
    'Sid=1',
    'SET-COOKIE',
    ' sid =K',
    'X',
    'sid=1?sid=K',
  ];
  const fields = pairs.filter((_, i) => i % 2 === 0).map(fieldOf);
  t.same(withoutCredential({ pairs, fields }, { in: 'cookie', name: 'sid' }), {
    pairs: ['set-cookie', 'Sid=1', 'X', 'sid=1?sid=K'],
    fields: [fields[1], fields[3]],
  });
});
