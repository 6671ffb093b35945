import t from 'tap';
import { randomFrom } from '../support/random.ts';
import { share } from '../support/share.ts';
import { SESSION_PATH, tablesOf } from './table.ts';
import { MODELS } from './upstream-models.ts';

const SPELLINGS = Number(process.env.BEARERD_TEST_SPELLINGS ?? share(100_000));
const SEED = Number(process.env.BEARERD_TEST_SEED ?? 20_260_102);

/** Routes whose credential changes at nearly every segment of a path. */
const RULES = {
  '/': 'token',
  '/api': 'apiKey',
  '/api/admin': 'deny',
  '/api/admin/open': 'reports',
  '/pub': 'none',
  '/Data/v1': 'reports',
  '/a%20b': 'none',
};
/** The routes of another host, with the same names for other things. */
const HOST = 'orders.localhost';
const RULES_OF_HOST = {
  '/api': 'deny',
  '/api/admin': 'reports',
  '/pub/x': 'deny',
  '/Data': 'token',
  '/x': 'none',
  '/a%20b/x': 'apiKey',
};
const ofHost = (rules: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(rules).map(([prefix, rule]) => [`//${HOST}${prefix}`, rule]));
const tables = tablesOf({ ...RULES, ...ofHost(RULES_OF_HOST) });
const table = tables.at(undefined);
const longestFirst = (rules: Readonly<Record<string, string>>) =>
  Object.keys(rules).sort((a, b) => b.length - a.length);
const TABLES = [
  { table, prefixes: longestFirst(RULES) },
  { table: tables.at(HOST), prefixes: longestFirst(RULES_OF_HOST) },
];

const WORDS = [
  'api',
  'admin',
  'open',
  'pub',
  'Data',
  'v1',
  'a b',
  'identity',
  'session',
  'x',
  'evil.example',
  '',
];
const WHOLE = [
  SESSION_PATH,
  '/api/admin/x',
  '/api/admin/open',
  '/api/x',
  '/pub/x',
  '/Data/v1/x',
  '/a b/x',
  '/x/y',
];
const SEPARATORS = [
  '/',
  '/',
  '/',
  '//',
  '/;/',
  ';v=1/',
  '%2f',
  '%2F',
  '%5c',
  '%252f',
  '/./',
  '/../',
  '/..;/',
  '%00',
];
const ODDITIES = [
  '',
  ';x=1',
  '.',
  '..',
  '%20',
  '%2e',
  '%2e%2e',
  '%3b',
  '%3f',
  '%23',
  '%ff',
  '%25',
  '%c0%ae',
  ';%2f',
  '+',
  '~',
  '\\',
  ' ',
  '%',
  '%ef%bc%8e',
];

/** A path made of names that routes have, spelt as an attacker would. */
function spell(random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const odds = random() * 0.25;
  const words =
    random() < 0.5
      ? pick(WHOLE).split('/').slice(1)
      : Array.from({ length: 1 + random() * 4 }, () => pick(WORDS));
  let path = '';
  for (const word of words) {
    path += random() < odds ? pick(SEPARATORS) : '/';
    for (const character of word)
      path += random() < odds ? respell(character, random) : character === ' ' ? '%20' : character;
    if (random() < odds) path += pick(ODDITIES);
  }
  return path.startsWith('/') ? path : `/${path}`;
}

function respell(character: string, random: () => number): string {
  const hex = character.charCodeAt(0).toString(16);
  const escaped = random() < 0.5 ? `%${hex}` : `%${hex.toUpperCase()}`;
  const way = random();
  if (way < 0.4) return escaped;
  if (way < 0.55) return `%25${hex}`;
  if (way < 0.6) return `%2525${hex}`;
  return character === ' ' ? escaped : random() < 0.5 ? character.toUpperCase() : character.toLowerCase();
}

/** The prefix that matches a reading, or `session`. */
function ruleOf(prefixes: readonly string[], reading: string, foldCase: boolean): string | undefined {
  if (reading.toLowerCase().startsWith(SESSION_PATH)) return 'session';
  return prefixes.find((prefix) => {
    const plain = decodeURIComponent(foldCase ? prefix.toLowerCase() : prefix);
    return plain === '/' || reading === plain || reading.startsWith(`${plain}/`);
  });
}

t.test('no upstream reads an accepted path as a path of another route, in either table', async (t) => {
  t.comment(`BEARERD_TEST_SEED=${SEED}`);
  const random = randomFrom(SEED);
  const faults: string[] = [];
  const passed = [0, 0];
  let unusual = 0;
  for (let i = 0; i < SPELLINGS; i++) {
    const path = spell(random);
    for (const [which, { table, prefixes }] of TABLES.entries()) {
      const match = table.match('GET', path);
      if (!match.ok) continue;
      passed[which]!++;
      for (const [name, model] of Object.entries(MODELS)) {
        const reading = model(path);
        if (reading === undefined) continue;
        if (reading !== path) unusual++;
        const literal = name === 'verbatim';
        const rule = literal
          ? ruleOf(prefixes, decodeSpace(reading), false)
          : ruleOf(prefixes, reading, name === 'iis');
        if (rule !== match.route.prefix)
          faults.push(`${path}: ${match.route.name}; ${name} reads ${reading}: ${rule}`);
      }
    }
  }
  t.same(faults.slice(0, 20), [], `seed ${SEED}: ${faults.length} faults`);
  t.ok(passed[0]! > SPELLINGS / 10, `${passed[0]} of ${SPELLINGS} spellings were let through`);
  t.ok(passed[1]! > SPELLINGS / 25, `${passed[1]} of them for the host`);
  t.ok(unusual > SPELLINGS / 10, `${unusual} times a model read something else than was sent`);
});

/** The only prefix with an escape is matched in its escaped form. */
function decodeSpace(path: string): string {
  return path.replace(/^\/a%20b(?=\/|$)/, '/a b');
}

t.test('the spellings that people use are accepted', async (t) => {
  const cases = [
    '/api/x%2Fy',
    '/api/x;v=1',
    '/x//y',
    '/x%5Cy',
    '/api/100%25',
    '/api/%E6%97%A5',
    '/api/a+b',
    '/x%3Fy',
  ];
  for (const path of cases) t.ok(table.match('GET', path).ok, path);
});
