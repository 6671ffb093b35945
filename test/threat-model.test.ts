import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';

// SECURITY.md names the tests that prove it. Here it is proved that there are such tests.
const at = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const page = readFileSync(at('SECURITY.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| [^|]+ \| `test\//.test(line));

t.test('each line of the threat model names a test that there is', async (t) => {
  t.ok(rows.length > 20, `${rows.length} lines`);
  for (const row of rows) {
    const [, claim = '', proof = ''] =
      row.split(' | ').length > 1 ? ['', ...row.slice(2, -2).split(' | ')] : [];
    const named = [...proof.matchAll(/`(test\/[^`]+)` “([^”]+)”/g)];
    t.not(named.length, 0, `${claim} has a proof`);
    for (const [, file = '', title = ''] of named) {
      const text = existsSync(at(file)) ? readFileSync(at(file), 'utf8') : '';
      t.ok(text.includes(title), `${file}: ${title}`);
    }
  }
});
