import t from 'tap';
import * as misreadings from '../../src/routes/misreadings.ts';
import { readPath, splitTarget } from '../../src/routes/path.ts';
import { growthOf } from '../support/proportion.ts';

const isRefused = (path: string) => !readPath(path).ok;
const readingsOf = (path: string) => {
  const reading = readPath(path);
  return reading.ok ? reading.readings : [];
};

t.test('an ordinary path has one reading', async (t) => {
  for (const path of [
    '/',
    '/api',
    '/api/',
    '/api/people/v1/o_1/find',
    '/a-b_c~d/1.2.3/x.json',
    "/@2x:~!$'()*,=&+",
  ]) {
    t.same(readingsOf(path), [path], path);
  }
  t.same(readingsOf('/Api/V1'), ['/api/v1'], 'in lower case');
});

t.test('every legal spelling is accepted', async (t) => {
  const legal = [
    // Reserved, unreserved, doubly escaped and escaped non-ASCII characters.
    '/a/x%2Fy',
    '/a/%2f',
    '/q/%2F/guest',
    "/%5Bid%5D/a%2520b/c%20d/@2x:~!$'()*,",
    '/a%5Cb',
    '/%ff',
    '/caf%E9',
    '/caf%C3%A9',
    '/%E6%97%A5/%e6%97%a5',
    '/%C0A/%C1b/%FCber/voil%E0Ab',
    '/a+b/+',
    '/x;v=1',
    '/x;v=1;w=2/y;z',
    '/;x',
    '/a%3Bb',
    '/a%3Fb%23c',
    '/%41%62c',
    '/100%25/x%2525y',
    // RFC 3986 §3.3: empty segments, and dots that are not a dot segment.
    '//',
    '//host/x',
    '/a//b///c',
    '/...',
    '/.../x',
    '/.well-known/x',
    '/..a/b..',
    '/a../..b',
    '/a.b./c',
    '/.a%2F',
    '/a%2E',
    '/a%2Eb',
    '/%2Ehidden',
    '/%20.hidden',
    '/x%20/%20',
    // Not allowed by RFC 3986, but every server reads them in the same way.
    '/"<>^`{|}[]',
    '/https://example.com/x',
    '/%F0%9F%98%80',
    '/%80%9f%c2%85',
    "/all%20of%20it/%2F%5C%ff+;v=1//%C3%A9%2520%3Fq'",
  ];
  for (const path of legal) t.ok(readPath(path).ok, path);
});

const DOTS = [
  '.',
  '%2e',
  '%2E',
  '%252e',
  '%25252E',
  '%2525252e',
  '%25%32%65',
  '%c0%ae',
  '%C0%2e',
  '%e0%80%ae',
  '%f0%80%80%ae',
  '%f8%80%80%80%ae',
  '%fc%80%80%80%80%ae',
  '%25c0%25ae',
  '%ef%bc%8e',
  '%25ef%25bc%258e',
  '%e2%80%a4',
  '%25u002e',
  '%25uff0e',
];
const SLASHES = [
  '/',
  '%2f',
  '%252F',
  '%5c',
  '%255C',
  '%c0%af',
  '%c1%9c',
  '%ef%bc%8f',
  '%ef%bc%bc',
  '//',
  '/;/',
];
const TAILS = ['', ';', ';x=1', '%3b', '%3Bx', '%253b', '%20', '%20%20', '%3F', '%23x', '%ff'];

t.test('a dot segment is refused in any spelling', async (t) => {
  const passed: string[] = [];
  let count = 0;
  for (const first of DOTS) {
    for (const second of ['', '.', first]) {
      for (const tail of TAILS) {
        for (const slash of SLASHES) {
          for (const path of [`/a${slash}${first}${second}${tail}`, `/${first}${second}${tail}${slash}b`]) {
            count++;
            if (!isRefused(path)) passed.push(path);
          }
        }
      }
    }
  }
  t.same(passed, [], `none of ${count} passed`);
  for (const path of [
    '/.',
    '/..',
    '/a/..',
    '/../a',
    '/a/./b',
    '/pub/../adm',
    '/a/..;/b',
    '/%e2%80%a5/x',
    '/%20../x',
    '/a/%2520%20./x',
    '/a%2F%20..',
  ]) {
    t.ok(isRefused(path), path);
  }
});

t.test('a control character is refused, raw or escaped', async (t) => {
  for (const code of [...Array(0x20).keys(), 0x7f]) {
    const hex = code.toString(16).padStart(2, '0');
    t.ok(isRefused(`/a${String.fromCharCode(code)}b`), `raw ${hex}`);
    for (const escaped of [`%${hex}`, `%25${hex}`]) t.ok(isRefused(`/a${escaped}b`), escaped);
  }
  t.ok(isRefused('/a%c0%80b'), 'an overlong NUL');
});

t.test('a path with a forbidden character is refused', async (t) => {
  for (const path of ['/a b', '/a\\b', '/a#b', '/a\x80b', '/a\xe5b', '/范', '\\a', 'a', '', '*', '?a']) {
    t.ok(isRefused(path), JSON.stringify(path));
  }
  for (const path of ['/%', '/%2', '/%zz', '/%2g', '/%%32%65', '/a%/b', '/%u002e', '/%-1', '/% 1']) {
    t.ok(isRefused(path), `${path} has a malformed escape`);
  }
});

