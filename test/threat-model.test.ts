import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { proof } from './support/proof.ts';

// docs/proofs.md names the tests that prove the claims of SECURITY.md. These tests check that they exist and run.
const at = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const rows = readFileSync(at('docs/proofs.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1);

t.test('a title of a skipped test, or in a comment, counts as no proof', async (t) => {
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

t.test('each line of the threat model names an existing test', async (t) => {
  t.ok(rows.length > 40, `${rows.length} lines`);
  for (const row of rows) {
    const [, file = '', title = ''] = /\| `(test\/[^`]+)` “([^”]+)” \|$/.exec(row) ?? [];
    const text = file !== '' && existsSync(at(file)) ? readFileSync(at(file), 'utf8') : '';
    const found = title === '' ? 'never' : proof(title, text);
    if (found === 'skipped here') t.skip(row, async () => {});
    else t.equal(found, 'runs', row);
  }
});
