import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { SecretCommands } from '../src/config/reading/secret-commands.ts';
import { FILE, loadFrom } from './config/load-from.ts';

// The files that docs/recipes shows are files that bearerd takes.

const FOLDER = fileURLToPath(new URL('../docs/recipes', import.meta.url));
const pages = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const);

t.test('each configuration of the recipes is without a fault', async (t) => {
  let tried = 0;
  for (const [name, text] of pages) {
    for (const [, yaml = ''] of text.matchAll(/```yaml\n(.*?)```/gs)) {
      if (!yaml.includes('baseUrl:')) continue; // A part of Envoy's.
      const secrets = [...yaml.matchAll(/file: (\S+)/g)].map(([, path = '']) => [path, `of ${path}`]);
      const files = { [FILE]: yaml, ...Object.fromEntries(secrets) };
      const commands = new SecretCommands({ standIns: true }); // The programs are not there.
      await t.resolves(loadFrom({ env: {}, files, commands }), name);
      tried++;
    }
  }
  t.equal(tried, 7);
});

t.test('the list of recipes names each page', async (t) => {
  const [, list = ''] = pages.find(([name]) => name === 'README.md') ?? [];
  for (const [name] of pages) if (name !== 'README.md') t.match(list, `(${name})`);
});
