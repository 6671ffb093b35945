import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { COMPILED } from './support/cli.ts';
import { mockFor } from './support/mock.ts';
import { program, typedIn } from './support/typed.ts';

// Runs each command of docs/recipes/cloud-tokens.md with a stand-in that prints in the program's format.

const PAGE = readFileSync(fileURLToPath(new URL('../docs/recipes/cloud-tokens.md', import.meta.url)), 'utf8');
const commands = [...PAGE.matchAll(/^\| .* \| `(\[.*\])` \|$/gm)].map(([, command = '']) => command);

const EXPIRY = '2100-01-02T03:04:05.000Z';
const seconds = Date.parse(EXPIRY) / 1000;
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const JWT = [part({ alg: 'RS256' }), part({ exp: seconds }), 'signature'].join('.');
const plugin = JSON.stringify({
  kind: 'ExecCredential',
  apiVersion: 'client.authentication.k8s.io/v1beta1',
  spec: { interactive: false },
  status: { expirationTimestamp: EXPIRY, token: 'tok' },
});

interface Asked {
  readonly program: string;
  readonly args: string;
  readonly prints: string;
  readonly token: string;
}

/** The arguments and the output of each program, by its own documentation. */
const ASKED: readonly Asked[] = [
  { program: 'gcloud', args: 'auth print-access-token', prints: 'ya29.tok', token: 'ya29.tok' },
  {
    program: 'gcloud',
    args: 'auth application-default print-access-token',
    prints: 'ya29.adc',
    token: 'ya29.adc',
  },
  {
    program: 'gcloud',
    args: 'auth print-identity-token --audiences=https://orders-x.a.run.app',
    prints: JWT,
    token: JWT,
  },
  {
    program: 'az',
    args: 'account get-access-token --scope https://graph.microsoft.com/.default --query {token: accessToken, expires_at: expires_on} --output json',
    prints: JSON.stringify({ expires_at: seconds, token: 'tok' }),
    token: 'tok',
  },
  {
    program: 'kubelogin',
    args: 'get-token --login azurecli --server-id 6dae42f8-4368-4678-94ff-3960e28e3630',
    prints: plugin,
    token: 'tok',
  },
  { program: 'aws', args: 'eks get-token --cluster-name prod --output json', prints: plugin, token: 'tok' },
];

const mock = await mockFor(t);
const sh = promisify(execFile);

t.test('each command of the page gives its token and the expiry', async (t) => {
  t.equal(commands.length, ASKED.length);
  const entry = (command: string) => `credentials:\n  token: { type: exec, command: ${command} }\n`;
  const files = Object.fromEntries(commands.map((command, index) => [`${index}.yaml`, entry(command)]));
  const { cwd, env } = typedIn(t, mock, files);
  const { BEARERD_CLIENT_ID: _, BEARERD_CLIENT_SECRET_FILE: __, ...plain } = env;
  for (const name of new Set(ASKED.map((asked) => asked.program))) {
    const answers = ASKED.filter((asked) => asked.program === name).map(
      ({ args, prints }) => `[ "$*" = '${args}' ] && exec echo '${prints}'\n`,
    );
    program(cwd, name, `${answers.join('')}echo "unknown: $*" >&2\nexit 2`);
  }
  const options = { cwd, env: { ...COMPILED, ...plain }, timeout: 300_000 };
  const tried = async ({ args, prints, token }: Asked, index: number) => {
    const { stdout } = await sh('bearerd', ['token', '--json', '--config', `${index}.yaml`], options);
    const told = JSON.parse(stdout);
    t.equal(told.token, token, args);
    // gcloud's access tokens have no expiry.
    const isSilent = prints.startsWith('ya29.');
    const distance = Date.parse(told.expiresAt) - (isSilent ? Date.now() + 15 * 60_000 : Date.parse(EXPIRY));
    t.ok(Math.abs(distance) < 60_000, `${args}: ${told.expiresAt}`);
  };
  await Promise.all(ASKED.map(tried));
});
