import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROBLEMS } from '../../src/base/problem.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';

// Compares the reference pages with the program: commands, exit codes and answers.

const read = (page: string) => readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');

t.test('docs/commands.md has a row for each command, and for no other', async (t) => {
  const rows = [...read('commands.md').matchAll(/^\| `bearerd(?:`, `bearerd)? (\w+)/gm)];
  t.same(rows.map(([, name]) => name).sort(), Object.keys(COMMANDS).sort());
});

t.test('docs/commands.md has a row for each exit code, and for no other', async (t) => {
  const rows = [...read('commands.md').matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  t.same(rows, Object.values(EXIT));
});

t.test('docs/answers.md has a row for each problem code, with its status, and for no other', async (t) => {
  const rows = [...read('answers.md').matchAll(/^\| `([a-z-]+)` \| (\d{3}) \|/gm)];
  const documented = rows.map(([, code, status]) => `${code} ${status}`);
  const own = Object.entries(PROBLEMS).map(([code, { status }]) => `${code} ${status}`);
  t.same(documented.sort(), own.sort());
});
