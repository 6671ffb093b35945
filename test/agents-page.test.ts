import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { run } from './support/cli.ts';
import { mockFor } from './support/mock.ts';
import { typedIn } from './support/typed.ts';

// Runs the commands of docs/agents.md.

const page = readFileSync(fileURLToPath(new URL('../docs/agents.md', import.meta.url)), 'utf8');
const blocks = (before: string, language: string) => [
  ...page.matchAll(new RegExp(`${before}\`\`\`${language}\\n(.*?)\`\`\``, 'gs')),
];
const files = Object.fromEntries(
  blocks('<!-- file: (\\S+) -->\\n', '\\w+').map(([, name = '', text = '']) => [name, text]),
);
const commands = blocks('<!-- prints: (.+?) -->\\n', 'sh').map(([, prints = '', text = '']) => ({
  prints,
  text,
}));

const mock = await mockFor(t);
const SECRET = 's3cret-of-a-file';

t.test('the commands of the page for agents print what it says', async (t) => {
  t.equal(commands.length, 4);
  const options = { ...typedIn(t, mock, files), timeout: 300_000 };
  const shell = promisify(execFile);
  const typed = async ({ prints, text }: (typeof commands)[number]) => {
    const { stdout, stderr } = await shell('sh', ['-c', text], options);
    t.same([stdout.trim(), stderr], [prints, ''], text);
  };
  await Promise.all(commands.map(typed));
});

t.test('in the pod of the page the agent has its caller key, and no access to a secret', async (t) => {
  const [, text = ''] = blocks('', 'yaml').find(([, yaml]) => yaml!.includes('kind: Pod'))!;
  const { spec } = parse(text);
  const [bearerd] = spec.initContainers;
  const [agent] = spec.containers;
  t.notOk(spec.shareProcessNamespace);
  t.equal(spec.automountServiceAccountToken, false);
  t.equal(agent.volumeMounts, undefined);
  t.not(agent.securityContext.runAsUser, bearerd.securityContext.runAsUser);
  const secretNames = spec.volumes.flatMap(
    ({ secret }: { secret?: { secretName: string } }) => secret?.secretName ?? [],
  );
  const agentSecrets = agent.env.flatMap(
    ({ valueFrom }: { valueFrom?: { secretKeyRef: { name: string } } }) => valueFrom?.secretKeyRef.name ?? [],
  );
  t.same([secretNames, agentSecrets], [['bearerd'], ['agent']]);
});

t.test(
  'a secret from a file is not in the environment of bearerd, which the command under exec could read',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const dir = t.testdir({ client_secret: SECRET });
    const script = `tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' ' ' < /proc/$PPID/cmdline`;
    const look = (env: Record<string, string>) =>
      run(
        t,
        ['exec', '--', 'sh', '-c', script],
        { BEARERD_BASE_URL: mock.url, BEARERD_CLIENT_ID: 'sa', ...env },
        dir,
      );
    const [byFile, byVariable] = await Promise.all([
      look({ BEARERD_CLIENT_SECRET_FILE: 'client_secret' }),
      look({ BEARERD_CLIENT_SECRET: SECRET }),
    ]);
    t.match(byFile, { code: 0, stdout: /BEARERD_CLIENT_SECRET_FILE=client_secret/ });
    t.notMatch(byFile.stdout, SECRET);
    t.match(byVariable.stdout, `BEARERD_CLIENT_SECRET=${SECRET}`, 'as the page says');
  },
);
