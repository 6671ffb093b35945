import t from 'tap';
import { clientLinks } from '../../../src/forward/headers/link.ts';
import { ORIGIN, OTHER_ORIGIN, tableOf } from '../../routes/table.ts';
import { fc } from '../../support/properties.ts';
import { growthOf } from '../../support/proportion.ts';

// RFC 8288: URLs of the upstream in a `Link` are mapped to our paths; all other bytes stay.

const { routes } = tableOf(
  { '/companies': { credential: 'token', rewrite: '/data/companies' }, '/': 'token' },
  { basePath: '/v1' },
);
const route = routes.find(({ prefix }) => prefix === '/companies')!;
const links = (value: string) => clientLinks(value, route);

t.test('targets on the upstream are mapped like a Location, and others stay', async (t) => {
  for (const [target, mapped] of [
    [`${ORIGIN}/v1/data/companies?page=2`, '/companies?page=2'],
    [`${ORIGIN.toUpperCase()}/v1/data/companies#x`, '/companies#x'],
    ['//api.example.com/v1/x', '/x'],
    ['/v1/data/companies/1', '/companies/1'],
    [`${ORIGIN}/v1/x,y;z="q"`, '/x,y;z="q"'],
    [`${ORIGIN}/v1`, '/'],
    [`${ORIGIN}/other`, `${ORIGIN}/other`],
    [`${ORIGIN}/v1//evil.test/x`, `${ORIGIN}/v1//evil.test/x`],
    [`https://u@api.example.com/v1/x`, 'https://u@api.example.com/v1/x'],
    [`${OTHER_ORIGIN}/v1/data/companies`, `${OTHER_ORIGIN}/v1/data/companies`],
    ['?page=2', '?page=2'],
    ['next', 'next'],
    ['', ''],
  ] as const)
    t.equal(links(`<${target}>; rel="next"`), `<${mapped}>; rel="next"`);
});

t.test('every link of a value is mapped, whatever its parameters hold', async (t) => {
  const next = `<${ORIGIN}/v1/n>`;
  for (const [given, mapped] of [
    [`${next}; rel=next,${next};rel=last`, '</n>; rel=next,</n>;rel=last'],
    [`${next} , <https://x.test/>;a , ${next}`, '</n> , <https://x.test/>;a , </n>'],
    [`,, ${next},,\t${next} , `, ',, </n>,,\t</n> , '],
    [
      `${next}; title="a, <${ORIGIN}/v1/n>; \\" b"; rel=x, ${next}`,
      `</n>; title="a, <${ORIGIN}/v1/n>; \\" b"; rel=x, </n>`,
    ],
    [
      `${next};;  ; rel = "next last" ;title*=UTF-8''%e2;x=a/b`,
      `</n>;;  ; rel = "next last" ;title*=UTF-8''%e2;x=a/b`,
    ],
    [`${next};title="\xe9"`, '</n>;title="\xe9"'],
  ] as const)
    t.equal(links(given), mapped);
});

t.test('the anchor of a link is mapped, too', async (t) => {
  const next = `<${ORIGIN}/v1/n>`;
  t.equal(links(`${next}; anchor="${ORIGIN}/v1/data/companies"; rel=x`), '</n>; anchor="/companies"; rel=x');
  t.equal(links(`${next};ANCHOR = "/v1/a"`), '</n>;ANCHOR = "/a"');
  t.equal(
    links(`<x>; anchor="${OTHER_ORIGIN}/v1/a"; anchor=#f`),
    `<x>; anchor="${OTHER_ORIGIN}/v1/a"; anchor=#f`,
  );
  t.equal(links('<x>; anchor=""; anchor'), '<x>; anchor=""; anchor');
  t.equal(links(`<x>; title="${ORIGIN}/v1/a"`), `<x>; title="${ORIGIN}/v1/a"`);
});

t.test('a value that is no list of links stays as it is, even the good links in it', async (t) => {
  const next = `<${ORIGIN}/v1/n>`;
  for (const value of [
    '',
    ' ',
    ',',
    `${ORIGIN}/v1/n`,
    `x ${next}`,
    `${next} x`,
    `${next} ${next}`,
    `${next}, x`,
    `${next}; rel="next`,
    `${next}; rel="next"x`,
    `${next}; rel="next\\"`,
    `${next}; rel=a"b"`,
    `${next}; =x`,
    `${next}, <${ORIGIN}/v1/n`,
    `<<${ORIGIN}/v1/n>>`,
  ])
    t.equal(links(value), value);
});

t.test('a value without a URL of the upstream keeps every byte', async () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '"',
    '\\',
    ',',
    ';',
    '=',
    ' ',
    'rel',
    'anchor',
    'x',
    '?',
    '#',
    '\xe9',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => links(pieces.join('')) === pieces.join('')),
    { numRuns: 3_000 },
  );
});

t.test('the time to read a value is proportional to its length, whatever it holds', async (t) => {
  for (const part of [',', ' ', '<', '<>', ';', ';a', ';a=', '; ', '"', ';a="', '\\', ';a="\\"', ' ,'])
    for (const [before, after] of [
      ['', ''],
      ['<>', '!'],
      ['<>;a="', ''],
    ]) {
      const reading = (count: number) => () => links(`${before}${part.repeat(count)}${after}`);
      const { isProportional, words } = growthOf(reading, 2_000);
      t.ok(isProportional, `${before}${part}${after}: ${words}`);
    }
});
