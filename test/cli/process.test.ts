import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { canary, leaks } from '../fuzz/canaries.ts';
import { MAIN } from '../support/cli.ts';
import { request } from '../support/gateway.ts';
import { saidBy } from '../support/internal-errors.ts';
import { plainNode } from '../support/plain-node.ts';
import { ask, until } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const API_KEY = canary('-key');

async function running(
  t: Test,
  nodeOptions: string[],
  main = MAIN,
  env: Record<string, string> = {},
  input = '',
) {
  const upstream = await RawUpstream.startedFor(t);
  const child = spawn(...plainNode([...nodeOptions, main, 'start'], env.NODE_OPTIONS), {
    cwd: t.testdirName,
    env: {
      PATH: process.env.PATH,
      BEARERD_BASE_URL: upstream.url,
      ...(env.BEARERD_API_KEY_FILE === undefined && { BEARERD_API_KEY: API_KEY }),
      BEARERD_LISTEN: '127.0.0.1:0',
      BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  const output = saidBy(t, child);
  await until(
    () => /listening on .*\n/.test(output()) || child.exitCode !== null,
    'the proxy does not listen',
  );
  const line =
    output()
      .split('\n')
      .find((text) => text.includes('listening on')) ?? '{}';
  const { urls = [] } = JSON.parse(line) as { urls?: string[] };
  return {
    upstream,
    child,
    urls,
    output,
    port: urls[0]?.startsWith('http') ? Number(new URL(urls[0]).port) : 0,
  };
}

t.test('SIGUSR1 opens no debugger, and the process goes on', async (t) => {
  t.testdir({});
  const proxy = await running(t, []);
  proxy.child.kill('SIGUSR1');
  await until(
    () => /SIGUSR1 is ignored/.test(proxy.output()),
    'the log does not say that SIGUSR1 is ignored',
  );
  t.notMatch(proxy.output(), /Debugger|ws:/);
  t.equal((await ask(proxy.port, request('GET', '/'))).status, 200);
});

t.test('the log warns of options of Node that can show secrets', async (t) => {
  t.testdir({});
  const proxy = await running(t, ['--heapsnapshot-signal=SIGUSR2'], MAIN, {
    NODE_OPTIONS: '--report-on-fatalerror --tls-keylog=/dev/null',
    NODE_DEBUG: 'cluster',
  });
  await until(() => /can show secrets/.test(proxy.output()), 'the log does not warn');
  t.match(
    proxy.output(),
    /"options":\["--heapsnapshot-signal","--report-on-fatalerror","--tls-keylog","NODE_DEBUG"\]/,
  );
});

t.test('a diagnostic report holds no secret', async (t) => {
  const dir = t.testdir({});
  const proxy = await running(t, [
    '--report-on-signal',
    '--report-signal=SIGPIPE',
    `--report-directory=${dir}`,
    '--report-filename=report.json',
  ]);
  proxy.child.kill('SIGPIPE');
  const report = () => {
    try {
      return readFileSync(`${dir}/report.json`, 'utf8');
    } catch {
      return '';
    }
  };
  await until(() => report().trimEnd().endsWith('}'), 'a report');
  t.notOk(leaks(report()));
});

t.test(
  'neither the title of the process nor its arguments hold a secret',
  { skip: process.platform !== 'linux' },
  async (t) => {
    t.testdir({});
    const proxy = await running(t, []);
    const of = (name: string) => readFileSync(`/proc/${proxy.child.pid}/${name}`, 'utf8');
    for (const name of ['cmdline', 'comm']) t.notOk(leaks(of(name)), name);
  },
);

t.test('the proxy serves under the permission model of Node with few permissions', async (t) => {
  const dir = t.testdir({ key: API_KEY, ca: {} });
  // Node 24 has no permission for the network.
  const net = process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : [];
  const options = ['--permission', ...net, `--allow-fs-read=${ROOT}`, `--allow-fs-read=${dir}`];
  const proxy = await running(t, options, `${ROOT}dist/main.js`, {
    BEARERD_API_KEY_FILE: `${dir}/key`,
    HOME: '/nowhere', // A default place that may not be read counts as one that does not exist.
  });
  t.ok(proxy.port > 0, proxy.output());
  t.equal((await ask(proxy.port, request('GET', '/'))).status, 200);
  t.equal(proxy.upstream.last.header('authorization'), `Bearer ${API_KEY}`);
  t.notMatch(proxy.output(), /ERR_ACCESS_DENIED|restricted/);
  proxy.child.kill('SIGTERM');
  await until(() => proxy.child.exitCode === 0, 'it does not stop in order');
  t.match(proxy.output(), /"msg":"stopped"/);
});

t.test('a configuration from standard input stays in force through a reload', async (t) => {
  const routes = '[{ prefix: /, credential: apiKey }, { prefix: /admin, credential: deny }]';
  t.testdir({});
  const proxy = await running(t, [], MAIN, { BEARERD_CONFIG: '/dev/stdin' }, `routes: ${routes}\n`);
  const admin = async () => (await ask(proxy.port, request('GET', '/admin'))).status;
  t.equal(await admin(), 403);
  for (const reloads of [1, 2]) {
    proxy.child.kill('SIGHUP');
    const told = () => proxy.output().match(/configuration reloaded/g)?.length === reloads;
    await until(told, 'the configuration is not reloaded');
    t.equal(await admin(), 403);
  }
});