t.test('the readings of a path include that of each kind of server', async (t) => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    '/a%70i/X': ['/api/x'],
    '/a%2570i': ['/a%70i', '/api'],
    '/api%2Fx': ['/api/x', '/api%2fx'],
    '/a%2F%70i': ['/a%2fpi', '/a/pi'],
    '/api;v=1/x;y': ['/api/x'],
    '/api%3Bv=1/x': ['/api/x'],
    '/v1;%2fx/%61dmin': ['/v1/admin', '/v1/x/admin'],
    '//api///x': ['/api/x', '/x'],
    '/api%5Cx': ['/api/x'],
    '/api./x%20': ['/api/x'],
    '/%20api/%2520%20x': ['/api/x'],
    '/%C2%A0api': ['/api'],
    '/api%3Fx': ['/api'],
    '/api%23x': ['/api'],
    '/api.%3Fx': ['/api'],
    '/%ef%bd%81pi': ['/api'],
    '/%c1%a1pi': ['/api'],
    '/%E2%84%AAey': ['/key'],
    '/se%C5%BF%C5%BFion': ['/session'],
    '/sess%C4%B1on': ['/session'],
    '/sess%C4%B0on': ['/session'],
    '/se%C3%9Fion': ['/session'],
    '/sess%C2%ADion': ['/session'],
    '/sess%ffion': ['/session'],
    '/%EF%BC%8561pi': ['/api'],
  };
  for (const [path, expected] of Object.entries(cases)) {
    for (const reading of expected) t.ok(readingsOf(path).includes(reading), `${path} may be ${reading}`);
  }
});

t.test('a path with a thousand readings is refused quickly', async (t) => {
  t.ok(isRefused(`/%${'25'.repeat(5_000)}41`), 'thousands of nested escapes');
  t.ok(
    isRefused('/%20.%2Fa;%3bb%5c%255c//%ef%bc%8fx.%3Fy%c1%9c'.repeat(200)),
    'many kinds of spelling at once',
  );
});

t.test('the time to read a path is proportional to its length', async (t) => {
  const bits: Readonly<Record<string, (length: number) => string>> = {
    dots: (n) => `/${'.'.repeat(n)}x`,
    'dots and blanks': (n) => `/a${'%20.'.repeat(n / 4)}x`,
    slashes: (n) => '/'.repeat(n),
    parameters: (n) => `/${';'.repeat(n)}`,
    'short segments': (n) => '/a.'.repeat(n / 3),
    'a plain path that ends in two slashes': (n) => `${'/abc'.repeat(n / 4)}//`,
    escapes: (n) => `/${'%25'.repeat(n / 3)}41`,
    'nested escapes': (n) => `/%${'25'.repeat(n / 2)}41`,
    backslashes: (n) => `/${'%5C'.repeat(n / 3)}`,
    'overlong forms': (n) => `/${'%c1%c1'.repeat(n / 6)}`,
    'full-width dots': (n) => `/${'%ef%bc%8e'.repeat(n / 9)}a`,
    'a mixture': (n) => '/a;b=%2F%C3%89//..x%5C'.repeat(n / 22),
  };
  for (const [name, make] of Object.entries(bits)) {
    const reading = (length: number) => {
      const path = make(length);
      return () => readPath(path);
    };
    const { isProportional, words } = growthOf(reading, 1_500);
    t.ok(isProportional, `${name}: ${words}`);
  }
});

t.test('a path of 8 KB is refused before its readings have more than twenty times its length', async (t) => {
  let characters = 0;
  const counted: typeof misreadings = {
    ...misreadings,
    misreadingsOf(reading) {
      characters += reading.length;
      return misreadings.misreadingsOf(reading);
    },
  };
  const { readPath } = await t.mockImport<typeof import('../../src/routes/path.ts')>(
    '../../src/routes/path.ts',
    { '../../src/routes/misreadings.ts': counted },
  );
  for (const [head, unit] of [
    ['%252F%25u0041', ';%2F/%3F%25u0041'],
    ['%5C%EF%B7%BA', '25%20//%25u0041'],
    ['', '//%ff%C1%25u0041'],
  ]) {
    const path = `/${head}${unit!.repeat(Math.ceil(8_192 / unit!.length))}`;
    characters = 0;
    t.same(readPath(path), { ok: false });
    // Without the limit for long paths it was two hundred times.
    const times = characters / path.length;
    t.ok(times > 1 && times <= 20, `${path.slice(0, 40)}: ${times.toFixed(1)} times its length`);
  }
});

t.test('a target is split into path and query, byte for byte', async (t) => {
  const cases: Readonly<Record<string, readonly [path: string, query: string, authority?: string]>> = {
    '/p': ['/p', ''],
    '/p?': ['/p', '?'],
    '/p??': ['/p', '??'],
    '/p?a&a=1&a=2&&': ['/p', '?a&a=1&a=2&&'],
    '/p?x=%': ['/p', '?x=%'],
    '/p?a=b?c': ['/p', '?a=b?c'],
    '/p?/../x\\y': ['/p', '?/../x\\y'],
    '/%5Bid%5D/a%2520b?c%20d': ['/%5Bid%5D/a%2520b', '?c%20d'],
    '//host:1/x?y': ['//host:1/x', '?y'],
    'http://host/p?q': ['/p', '?q', 'host'],
    'HTTPS://Host:8443//p': ['//p', '', 'Host:8443'],
    'http://host': ['/', '', 'host'],
    'http://host?q': ['/', '?q', 'host'],
    'http://user@host/p': ['/p', '', 'user@host'],
    'http:///p': ['/p', '', ''],
  };
  for (const [target, [path, query, authority]] of Object.entries(cases)) {
    t.same(splitTarget(target), { path, query, authority }, target);
  }
});

t.test('a target of another form, or with a fragment, is not accepted', async (t) => {
  for (const target of [
    '*',
    '',
    'host:443',
    'ftp://host/x',
    'http:/p',
    'p',
    '?q',
    '/p#f',
    '/p?q#f',
    'http://h#f',
  ]) {
    t.equal(splitTarget(target), undefined, target);
  }
});
