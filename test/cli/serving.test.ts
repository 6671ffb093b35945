import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import type { MockApi } from '../../src/mock/mock-api.ts';
import { MAIN, run, start } from '../support/cli.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { inOneProcess } from '../support/one-process.ts';
import { happens, until } from '../support/raw-client.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

const call = inOneProcess(t);

/** From the first signal on: an earlier one belongs to the same event. */
const A_SECOND_EVENT_MS = 300;

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: http.IncomingHttpHeaders;
}

function get(url: string, options: http.RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent: false, ...options }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () => resolve({ status: response.statusCode!, body, headers: response.headers }));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

function account(mock: MockApi, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    ...accountOf(mock),
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
    ...env,
  };
}

/** A running bearerd, and the two URLs that its start line names. */
async function serving(t: Test, env: NodeJS.ProcessEnv, args: string[] = [], cwd?: string) {
  const running = start(t, args, env, cwd);
  const [line] = await running.until(/\{.*"listening on .*\n/);
  const { urls, admin } = JSON.parse(line) as { urls: string[]; admin: string[] };
  const ready = () => answers(`${admin[0]}/readyz`);
  const busy = () =>
    until(
      async () => JSON.parse((await get(`${admin[0]}/status`)).body).requestsInFlight === 1,
      'no request is under way',
    );
  return { ...running, url: urls[0]!, admin: admin[0]!, urls, ready, busy };
}

function answers(url: string, options: http.RequestOptions = {}): Promise<boolean> {
  const look = () => get(url, options).then(({ status }) => status === 200);
  return until(() => look().catch(() => false), `${url} does not answer 200`);
}

/** For a process of which one thread reads from the beginning to the end, as from a file system that hangs. */
function hanging(t: Test): NodeJS.ProcessEnv {
  const dir = t.testdir({
    'hang.mjs': `import { open } from 'node:fs'; open(new URL('pipe', import.meta.url), () => {});`,
  });
  t.equal(spawnSync('mkfifo', [join(dir, 'pipe')]).status, 0);
  return { NODE_OPTIONS: `--import=${pathToFileURL(join(dir, 'hang.mjs'))}` };
}

/** An API that answers when it is told to, so that a request is under way for as long as a test wants it to be. */
async function heldApi(t: Test) {
  const api = await RawUpstream.startedFor(t);
  const answer = Promise.withResolvers<Buffer>();
  api.onRequest = () => answer.promise;
  const env = {
    BEARERD_BASE_URL: api.url,
    BEARERD_CLIENT_ID: 'id',
    BEARERD_CLIENT_SECRET: 'client-secret',
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
  };
  return { api, env, letGo: () => answer.resolve(ok('late')) };
}

t.test(
  'after SIGTERM a request under way finishes, no new one is accepted, and the exit code is 0',
  async (t) => {
    t.testdir({});
    const { api, env, letGo } = await heldApi(t);
    const proxy = await serving(t, env);
    await proxy.ready();
    const { logins } = api;
    const slow = get(`${proxy.url}/echo`);
    await proxy.busy();
    proxy.child.kill('SIGTERM');
    await proxy.until(/"inFlight":1,"msg":"stopping/);
    proxy.child.kill('SIGHUP');
    await t.rejects(get(`${proxy.url}/echo`), 'the proxy no longer listens');
    letGo();
    const answer = await slow;
    t.equal(answer.status, 200);
    t.equal(answer.headers.connection, 'close');
    const { code, signal } = await proxy.finished;
    t.equal(code, 0);
    t.equal(signal, null);
    t.equal(api.logins, logins, 'no login after SIGTERM');
    t.notMatch(proxy.output(), /configuration reloaded/, 'no reload after SIGTERM');
  },
);

t.test(
  'with a shutdown delay the proxy is unready at once, and serves until the delay is over',
  async (t) => {
    t.testdir({});
    const mock = await mockFor(t);
    const brief = await serving(t, account(mock, { BEARERD_SHUTDOWN_DELAY: '1s' }));
    await brief.ready();
    const begun = performance.now();
    brief.child.kill('SIGTERM');
    t.equal((await brief.finished).code, 0);
    t.ok(performance.now() - begun > 950, 'it waited');
    t.match(brief.output(), /"msg":"not ready any more[\s\S]*"msg":"stopping: requests/);

    const proxy = await serving(t, account(mock, { BEARERD_SHUTDOWN_DELAY: '1h' }));
    await proxy.ready();
    proxy.child.kill('SIGTERM');
    await proxy.until(/"msg":"not ready any more/);
    const probe = await get(`${proxy.admin}/readyz`);
    t.equal(probe.status, 503);
    t.match(JSON.parse(probe.body), { ready: false, draining: true });
    const agent = new http.Agent({ keepAlive: true });
    t.teardown(() => agent.destroy());
    for (const path of ['/echo', '/%']) {
      const late = await get(`${proxy.url}${path}`, { agent });
      t.same([late.status, late.headers.connection], [path === '/%' ? 400 : 200, 'close'], path);
    }
    await sleep(A_SECOND_EVENT_MS);
    proxy.child.kill('SIGTERM');
    t.equal((await proxy.finished).code, 1, 'a second signal ends the delay');
  },
);

t.test(
  'requests cut off at the drain timeout are logged and exit 1; a second signal stops at once, though a read hangs',
  async (t) => {
    const hangs = hanging(t);
    const mock = await mockFor(t);
    mock.behave({ data: 'hang' });
    const proxy = await serving(t, account(mock, { BEARERD_DRAIN_TIMEOUT: '300ms' }));
    await proxy.ready();
    const cut = get(`${proxy.url}/echo`).catch(() => 'cut');
    await proxy.busy();
    proxy.child.kill('SIGTERM');
    t.equal((await proxy.finished).code, 1);
    t.match(proxy.output(), /stopped: 1 requests were cut off/);
    t.equal(await cut, 'cut');

    const other = await serving(t, account(mock, hangs));
    await other.ready();
    get(`${other.url}/echo`).catch(() => {});
    await other.busy();
    other.child.kill('SIGINT');
    await other.until(/"msg":"stopping/);
    await sleep(A_SECOND_EVENT_MS);
    other.child.kill('SIGINT');
    const ended = await other.finished;
    t.same([ended.code, ended.signal], [1, null]);
  },
);

t.test('a signal repeated within a quarter of a second cuts nothing off', async (t) => {
  t.testdir({});
  const { env, letGo } = await heldApi(t);
  const proxy = await serving(t, env);
  await proxy.ready();
  const under = get(`${proxy.url}/echo`);
  await proxy.busy();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGINT'] as const) proxy.child.kill(signal);
  await proxy.until(/"msg":"stopping/);
  await sleep(A_SECOND_EVENT_MS); // The others have come by then.
  letGo();
  t.equal((await under).status, 200);
  t.equal((await proxy.finished).code, 0);
});

t.test('SIGTERM ends an idle process at once even while a login hangs', async (t) => {
  t.testdir({});
  const mock = await mockFor(t);
  mock.behave({ login: 'hang' });
  const proxy = await serving(t, account(mock));
  await until(() => mock.stats.loginAttempts === 1, 'no login begins');
  proxy.child.kill('SIGTERM');
  t.equal((await proxy.finished).code, 0);
  t.notMatch(proxy.output(), /session endpoint/, 'the stop did not wait for the login to fail');
});

t.test('a read that hangs keeps neither a proxy that is told to stop nor a command', async (t) => {
  const mock = await mockFor(t);
  const env = account(mock, hanging(t));
  t.equal((await run(t, ['check'], env)).code, 0);
  const proxy = await serving(t, env);
  await proxy.ready();
  proxy.child.kill('SIGTERM');
  const { code, signal } = await proxy.finished;
  t.same([code, signal], [0, null]);
  t.match(proxy.output(), /"msg":"stopped"/);
});

t.test('a login whose file is a pipe without a writer fails, and holds up no stop', async (t) => {
  const dir = t.testdir({});
  t.equal(spawnSync('mkfifo', [join(dir, 'pipe')]).status, 0);
  const mock = await mockFor(t);
  const login = `{ type: oauth2, tokenUrl: '${mock.url}/token', clientAuthentication: assertion, assertion: { file: ./pipe } }`;
  writeFileSync(join(dir, 'bearerd.yaml'), `baseUrl: '${mock.url}'\ncredentials: { token: ${login} }\n`);
  const proxy = await serving(t, { BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: '127.0.0.1:0' });
  await proxy.until(/the assertion can't be read from .*pipe: the file is empty/);
  proxy.child.kill('SIGTERM');
  t.equal((await proxy.finished).code, 0);
});

t.test(
  'a session endpoint that comes up late is used without a restart, and wait returns then',
  async (t) => {
    t.testdir({});
    const mock = await mockFor(t);
    mock.behave({ login: 'down' });
    const proxy = await serving(t, account(mock, { BEARERD_TOKEN_WAIT: '100ms' }));
    const env = account(mock, { BEARERD_ADMIN_LISTEN: new URL(proxy.admin).host });
    const unready = await get(`${proxy.admin}/readyz`);
    t.equal(unready.status, 503);
    t.equal((await get(`${proxy.admin}/healthz`)).status, 200);
    t.equal((await get(`${proxy.url}/echo`)).status, 503);
    const { BEARERD_ADMIN_LISTEN } = env;
    const unhealthy = await call(t, ['healthcheck'], { BEARERD_ADMIN_LISTEN });
    t.match(unhealthy, { code: 1, stdout: '' }, 'healthcheck needs only the address');
    t.match(
      unhealthy.stderr,
      /^bearerd: credential token is not ready \(starting\): the session endpoint http:\S+ .*\. Next try in \d+ s\.\n$/,
    );
    const waiting = call(t, ['wait', '--timeout', '60s'], { BEARERD_ADMIN_LISTEN });
    mock.behave({ login: 'ok' });
    t.match(await waiting, {
      code: 0,
      stdout: '',
      stderr: /^(?:bearerd: waiting: credential token .*\n)*bearerd: ready\n$/,
    });
    t.equal((await call(t, ['healthcheck'], env)).code, 0);
    t.equal((await get(`${proxy.url}/echo`)).status, 200);
  },
);

t.test(
  'a rotated secret is used within seconds: in place, by rename, and twice by Kubernetes’ swap of ..data',
  async (t) => {
    const dir = t.testdir({ secrets: { '..v1': { secret: 'wrong-1\n', key: 'key-1\n' } } });
    const secrets = join(dir, 'secrets');
    symlinkSync('..v1', join(secrets, '..data'));
    symlinkSync('..data/secret', join(secrets, 'secret'));
    symlinkSync('..data/key', join(secrets, 'key'));
    const mock = await mockFor(t, { clientSecret: 'right', apiKey: 'key-2' });
    const env = account(mock, {
      BEARERD_CLIENT_SECRET: undefined,
      BEARERD_CLIENT_SECRET_FILE: join(secrets, 'secret'),
      BEARERD_API_KEY_FILE: join(secrets, 'key'),
      BEARERD_ROUTES: '/=token,/companies=apiKey',
    });
    const proxy = await serving(t, env);
    await proxy.until(/refuses the credentials/);
    t.equal((await get(`${proxy.url}/companies/example.com`)).status, 401);

    const swap = (version: string, secret: string, key: string, old: string) => {
      mkdirSync(join(secrets, version));
      writeFileSync(join(secrets, version, 'secret'), secret);
      writeFileSync(join(secrets, version, 'key'), key);
      symlinkSync(version, join(secrets, '..tmp'));
      renameSync(join(secrets, '..tmp'), join(secrets, '..data'));
      rmSync(join(secrets, old), { recursive: true });
    };
    swap('..v2', 'wrong-2\n', 'key-1\n', '..v1');
    await sleep(200);
    swap('..v3', 'right\n', 'key-2\n', '..v2');
    await answers(`${proxy.admin}/readyz`);
    await answers(`${proxy.url}/companies/example.com`);
    t.equal((await get(`${proxy.url}/echo`)).status, 200);

    // Emptied in place, and filled again: the last good value stays in use.
    const logins = mock.stats.logins;
    writeFileSync(join(secrets, '..v3', 'key'), '');
    await proxy.until(/"reason":"it is empty"/);
    t.equal((await get(`${proxy.url}/companies/example.com`)).status, 200);
    writeFileSync(join(secrets, '..v3', 'secret'), 'wrong-again');
    await proxy.until(/refuses the credentials[\s\S]*refuses the credentials/);
    t.equal((await get(`${proxy.url}/echo`)).status, 200, 'the present token serves until it ends');
    writeFileSync(join(secrets, '..v3', 'tmp'), 'right');
    renameSync(join(secrets, '..v3', 'tmp'), join(secrets, '..v3', 'secret'));
    await until(() => mock.stats.logins > logins, 'no login follows the new secret');
    for (const secret of ['wrong-1', 'wrong-2', 'wrong-again', 'key-1', 'key-2']) {
      t.notMatch(proxy.output(), new RegExp(secret));
    }
  },
);

t.test(
  'SIGHUP applies a valid configuration without losing a request, and refuses a faulty one',
  async (t) => {
    const { api, env, letGo } = await heldApi(t);
    const write = (routes: string, more = '') =>
      writeFileSync(join(dir, 'bearerd.yaml'), `baseUrl: ${api.url}\nroutes:\n${routes}\n${more}`);
    const dir = t.testdir({});
    write('  - { prefix: /, credential: token }');
    const proxy = await serving(t, { ...env, BEARERD_BASE_URL: undefined }, [], dir);
    await proxy.ready();
    const under = get(`${proxy.url}/echo`);
    await proxy.busy();
    write(
      '  - { prefix: /, credential: token }\n  - { prefix: /echo, credential: deny }',
      'log: { level: debug }',
    );
    proxy.child.kill('SIGHUP');
    await proxy.until(/configuration reloaded/);
    t.equal((await get(`${proxy.url}/echo`)).status, 403, 'the new route is in force');
    letGo();
    t.equal((await under).status, 200, 'the request under way ends with the old configuration');
    t.equal(api.logins, 1, 'an unchanged credential keeps its token');

    write('  - { prefix: /, credential: tokn }');
    proxy.child.kill('SIGHUP');
    await proxy.until(/the new configuration is faulty/);
    t.match(proxy.output(), /did you mean \\?"?token/);
    t.equal((await get(`${proxy.url}/echo`)).status, 403, 'the old configuration stays in force');
    write('  - { prefix: /, credential: token }', 'listen: 127.0.0.1:1');
    proxy.child.kill('SIGHUP');
    await answers(`${proxy.url}/echo`);
  },
);

t.test('a Unix socket has mode 0600; a stale socket is replaced, a live one is not', async (t) => {
  t.testdir({});
  // The path of a socket has to be short.
  const dir = mkdtempSync(join(tmpdir(), 'bearerd-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'b.sock');
  const mock = await mockFor(t);
  const env = account(mock, { BEARERD_LISTEN: `unix:${path}` });
  const first = await serving(t, env);
  t.equal(statSync(path).mode & 0o777, 0o600);
  await first.ready();
  t.equal((await get('http://localhost/echo', { socketPath: path })).status, 200);
  t.match(await run(t, [], env), { code: 71, stderr: /already in use/ });
  first.child.kill('SIGKILL');
  await first.finished;
  t.ok(statSync(path).isSocket(), 'a killed process leaves the socket behind');
  const second = await serving(t, env);
  await second.ready();
  t.equal((await get('http://localhost/echo', { socketPath: path })).status, 200);
  second.child.kill('SIGTERM');
  t.equal((await second.finished).code, 0);
  t.throws(() => statSync(path), 'an orderly end removes the socket');
});

t.test('localhost means both 127.0.0.1 and ::1, where they exist', async (t) => {
  t.testdir({});
  const mock = await mockFor(t);
  const proxy = await serving(t, account(mock, { BEARERD_LISTEN: 'localhost:0' }));
  await proxy.ready();
  const { port } = new URL(proxy.url);
  t.equal((await get(`http://127.0.0.1:${port}/echo`)).status, 200);
  const v6 = await get(`http://[::1]:${port}/echo`).catch((error: NodeJS.ErrnoException) => error.code);
  if (typeof v6 === 'object') t.equal(v6.status, 200);
  else t.match(v6, /EADDRNOTAVAIL|EAFNOSUPPORT/);
});

t.test('the log holds no secret at any level, through success, refusal and shutdown', async (t) => {
  t.testdir({});
  const mock = await mockFor(t, {
    clientSecret: 'canary-secret+/&"é',
    apiKey: 'canary-api-key',
    clientId: 'canary-id',
  });
  const env = account(mock, {
    BEARERD_API_KEY: 'canary-api-key',
    BEARERD_CALLER_KEY: 'canary-caller-key',
    BEARERD_LOG_LEVEL: 'trace',
    BEARERD_ROUTES: '/=token,/companies=apiKey',
  });
  const proxy = await serving(t, env);
  await proxy.ready();
  const headers = {
    'x-bearerd-key': 'canary-caller-key',
    authorization: 'Basic Y2FuYXJ5LWNsaWVudA==',
    cookie: 'sid=canary-cookie',
  };
  t.equal((await get(`${proxy.url}/echo?access_token=canary-query&api_key=V2`, { headers })).status, 200);
  t.equal((await get(`${proxy.url}/companies/example.com`, { headers })).status, 200);
  t.equal(
    (await get(`${proxy.url}/echo`, { headers: { ...headers, 'x-bearerd-key': 'canary-wrong' } })).status,
    407,
  );
  t.equal(
    (await get(`${proxy.url}/a/../b?canary-query2`, { headers, path: '/a/../b?canary-query2' })).status,
    400,
  );
  mock.behave({ login: 'refuse-401' });
  mock.revokeAll();
  t.equal((await get(`${proxy.url}/echo`, { headers })).status, 401);
  await proxy.until(/refuses the credentials/);
  mock.behave({ login: 'garbage' });
  await get(`${proxy.admin}/renew`, { method: 'POST' });
  proxy.child.kill('SIGTERM');
  const { code, stdout, stderr } = await proxy.finished;
  t.equal(code, 0);
  const all = stdout + stderr;
  const secrets = [
    'canary-secret+/&"é',
    'canary-api-key',
    'canary-caller-key',
    'canary-wrong',
    'canary-query',
    'canary-cookie',
    'Y2FuYXJ5',
    'V2"',
  ];
  for (const secret of secrets) {
    const forms = [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64').replace(/=+$/, ''),
      JSON.stringify(secret).slice(1, -1),
    ];
    for (const form of forms) t.notOk(all.includes(form), `${form} is not in the log`);
  }
  t.notMatch(all, /eyJ/, 'no token is in the log');
});

t.test(
  'the log of the start and check name each place outside bearerd that holds a credential',
  async (t) => {
    const dir = t.testdir();
    const mock = await mockFor(t);
    const sinks = [
      { haproxy: `unix:/nowhere/haproxy.sock`, map: '/tokens.map' },
      { envoySds: `${dir}/sds.yaml`, name: 'bearer' },
      { file: `${dir}/token` },
    ];
    const share = { url: `unix:/nowhere/redis.sock?password=pass-of-redis` };
    writeFileSync(join(dir, 'bearerd.yaml'), JSON.stringify({ sinks, share }));
    const env = account(mock, { BEARERD_CONFIG: join(dir, 'bearerd.yaml') });
    const proxy = await serving(t, env);
    const checked = (await call(t, ['check'], env)).stdout;
    for (const words of [
      'the engine that share.url names holds access tokens, sealed',
      `the HAProxy at /nowhere/haproxy.sock holds token`,
      `the file for Envoy ${dir}/sds.yaml holds token`,
      `the file ${dir}/token holds token`,
    ]) {
      await until(() => proxy.output().includes(`"msg":"${words}"`), `the log: ${words}`);
      t.ok(checked.includes(`# ${words}\n`), `check: ${words}`);
    }
    t.notMatch(proxy.output() + checked, 'pass-of-redis');
  },
);

t.test(
  'healthcheck and wait find a ready proxy even if a file has become faulty since the start',
  async (t) => {
    const dir = t.testdir({ secret: 'client-secret', 'bearerd.yaml': 'log: { level: info }\n' });
    const mock = await mockFor(t);
    const { BEARERD_CLIENT_SECRET: _, ...rest } = account(mock);
    const secretFile = join(dir, 'secret');
    const configFile = join(dir, 'bearerd.yaml');
    const started = { ...rest, BEARERD_CLIENT_SECRET_FILE: secretFile, BEARERD_CONFIG: configFile };
    writeFileSync(secretFile, account(mock).BEARERD_CLIENT_SECRET!);
    const proxy = await serving(t, started);
    const env = { ...started, BEARERD_ADMIN_LISTEN: new URL(proxy.admin).host };
    await proxy.ready();
    unlinkSync(secretFile);
    writeFileSync(configFile, 'log: { level: loud }\n');
    t.equal((await call(t, ['healthcheck'], env)).code, 0);
    t.match(await call(t, ['wait'], env), { code: 0, stderr: 'bearerd: ready\n' });
    proxy.child.kill('SIGTERM');
    t.equal((await proxy.finished).code, 0);
    t.match(
      await call(t, ['healthcheck'], env),
      { code: 1, stderr: `bearerd: nothing listens at ${env.BEARERD_ADMIN_LISTEN}. ` },
      'without a running proxy the message says only that',
    );
  },
);

t.test('a closed stdout and a full pipe do not stop the proxy', async (t) => {
  t.testdir({});
  const mock = await mockFor(t);
  const proxy = await serving(t, account(mock));
  await proxy.ready();
  proxy.child.stdout!.destroy();
  proxy.child.stderr!.destroy();
  for (let n = 0; n < 20; n++) t.equal((await get(`${proxy.url}/echo`)).status, 200);
  const dropped = async () =>
    Number(/^bearerd_log_lines_dropped_total (\d+)$/m.exec((await get(`${proxy.admin}/metrics`)).body)?.[1]);
  const before = await until(dropped, 'no lost line is counted');
  for (let n = 0; n < 10; n++) await get(`${proxy.url}/echo`);
  const lost = async () => (await dropped()) - before;
  await until(async () => (await lost()) >= 10, 'lost lines are not counted');
  t.pass('each lost line is counted');
});

t.test(
  'a log that cannot be written does not delay the stop: a full disk, a pipe without a reader',
  async (t) => {
    t.testdir({});
    const mock = await mockFor(t);
    // The log is lost, so the port cannot be read from it; and a free port may be taken by then: hence a Unix socket.
    const dir = mkdtempSync(join(tmpdir(), 'bearerd-'));
    t.teardown(() => rmSync(dir, { recursive: true, force: true }));
    const socketPath = join(dir, 'admin');
    const env = account(mock, { BEARERD_ADMIN_LISTEN: `unix:${socketPath}` });
    const shell = (line: string) =>
      spawn('sh', ['-c', line], {
        env: { ...process.env, ...env, NODE: process.execPath, MAIN },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    for (const line of ['exec "$NODE" "$MAIN" start >/dev/full', 'exec "$NODE" "$MAIN" start']) {
      const child = shell(line);
      t.teardown(() => child.kill('SIGKILL'));
      child.stdout.pause();
      await answers('http://localhost/readyz', { socketPath });
      const { body } = await get('http://localhost/metrics', { socketPath });
      t.match(body, /^bearerd_internal_errors_total 0$/m);
      const ended = happens(child, 'exit');
      child.kill('SIGTERM');
      t.same(await ended, [0, null], line);
    }
  },
);

t.test('a file or a folder at the path of a Unix socket is not removed', async (t) => {
  t.testdir({});
  const dir = mkdtempSync(join(tmpdir(), 'bearerd-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'file'), 'precious');
  mkdirSync(join(dir, 'folder'));
  symlinkSync('file', join(dir, 'link'));
  const env = { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_API_KEY: 'k' };
  for (const name of ['file', 'folder', 'link']) {
    const result = await run(t, [], { ...env, BEARERD_LISTEN: `unix:${join(dir, name)}` });
    t.equal(result.code, 71, name);
    t.match(result.stderr, /the file there is not a socket/);
  }
  t.equal(readFileSync(join(dir, 'link'), 'utf8'), 'precious');
});

t.test('an unreadable secret file is a fault that names the variable and the path', async (t) => {
  const dir = t.testdir({ secret: '' });
  chmodSync(join(dir, 'secret'), 0o600);
  const base = { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_CLIENT_ID: 'x' };
  const [missing, empty] = await Promise.all([
    call(t, ['check'], { ...base, BEARERD_CLIENT_SECRET_FILE: join(dir, 'nowhere') }),
    call(t, ['check'], { ...base, BEARERD_CLIENT_SECRET_FILE: join(dir, 'secret') }),
  ]);
  t.match(missing, { code: 78, stderr: /BEARERD_CLIENT_SECRET_FILE: .*nowhere/ });
  t.match(empty, { code: 78, stderr: /BEARERD_CLIENT_SECRET_FILE: / });
});

t.test('the lines that demo prints work, beside files for a real account, too', async (t) => {
  t.testdir({
    'bearerd.yaml': 'session: { path: /other }\ncallers: { ada: { key: { env: NOT_SET_HERE } } }\n',
    '.env': 'BEARERD_SESSION_PATH=/another\nBEARERD_TLS_CA_FILE=nowhere.pem\n',
  });
  const demo = start(t, ['demo'], { BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: '127.0.0.1:0' });
  const [text] = await demo.until(/Try:[\s\S]*Ctrl-C/);
  const lines = text.split('\n').filter((line) => line.trim().startsWith('curl -s http://127'));
  t.equal(lines.length, 3);
  const urls = lines.map((line) => /curl -s (\S+)/.exec(line)![1]!);
  t.equal((await get(urls[0]!)).status, 200);
  t.equal((await get(urls[2]!)).status, 200);
  t.match(lines[1], /-d '\{"matches"/);
  const socket = connect(Number(new URL(urls[0]!).port), '127.0.0.1');
  socket.on('error', () => {});
  demo.child.kill('SIGINT');
  t.equal((await demo.finished).code, 0, 'an idle connection does not delay the stop');
  socket.destroy();
});
