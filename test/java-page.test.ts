import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { COMPILED } from './support/cli.ts';
import { mockFor } from './support/mock.ts';
import { blockOf, typedIn } from './support/typed.ts';

// Runs the Java program of docs/recipes/java-and-dotnet.md.

const PAGE = readFileSync(
  fileURLToPath(new URL('../docs/recipes/java-and-dotnet.md', import.meta.url)),
  'utf8',
);
const block = (language: string) => blockOf(PAGE, language);
const skip =
  spawnSync('java', ['--version']).status !== 0 && 'there is no java (Debian: openjdk-17-jdk-headless)';

t.test('the Java program without a credential gets an answer of the API', { skip }, async (t) => {
  const mock = await mockFor(t);
  const { cwd, env } = typedIn(t, mock, { 'Call.java': block('java') });
  const options = { cwd, env: { ...COMPILED, ...env }, timeout: 300_000 };
  const { stdout } = await promisify(execFile)('sh', ['-c', block('sh')], options);
  t.equal(stdout.trim(), '200');
});
