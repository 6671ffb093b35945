import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '..');
const FOLDERS = ['src', 'test', 'docs', 'deploy', 'bench', 'scripts', 'config'];

/** Phrases that readers did not understand, and their replacements. */
const STUMBLED: readonly [RegExp, string][] = [
  [/\b(?:to|could|can't|can not) be had\b/i, 'unavailable'],
  [/no place to log in/i, 'has no login endpoint'],
  [/engine is gone/i, 'cannot reach Redis'],
  [/\bmind that\b/i, 'Note'],
  [/which is not there/i, 'does not exist'],
  [/tries the way to/i, 'tests the connection'],
  [/token that is right/i, 'a fresh token'],
  [/\bwhoever\b/i, 'a client, a process, or what else it is'],
  [/bearerd before a mock/i, 'in front of'],
  [/what each key .*begins with/i, 'prefix of every key'],
];

t.test('no text has a phrase that readers did not understand', async (t) => {
  const files = [
    ...readdirSync(ROOT),
    ...FOLDERS.flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    ),
  ].filter((file) => /\.(?:ts|js|html|md|ya?ml|tpl|sh)$/.test(file));
  t.ok(files.length > 500, 'the files were found');
  for (const file of files) {
    if (file === join('test', 'words.test.ts')) continue;
    const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
    for (const [i, line] of lines.entries())
      for (const [phrase, better] of STUMBLED)
        if (phrase.test(line)) t.fail(`${file}:${i + 1}: "${phrase.exec(line)?.[0]}": write "${better}"`);
  }
});
