import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { COMPILED } from './support/cli.ts';
import { mockFor } from './support/mock.ts';
import { program, typedIn } from './support/typed.ts';

// Runs each line of docs/recipes/secret-stores.md with a stand-in for the store's program that checks its arguments.

const PAGE = readFileSync(
  fileURLToPath(new URL('../docs/recipes/secret-stores.md', import.meta.url)),
  'utf8',
);

/** The arguments of each program, by its own documentation. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  pass: 'show api/client-secret',
  op: 'read op://work/api/client-secret',
  'secret-tool': 'lookup service api account sa_1',
  security: 'find-generic-password -s api -a sa_1 -w',
  vault: 'kv get -mount=secret -field=client_secret api',
  gcloud: 'secrets versions access latest --secret=client-secret',
};

const inFile = [...PAGE.matchAll(/^\| .* \| `(\{ command: .*?\})` \|$/gm)].map(([, value = '']) => value);
const typed = [...PAGE.matchAll(/^BEARERD_CLIENT_SECRET_COMMAND=.*$/gm)].map(([line]) => line);

const mock = await mockFor(t);
const { clientSecret } = mock.credentials;

/** A folder with the programs. Each prints the mock's secret if its arguments are right. */
function stores(t: Test, files: Readonly<Record<string, string>> = {}) {
  const { cwd, env } = typedIn(t, mock, files);
  const { BEARERD_CLIENT_SECRET_FILE: _, ...account } = env;
  for (const [name, args] of Object.entries(ARGUMENTS)) {
    const script = `[ "$*" = '${args}' ] || { echo "unknown: $*" >&2; exit 2; }\necho "${name}: ${clientSecret}" >&2\ncat client_secret\necho`;
    program(cwd, name, script);
  }
  return { cwd, env: { ...COMPILED, ...account }, timeout: 300_000 };
}

const sh = promisify(execFile);

t.test('the page has each store for the file and for a variable', async (t) => {
  const named = (line: string) => /(?:\[|=')([\w-]+)/.exec(line)?.[1] ?? '';
  t.same(inFile.map(named), Object.keys(ARGUMENTS));
  t.same(typed.map(named), Object.keys(ARGUMENTS));
});

function isSilent(t: Test, name: string, output: string): void {
  t.match(output, /\{ command: [\w-]+ … \}/, name);
  t.notMatch(output, clientSecret, name);
}

t.test('each command of the page gives its secret, and check does not show it', async (t) => {
  const entry = (value: string) =>
    `credentials:\n  token: { type: session, clientId: sa-1, clientSecret: ${value} }\n`;
  const files = Object.fromEntries(inFile.map((value, index) => [`${index}.yaml`, entry(value)]));
  const options = stores(t, files);
  const { BEARERD_CLIENT_ID: _, ...env } = options.env;
  const checked = async (file: string) => {
    const { stdout, stderr } = await sh('bearerd', ['check', '--config', file], { ...options, env });
    isSilent(t, file, stdout + stderr);
  };
  await Promise.all(Object.keys(files).map(checked));
});

t.test('each line of the page logs in, and does not show the secret', async (t) => {
  const options = stores(t);
  const checked = async (line: string) => {
    const { stdout, stderr } = await sh('sh', ['-c', line], options);
    isSilent(t, line, stdout + stderr);
    t.match(stdout, /login token: fresh/, line);
  };
  await Promise.all(typed.map(checked));
});

t.test('if a store refuses, the fault names the program, its status and its last line', async (t) => {
  const { cwd, env } = stores(t);
  const wrong = { ...env, BEARERD_CLIENT_SECRET_COMMAND: 'vault kv get -field=client_secret other' };
  const failed = await sh('bearerd', ['check'], { cwd, env: wrong }).catch((error: unknown) => error);
  t.match(failed, {
    code: 78,
    stderr:
      /_COMMAND: names a command \(vault\) that ended with status 2: unknown: kv get -field=client_secret other/,
  });
});
