import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CALLER } from '../../src/config/sections/callers.ts';
import { CREDENTIAL_TYPES } from '../../src/config/sections/credentials/credential.ts';
import { PLACEMENT } from '../../src/config/sections/credentials/placement.ts';
import { ROUTE } from '../../src/config/sections/routes.ts';
import { SINK_TYPES } from '../../src/config/sections/sinks.ts';

// The sections of the file in docs/configuration.md and the pages that it links to.

const read = (page: string) => readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');

/** The text below a heading, up to the next one of the same rank. */
function below(page: string, heading: string): string {
  const text = read(page);
  const begin = text.indexOf(`\n${heading}\n`);
  const rank = heading.slice(0, heading.indexOf(' ') + 1);
  const end = text.indexOf(`\n${rank}`, begin + heading.length);
  return text.slice(begin, end === -1 ? undefined : end);
}

/** The keys in the first column of the first table whose first column is named `key`. */
function tabled(text: string): string[] {
  const [, table = ''] = /^\| key \|.*\n((?:\|.*\n)+)/m.exec(text) ?? [];
  return table
    .split('\n')
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, key]) => key!));
}

const keysOf = (fields: object) => Object.keys(fields).filter((key) => !(key in PLACEMENT));
const { session, apiKey, basic, oauth2, exec } = CREDENTIAL_TYPES;

const SECTIONS: [page: string, heading: string, fields: string[]][] = [
  ['configuration.md', '## Routes', Object.keys(ROUTE.fields)],
  ['oauth2.md', '## `type: oauth2`', keysOf(oauth2.fields)],
  ['configuration.md', '### `type: exec`', keysOf(exec.fields)],
];

for (const [page, heading, fields] of SECTIONS) {
  t.test(`the docs list exactly the keys of "${heading}"`, async (t) => {
    const text = below(page, heading);
    for (const key of fields) t.match(text, new RegExp(`\`${key}[\`:]`), key);
    const unknown = tabled(text).filter((key) => !fields.includes(key));
    t.same(unknown, []);
    t.ok(tabled(text).length > 1, 'the page has a table');
  });
}

t.test('the docs list exactly the keys of credentials of all types', async (t) => {
  const text = below('configuration.md', '## Credentials');
  const fields = ['type', ...Object.keys({ ...session.fields, ...apiKey.fields, ...basic.fields })];
  for (const key of fields) t.match(text, new RegExp(`\`${key}[\`:]|\\b${key}:`), key);
  t.same(
    tabled(text).filter((key) => !fields.includes(key)),
    [],
  );
  for (const type of Object.keys(CREDENTIAL_TYPES)) t.match(text, `\`${type}\``, type);
});

t.test('the docs have each key of a caller and of a sink', async (t) => {
  for (const key of Object.keys(CALLER.fields))
    t.match(below('callers.md', '## Callers with names'), `${key}:`, key);
  const text = read('sinks.md');
  for (const { fields } of Object.values(SINK_TYPES)) {
    for (const key of Object.keys(fields)) t.match(text, new RegExp(`\\b${key}:|\`${key}\``), key);
  }
});
