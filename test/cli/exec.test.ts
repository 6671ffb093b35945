import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { childEnvironment } from '../../src/cli/child-environment.ts';
import { loadConfig } from '../../src/config/load.ts';
import { LEAST, loadFrom } from '../config/load-from.ts';
import { COMPILED, MAIN, run, start } from '../support/cli.ts';
import { saidBy } from '../support/internal-errors.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { isRunning } from '../support/processes.ts';
import { until, within } from '../support/raw-client.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

// A command under `bearerd exec` has the same environment and gets the same signals as without it.

const mock = await mockFor(t);
const ACCOUNT = accountOf(mock);

/** Prints its parent's process ID and each signal that it gets. Ends a moment after the first signal. */
const NOTES_SIGNALS = `
for (const signal of ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGWINCH']) {
  process.on(signal, () => {
    console.log('got ' + signal);
    setTimeout(() => process.exit(9), 400);
  });
}
setTimeout(() => process.exit(1), 120000);
console.log('parent ' + process.ppid + ' is up');
`;
/** Runs the command on a terminal of its own. Our stdin takes the place of the keyboard. */
const ON_TERMINAL = `
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
`;
const UNDER_EXEC = ['exec', '--', process.execPath, '-e', NOTES_SIGNALS];
const python = spawnSync('python3', ['-c', 'import pty, os; os.waitstatus_to_exitcode']);
const noTerminal = python.status === 0 ? false : 'python3 gives a terminal to test with';

interface OnTerminal {
  readonly child: ChildProcess;
  readonly wrapper: number;
  readonly output: () => string;
  readonly code: () => Promise<number | null>;
}

