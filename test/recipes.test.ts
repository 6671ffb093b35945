import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { SecretCommands } from '../src/config/reading/secret-commands.ts';
import { FILE, loadFrom } from './config/load-from.ts';

// The files in docs/recipes are valid.

const FOLDER = fileURLToPath(new URL('../docs/recipes', import.meta.url));
const pages = readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name), 'utf8')] as const);

t.test('each configuration in the recipes is valid', async (t) => {
  let tried = 0;
  for (const [name, text] of pages) {
    for (const [, yaml = ''] of text.matchAll(/```yaml\n(.*?)```/gs)) {
      if (!yaml.includes('baseUrl:')) continue; // A configuration of Envoy.
      const secrets = [...yaml.matchAll(/file: (\S+)/g)].map(([, path = '']) => [path, `of ${path}`]);
      const files = { [FILE]: yaml, ...Object.fromEntries(secrets) };
      const commands = new SecretCommands({ standIns: true }); // The programs of the recipes are not installed.
      await t.resolves(loadFrom({ env: {}, files, commands }), name);
      tried++;
    }
  }
  t.equal(tried, 7);
});

t.test(
  'the files for Postman, Bruno and editors have the address of bearerd, and no credential',
  async (t) => {
    const [, text = ''] = pages.find(([name]) => name === 'api-clients.md') ?? [];
    const files = [...text.matchAll(/^```(?:json|bru|http)\n(.*?)^```/gms)].map(([, file = '']) => file);
    const addresses = files.flatMap((file) => file.match(/https?:\/\/(?!schema\.)[\w.:]+/g) ?? []);
    t.equal(files.length, 5);
    t.same(addresses, Array(3).fill('http://localhost:9180'));
    for (const file of files) t.notMatch(file, /authorization|bearer |api-key/i);
    for (const json of files.filter((file) => file.startsWith('{'))) t.ok(JSON.parse(json));
  },
);

t.test('the list of recipes links to each page', async (t) => {
  const [, list = ''] = pages.find(([name]) => name === 'README.md') ?? [];
  for (const [name] of pages) if (name !== 'README.md') t.match(list, `(${name})`);
});
