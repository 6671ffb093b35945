import { existsSync, readFileSync } from 'node:fs';
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

t.test('each line of the threat model names a test that there is', async (t) => {
  t.ok(rows.length > 40, `${rows.length} lines`);
  for (const row of rows) {
    const [, file = '', title = ''] = /\| `(test\/[^`]+)` “([^”]+)” \|$/.exec(row) ?? [];
    const text = file !== '' && existsSync(at(file)) ? readFileSync(at(file), 'utf8') : '';
    t.ok(title !== '' && text.includes(title), row);
  }
});