async function onTerminal(t: Test): Promise<OnTerminal> {
  const { PATH, HOME } = process.env;
  const child = spawn('python3', ['-c', ON_TERMINAL, process.execPath, MAIN, ...UNDER_EXEC], {
    env: { PATH, HOME, NODE_NO_WARNINGS: '1', ...COMPILED, ...ACCOUNT },
    cwd: t.testdirName,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const output = saidBy(t, child);
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  await until(() => /parent \d+ is up/.test(output()), 'the command does not start');
  const wrapper = Number(/parent (\d+)/.exec(output())?.[1]);
  return { child, wrapper, output, code: () => within(60_000, closed, () => `no end: ${output()}`) };
}

const signalsIn = (output: string) => [...output.matchAll(/got (SIG\w+)/g)].map(([, signal]) => signal);

for (const [key, byte, signal] of [
  ['Ctrl-C', '\x03', 'SIGINT'],
  ['Ctrl-\\', '\x1c', 'SIGQUIT'],
] as const) {
  t.test(`${key} on a terminal reaches the command of exec once`, { skip: noTerminal }, async (t) => {
    t.testdir({});
    const { child, output, code } = await onTerminal(t);
    child.stdin!.write(byte);
    t.equal(await code(), 9);
    t.same(signalsIn(output()), [signal]);
  });
}

t.test(
  'a signal to bearerd alone reaches the command of exec, on a terminal too',
  { skip: noTerminal },
  async (t) => {
    t.testdir({});
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      const { wrapper, output, code } = await onTerminal(t);
      process.kill(wrapper, signal);
      t.equal(await code(), 9);
      t.same(signalsIn(output()), [signal]);
    }
  },
);

t.test('without a terminal each signal to bearerd alone reaches the command of exec once', async (t) => {
  t.testdir({});
  const signals = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGWINCH'] as const;
  const ends = signals.map(async (signal) => {
    const running = start(t, UNDER_EXEC, ACCOUNT);
    await running.until(/is up$/m);
    running.child.kill(signal);
    const { code, stdout } = await running.finished;
    return { code, signals: signalsIn(stdout) };
  });
  t.same(
    await Promise.all(ends),
    signals.map((signal) => ({ code: 9, signals: [signal] })),
  );
});

const SIGNALLED = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;

/** bearerd leads its own process group, as under `timeout` or in a shell's job. */
async function inGroup(t: Test) {
  const { PATH, HOME } = process.env;
  const leader = spawn(process.execPath, [MAIN, ...UNDER_EXEC], {
    env: { PATH, HOME, NODE_NO_WARNINGS: '1', ...COMPILED, ...ACCOUNT },
    cwd: t.testdirName,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = saidBy(t, leader);
  const closed = new Promise<number | null>((resolve) => leader.once('close', resolve));
  await until(() => /is up$/m.test(output()), 'the command does not start');
  return { leader, output, code: () => within(60_000, closed, () => `no end: ${output()}`) };
}

t.test('a signal to the whole process group reaches the command of exec once', async (t) => {
  t.testdir({});
  const ends = SIGNALLED.map(async (signal) => {
    const { leader, output, code } = await inGroup(t);
    process.kill(-leader.pid!, signal);
    // A parent that also got the signal repeats it: npm afterwards, `timeout` before.
    leader.kill(signal);
    return [await code(), signalsIn(output())];
  });
  t.same(
    await Promise.all(ends),
    SIGNALLED.map((signal) => [9, [signal]]),
  );
});

t.test('a signal that a parent repeats at once reaches the command of exec once', async (t) => {
  t.testdir({});
  const { leader, output, code } = await inGroup(t);
  for (let i = 0; i < 3; i++) leader.kill('SIGTERM');
  t.equal(await code(), 9);
  t.same(signalsIn(output()), ['SIGTERM']);
});

t.test('exec leaves no process behind after SIGTERM or SIGKILL', async (t) => {
  t.testdir({});
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const { leader, output } = await inGroup(t);
    const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,comm='], { encoding: 'utf8' });
    const rows = stdout.split('\n').map((row) => row.trim().split(/\s+/));
    // Node 24 calls itself MainThread there.
    const isNode = (name = '') => /node|MainThread/.test(name);
    const own = rows.filter(([, parent, name]) => parent === `${leader.pid}` && !isNode(name));
    const pids = own.map(([pid]) => Number(pid));
    t.ok(pids.length > 0, output());
    leader.kill(signal);
    await until(() => pids.every((pid) => !isRunning(pid)), `a process is left behind after ${signal}`);
    const command = rows.find(([, parent, name]) => parent === `${leader.pid}` && isNode(name));
    if (signal === 'SIGKILL') process.kill(Number(command?.[0]), 'SIGKILL');
  }
});

t.test('the command of exec has the host of its proxy in NO_PROXY and no_proxy', async (t) => {
  const loopback = 'localhost,127.0.0.1,::1';
  const cases: [given: NodeJS.ProcessEnv, upper: string, lower: string][] = [
    [{}, loopback, loopback],
    [{ NO_PROXY: '.corp' }, `.corp,${loopback}`, `.corp,${loopback}`],
    [{ no_proxy: '.corp, 10.0.0.0/8' }, `.corp,10.0.0.0/8,${loopback}`, `.corp,10.0.0.0/8,${loopback}`],
    [{ NO_PROXY: 'a', no_proxy: 'b' }, `a,${loopback}`, `b,${loopback}`],
    [{ NO_PROXY: '127.0.0.1,x' }, '127.0.0.1,x,localhost,::1', '127.0.0.1,x,localhost,::1'],
    [{ NO_PROXY: '*' }, '*', '*'],
    [{ NO_PROXY: '' }, loopback, loopback],
  ];
  for (const [given, upper, lower] of cases) {
    const { NO_PROXY, no_proxy } = childEnvironment(
      given,
      { secretVariables: [], credentials: new Map(), routes: [] },
      new Map(),
    );
    t.same([NO_PROXY, no_proxy], [upper, lower], JSON.stringify(given));
  }
  const { routes } = await loadFrom({
    env: { ...LEAST, BEARERD_ROUTES: '/=token,//orders.localhost/=token,//api.example.com/=token' },
  });
  const told = childEnvironment({}, { secretVariables: [], credentials: new Map(), routes }, new Map());
  t.equal(told.NO_PROXY, `${loopback},orders.localhost`, 'names below localhost that routes use are added');
});

t.test("an outbound proxy in the environment does not get the command's calls to bearerd", async (t) => {
  t.testdir({});
  const script = 'curl -s -o /dev/null -w "%{http_code}" "$BEARERD_URL/companies/example.com"';
  const env = { ...ACCOUNT, http_proxy: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1' };
  const { stdout } = await run(t, ['exec', '--', 'sh', '-c', script], env);
  t.equal(stdout, '200');
});

t.test('the command of exec sees no credential that the API echoes, unless scrub is off', async (t) => {
  t.testdir({});
  const upstream = await RawUpstream.startedFor(t);
  upstream.onRequest = (got) => ok(got.header('authorization'));
  const script = 'fetch(process.env.BEARERD_URL).then(async (r) => process.stdout.write(await r.text()))';
  const under = async (env: NodeJS.ProcessEnv) => {
    const account = { ...ACCOUNT, BEARERD_BASE_URL: upstream.url, ...env };
    return (await run(t, ['exec', '--', process.execPath, '-e', script], account)).stdout;
  };
  t.match(await under({}), /^Bearer \*{5}$/);
  t.match(await under({ BEARERD_SCRUB: 'false' }), /^Bearer tok-2$/);
});

t.test('exec does not write to the sinks of a running proxy with the same file', async (t) => {
  const dir = t.testdir({ token: 'of the proxy that runs' });
  writeFileSync(join(dir, 'bearerd.yaml'), JSON.stringify({ sinks: [{ file: join(dir, 'token') }] }));
  const calls = ['sh', '-c', 'curl -s "$BEARERD_URL/companies/example.com" >&2; cat token'];
  const { code, stdout } = await run(t, ['exec', '--config', 'bearerd.yaml', '--', ...calls], ACCOUNT, dir);
  t.same([code, stdout], [0, 'of the proxy that runs']);
  t.equal(readFileSync(join(dir, 'token'), 'utf8'), 'of the proxy that runs');
});

t.test('exec logs only warnings on stderr, unless BEARERD_LOG_LEVEL says otherwise', async (t) => {
  t.testdir({});
  const [silent, empty, told] = await Promise.all(
    [{}, { BEARERD_LOG_LEVEL: '' }, { BEARERD_LOG_LEVEL: 'info' }].map((level) =>
      run(t, ['exec', '--', 'true'], { ...ACCOUNT, ...level }),
    ),
  );
  t.match(silent, { code: 0, stderr: '' });
  t.match(empty, { code: 0, stderr: '' });
  t.match(told?.stderr, /listening on/);
});

t.test('exec takes BEARERD_LOG_LEVEL from .env, too, and no level from the file', async (t) => {
  const lines = Object.entries(ACCOUNT).map(([name, value]) => `${name}='${value}'\n`);
  const dir = t.testdir({
    whole: { '.env': `${lines.join('')}BEARERD_LOG_LEVEL=info\n` },
    level: { '.env': 'BEARERD_LOG_LEVEL=info\n' },
    file: { 'bearerd.yaml': 'log: { level: info }\n' },
  });
  const log = async (folder: string, env: Record<string, string>) =>
    (await run(t, ['exec', '--', 'true'], env, join(dir, folder))).stderr;
  t.match(await log('whole', {}), /listening on/);
  t.equal(
    await log('level', { ...ACCOUNT, BEARERD_LOG_LEVEL: 'error' }),
    '',
    'the environment wins over .env',
  );
  t.equal(await log('file', ACCOUNT), '', 'the level of the file is for the service');
});

t.test('no encoded copy of a secret reaches the command of exec', async (t) => {
  const config = await loadConfig({
    env: {
      BEARERD_BASE_URL: 'https://api.example.com',
      BEARERD_API_KEY: 'key/with+signs&42',
      BEARERD_CLIENT_ID: 'sa-1',
      BEARERD_CLIENT_SECRET: 'client/secret',
      BEARERD_SHARE_URL: 'redis://:share%2Fpassword@127.0.0.1:6379',
      BEARERD_SHARE_KEY: 'sealed-by-this-key-of-32-letters',
    },
    readFile: (path) => {
      throw Object.assign(new Error(path), { code: 'ENOENT' });
    },
    cwd: '/nowhere',
  });
  const copies = ['key/with+signs&42', 'client/secret', 'share/password', 'sealed-by-this-key-of-32-letters'];
  for (const copy of copies) {
    const given = {
      PLAIN: `x=${copy}`,
      PERCENT: `https://api.example.com/?key=${encodeURIComponent(copy)}`,
      BASE64: Buffer.from(copy).toString('base64'),
      BASIC: `Basic ${Buffer.from(`user:${copy}`).toString('base64')}`,
      HEX: Buffer.from(copy).toString('hex').toUpperCase(),
      JSON_TEXT: JSON.stringify({ key: copy }),
      HARMLESS: copy.slice(1),
    };
    t.same(
      Object.keys(childEnvironment(given, config, new Map())).sort(),
      ['HARMLESS', 'NO_PROXY', 'no_proxy'],
      copy,
    );
  }
});

t.test('no copy of a key that is sent as the user name of Basic reaches the command of exec', async (t) => {
  const key = 'sk_live_51HqLyjWDarjtT1zdp7dc';
  for (const password of ["''", 'x', 'API_TOKEN']) {
    const config = await loadConfig({
      env: { BEARERD_BASE_URL: 'https://api.example.com', STRIPE_KEY: key },
      readFile: (path) => {
        if (path.endsWith('bearerd.yaml'))
          return `credentials: { k: { type: basic, username: { env: STRIPE_KEY }, password: ${password} } }
routes: [{ prefix: /, credential: k }]`;
        throw Object.assign(new Error(path), { code: 'ENOENT' });
      },
      cwd: '/nowhere',
    });
    const given = {
      STRIPE_KEY: key,
      COPY: key,
      CURL_AUTH: Buffer.from(`${key}:`).toString('base64'),
      HARMLESS: 'x',
    };
    t.same(
      Object.keys(childEnvironment(given, config, new Map())).sort(),
      ['HARMLESS', 'NO_PROXY', 'no_proxy'],
      password,
    );
  }
});

const noFile = (path: string) => {
  throw Object.assign(new Error(path), { code: 'ENOENT' });
};

t.test(
  'the command of exec gets the address of an outbound proxy without its user and password',
  async (t) => {
    const config = await loadConfig({
      env: { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_API_KEY: 'key/with+signs&42' },
      readFile: noFile,
      cwd: '/nowhere',
    });
    const given = {
      HTTPS_PROXY: 'http://user:p%40ss%2Fword@proxy.example:3128',
      http_proxy: 'user:p@ss@proxy.example:3128',
      ALL_PROXY: 'socks5h://only-a-user-name@proxy.example',
      npm_config_https_proxy: 'https://user:p%40ss%2Fword@proxy.example/',
      FTP_PROXY: 'http://proxy.example:3128/a@b',
      JAVA_OPTS: '-Dhttp.proxyPassword=p@ss/word',
      PROXY_AUTHORIZATION: `Basic ${Buffer.from('user:p@ss/word').toString('base64')}`,
      TOKEN_COPY: 'only-a-user-name',
      USER: 'user',
      NO_PROXY: '.internal',
    };
    t.same(childEnvironment(given, config, new Map()), {
      HTTPS_PROXY: 'http://proxy.example:3128',
      http_proxy: 'proxy.example:3128',
      ALL_PROXY: 'socks5h://proxy.example',
      npm_config_https_proxy: 'https://proxy.example/',
      FTP_PROXY: 'http://proxy.example:3128/a@b',
      USER: 'user',
      NO_PROXY: '.internal,localhost,127.0.0.1,::1',
      no_proxy: '.internal,localhost,127.0.0.1,::1',
    });
    const told = new Map([['HTTPS_PROXY', 'http://child:pw@proxy.example']]);
    t.match(childEnvironment(given, config, told), { HTTPS_PROXY: 'http://child:pw@proxy.example' });
  },
);

t.test('no copy of a login parameter that its name calls a secret reaches the command of exec', async (t) => {
  const config = await loadConfig({
    env: { BEARERD_BASE_URL: 'https://api.example.com', PARAM: 'param-secret-0123456789' },
    readFile: (path) => {
      if (!path.endsWith('bearerd.yaml')) return noFile(path);
      return `
credentials:
  o:
    type: oauth2
    tokenUrl: https://login.example/token
    clientId: client-1
    clientSecret: s3cret-of-client-1
    parameters: { api_secret: { env: PARAM }, organization: my-company, resource: https://api.example.com }
routes: [{ prefix: /, credential: o }]
`;
    },
    cwd: '/nowhere',
  });
  const given = {
    PARAM: 'param-secret-0123456789',
    COPY: 'x=param-secret-0123456789',
    HOME: '/home/my-company',
    API: 'https://api.example.com/v1',
  };
  t.same(Object.keys(childEnvironment(given, config, new Map())).sort(), [
    'API',
    'HOME',
    'NO_PROXY',
    'no_proxy',
  ]);
});
