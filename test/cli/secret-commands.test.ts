import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { canary, leaks } from '../fuzz/canaries.ts';
import { run, start } from '../support/cli.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { inOneProcess } from '../support/one-process.ts';
import { isRunning } from '../support/processes.ts';
import { until } from '../support/raw-client.ts';

const call = inOneProcess(t);

const OUTPUT = canary('-printed');
const LISTEN = {
  BEARERD_LISTEN: '127.0.0.1:0',
  BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
  BEARERD_LOG_FORMAT: 'json',
};

async function world(t: Test, secret: unknown, rest: object = {}) {
  const mock = await mockFor(t);
  const { clientId, clientSecret } = mock.credentials;
  const dir = t.testdir({ good: `${clientSecret}\n`, runs: '' });
  const put = (name: string, text: string) => writeFileSync(join(dir, name), text);
  const at = (name: string) => join(dir, name);
  const token = { type: 'session', clientId, clientSecret: secret };
  put('bearerd.yaml', JSON.stringify({ baseUrl: mock.url, credentials: { token }, ...rest }));
  return { mock, at, put };
}

/** Counts its runs, and prints the content of a file. */
const counted = { command: ['sh', '-c', 'echo run >>runs; cat good'] };
const runs = (at: (name: string) => string) => readFileSync(at('runs'), 'utf8').split('\n').length - 1;

t.test('a command that fails at the start exits 78, with its name and its status', async (t) => {
  await world(t, { command: ['sh', '-c', `echo ${OUTPUT}; echo "no entry ${OUTPUT}" >&2; exit 5`] });
  for (const args of [['start'], ['check'], ['check', '--json'], ['token']]) {
    const { code, stdout, stderr } = await run(t, args, LISTEN);
    t.equal(code, 78, args.join(' '));
    t.match(
      stdout + stderr,
      /credentials\.token\.clientSecret.*names a command \(sh\) that ended with status 5: no entry \*\*\*/,
    );
    t.notOk(leaks(stdout + stderr));
  }
});

t.test('check shows the program as the source of a secret, and nothing of its output', async (t) => {
  await world(t, { command: ['echo', OUTPUT] });
  const { code, stdout } = await call(t, ['check']);
  t.equal(code, 0);
  t.match(stdout, /clientSecret: "?\*\*\*"? # bearerd\.yaml:1 \{ command: echo … \}/);
  t.notOk(leaks(stdout));
});

t.test('routes, render, schema, completion, healthcheck and wait run no command', async (t) => {
  const sinks = [{ haproxy: 'unix:/run/haproxy.sock', map: '/etc/haproxy/credentials.map' }];
  const { at } = await world(t, counted, { sinks });
  t.match(await call(t, ['render', 'haproxy']), { code: 0, stdout: /frontend/ });
  t.match(await call(t, ['routes']), { code: 0, stdout: /token/ });
  t.match(await call(t, ['routes', 'GET', '/companies']), { code: 0 });
  for (const args of [['schema'], ['completion', 'bash']])
    t.match(await call(t, args), { code: 0 }, args.join());
  const nowhere = ['--admin-listen', '127.0.0.1:1'];
  t.match(await call(t, ['healthcheck', ...nowhere]), { code: 1 });
  t.match(await call(t, ['wait', '--timeout', '100ms', ...nowhere]), { code: 1 });
  t.equal(runs(at), 0);
});

t.test('a command runs at the start and at a reload, and never for a request', async (t) => {
  const { at, put } = await world(t, counted);
  const proxy = start(t, ['start'], LISTEN, at(''));
  const [, url = ''] = await proxy.until(/"urls":\["(http:[^"]+)"/);
  const [, admin = ''] = await proxy.until(/"admin":\["(http:[^"]+)"/);
  await proxy.until(/logged in/);
  for (let i = 0; i < 3; i++) t.equal((await fetch(`${url}/echo`)).status, 200);
  t.equal(runs(at), 1);
  put('good', '');
  proxy.child.kill('SIGHUP');
  await proxy.until(
    /credentials\.token\.clientSecret names a command \(sh\) that printed nothing; the last value goes on/,
  );
  t.equal(runs(at), 2);
  t.equal((await fetch(`${url}/echo`)).status, 200);
  const metrics = await (await fetch(`${admin}/metrics`)).text();
  const series = (result: string) =>
    `bearerd_secret_commands_total{key="credentials.token.clientSecret",result="${result}"}`;
  t.same(metrics.match(/^bearerd_secret_commands_total.*/gm), [`${series('ok')} 1`, `${series('failed')} 1`]);
});

t.test('no output of a command is in the log, the metrics, the status or the page', async (t) => {
  const { at, put } = await world(t, {
    command: ['sh', '-c', `echo ${OUTPUT} >&2; echo ${OUTPUT}; exit $(cat code)`],
  });
  put('code', '0');
  const proxy = start(t, ['start'], { ...LISTEN, BEARERD_LOG_LEVEL: 'trace' }, at(''));
  const [, admin = ''] = await proxy.until(/"admin":\["(http:[^"]+)"/);
  await proxy.until(/refuses the credentials/);
  put('code', '9');
  proxy.child.kill('SIGHUP');
  await proxy.until(/ended with status 9: \*\*\*; the last value goes on/);
  for (const path of ['/', '/metrics', '/status', '/config', '/readyz'])
    t.notOk(leaks(await (await fetch(admin + path)).text()), path);
  t.notOk(leaks(proxy.output()));
});

t.test('a command under exec gets neither the secret nor the command that prints it', async (t) => {
  const { mock, at } = await world(t, counted);
  const { BEARERD_CLIENT_SECRET: secret, ...account } = accountOf(mock);
  const env = {
    ...account,
    BEARERD_CLIENT_SECRET_COMMAND: `cat ${at('good')}`,
    COPY: `Basic ${Buffer.from(`x:${secret}`).toString('base64')}`,
    BEARERD_CALLER_KEY_COMMAND: `touch ${at('caller')}; echo key`,
  };
  const { code, stdout } = await run(t, ['exec', '--', 'env'], env);
  t.equal(code, 0);
  t.match(stdout, /^BEARERD_URL=/m);
  t.notMatch(stdout, /_COMMAND|^COPY=/m);
  t.notMatch(stdout, secret);
  t.notOk(
    existsSync(at('caller')),
    'exec ignores the caller key of the environment, and does not run its command',
  );
});

t.test('a signal during the start ends the command that runs', async (t) => {
  const { at } = await world(t, { command: ['sh', '-c', 'echo $$ >pid; exec sleep 600'], timeout: '5m' });
  for (const args of [['start'], ['check']]) {
    writeFileSync(at('pid'), '');
    const { child, finished } = start(t, args, LISTEN, at(''));
    await until(() => readFileSync(at('pid'), 'utf8').endsWith('\n'), 'the command does not start');
    const pid = Number(readFileSync(at('pid'), 'utf8'));
    child.kill('SIGTERM');
    t.match(await finished, { code: 143 });
    await until(() => !isRunning(pid), 'the command still runs');
  }
});
