import { existsSync, readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { fileURLToPath } from 'node:url';
import t from 'tap';

// SECURITY.md names the tests that prove it. Here it is proved that there are such tests.
const at = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const page = readFileSync(at('SECURITY.md'), 'utf8');
const proofs = page.slice(page.indexOf('### The proofs'), page.indexOf('### What is not defended'));
const rows = proofs
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1);

/** Where a proof can't be had: by the condition as the test's `skip` says it. A row is skipped with its test then. */
const CONDITIONS: Readonly<Record<string, boolean>> = {
  "process.platform !== 'linux'": process.platform !== 'linux',
  "lan === undefined && 'no such address'": !Object.values(networkInterfaces())
    .flat()
    .some((face) => face?.family === 'IPv4' && !face.internal),
};

/** `runs` for a test that runs here; `never` where there is none, or one that is skipped for another reason. */
function proof(title: string, text: string): 'runs' | 'skipped here' | 'never' {
  const start = text.indexOf(title);
  if (start === -1 || !/\bt\.test\(\s*['"`][^'"`\n]*$/.test(text.slice(0, start))) return 'never';
  const options = text.slice(start + title.length, text.indexOf('=>', start));
  if (!/\b(?:skip|todo)\b/.test(options)) return 'runs';
  const skipped = CONDITIONS[/\{ skip: (.+?),? \},/.exec(options.replace(/\s+/g, ' '))?.[1] ?? ''];
  if (skipped === undefined) return 'never';
  return skipped ? 'skipped here' : 'runs';
}

t.test('a test that is skipped, commented on or only mentioned proves nothing', async (t) => {
  t.equal(proof('it holds', "t.test('it holds', async (t) => {});"), 'runs');
  t.equal(proof('it holds, at', 't.test(\n  `it holds, at all`,\n  async (t) => {});'), 'runs');
  const linux = "t.test('it holds', { skip: process.platform !== 'linux' }, async (t) => {});";
  t.equal(proof('it holds', linux), process.platform === 'linux' ? 'runs' : 'skipped here');
  for (const text of [
    "t.test('it holds', { skip: true }, async (t) => {});",
    "t.test('it holds', { skip: 'later' }, async (t) => {});",
    "t.test('it holds', { todo: 'later' }, async (t) => {});",
    "t.skip('it holds', async (t) => {});",
    "// it holds\nt.test('another', async (t) => {});",
    "t.test('another', async (t) => t.pass('it holds'));",
    "t.test('another', async (t) => {});",
  ]) {
    t.equal(proof('it holds', text), 'never', text);
  }
});

t.test('each line of the threat model names a test that there is', async (t) => {
  t.ok(rows.length > 40, `${rows.length} lines`);
  for (const row of rows) {
    const [, file = '', title = ''] = /\| `(test\/[^`]+)` “([^”]+)” \|$/.exec(row) ?? [];
    const text = file !== '' && existsSync(at(file)) ? readFileSync(at(file), 'utf8') : '';
    const found = title === '' ? 'never' : proof(title, text);
    if (found === 'skipped here') t.skip(row, async () => {});
    else t.equal(found, 'runs', row);
  }
});
