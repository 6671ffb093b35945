import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { COMPILED, MAIN } from '../support/cli.ts';
import { saidBy } from '../support/internal-errors.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { until, within } from '../support/raw-client.ts';

// bearerd as process 1 of a container: it reaps the processes that have lost their parent.

const NAMESPACE = ['-rpf', '--kill-child'];
const { status } = spawnSync('unshare', [...NAMESPACE, 'true']);
const skip = status === 0 ? false : 'no process namespace can be made here';

/** Each run leaves a process behind, which ends a moment later. */
const HELPER = '(sleep 0.2 >/dev/null 2>&1 &); echo token-of-helper';

interface Row {
  readonly pid: string;
  readonly parent: string;
  readonly state: string;
}

/** By proc(5): `ps` would be another process each time. */
function processes(): Row[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [{ pid, parent, state }];
    } catch {
      return []; // It has ended in the meantime.
    }
  });
}

function inContainer(t: Test, args: readonly string[], env: NodeJS.ProcessEnv) {
  const { PATH, HOME } = process.env;
  const child = spawn('unshare', [...NAMESPACE, process.execPath, MAIN, ...args], {
    env: { PATH, HOME, NODE_NO_WARNINGS: '1', ...COMPILED, ...env },
    cwd: t.testdirName,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = saidBy(t, child);
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  const first = () => processes().find(({ parent }) => parent === `${child.pid}`)?.pid ?? '';
  const below = (): Row[] => processes().filter(({ parent }) => parent === first());
  return { output, first, below, code: () => within(60_000, closed, output) };
}

t.test('as process 1, a proxy with helpers leaves no zombie, reloads and drains', { skip }, async (t) => {
  const dir = t.testdir({});
  const config = {
    baseUrl: 'http://127.0.0.1:1',
    listen: '127.0.0.1:0',
    admin: { listen: 'off' },
    credentials: { token: { type: 'exec', command: ['sh', '-c', HELPER] } },
    log: { format: 'json' },
  };
  writeFileSync(join(dir, 'bearerd.yaml'), JSON.stringify(config));
  const container = inContainer(t, ['start'], {});
  await until(() => /logged in/.test(container.output()), 'the proxy does not log in');
  const settled = () => container.below().length === 1;
  await until(settled, `a zombie is left: ${JSON.stringify(container.below())}`);
  t.notMatch(container.below()[0]?.state, /^Z/);
  process.kill(Number(container.first()), 'SIGHUP');
  await until(() => /configuration reloaded/.test(container.output()), 'the configuration is not reloaded');
  process.kill(Number(container.first()), 'SIGTERM');
  t.equal(await container.code(), 0);
  t.match(container.output(), /"msg":"stopped"/);
});

t.test(
  'as process 1, exec exits with the code of its command, and reaps what the command left behind',
  { skip },
  async (t) => {
    t.testdir({});
    const account = accountOf(await mockFor(t));
    const script = `${HELPER}; sleep 1; exit 7`;
    const container = inContainer(t, ['exec', '--', 'sh', '-c', script], account);
    t.equal(await container.code(), 7, container.output());
  },
);

t.test('as process 1 without helpers, bearerd starts no second process', { skip }, async (t) => {
  t.testdir({});
  const account = {
    ...accountOf(await mockFor(t)),
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: 'off',
  };
  const container = inContainer(t, ['start'], account);
  await until(() => /logged in/.test(container.output()), 'the proxy does not log in');
  t.same(container.below(), []);
  process.kill(Number(container.first()), 'SIGTERM');
  t.equal(await container.code(), 0);
});

t.test('as process 1, the command of a secret runs once and leaves no zombie', { skip }, async (t) => {
  const mock = await mockFor(t);
  const dir = t.testdir({ secret: mock.credentials.clientSecret });
  const { BEARERD_CLIENT_SECRET: _, ...account } = accountOf(mock);
  const command = `echo run >>'${dir}/runs'; (sleep 0.2 >/dev/null 2>&1 &); cat '${dir}/secret'`;
  const container = inContainer(t, ['start'], {
    ...account,
    BEARERD_CLIENT_SECRET_COMMAND: command,
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: 'off',
    BEARERD_LOG_FORMAT: 'json',
  });
  await until(() => /logged in/.test(container.output()), 'the proxy does not log in');
  const settled = () => container.below().length === 1;
  await until(settled, `a zombie is left: ${JSON.stringify(container.below())}`);
  t.equal(readFileSync(join(dir, 'runs'), 'utf8'), 'run\n');
  process.kill(Number(container.first()), 'SIGTERM');
  t.equal(await container.code(), 0);
});
