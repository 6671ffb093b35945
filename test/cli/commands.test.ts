import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { COMMANDS } from '../../src/cli/commands.ts';
import { run, start } from '../support/cli.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { inOneProcess } from '../support/one-process.ts';
import { happens } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

const call = inOneProcess(t);

// Whole command lines: the tests see what a person or a script sees.
const mock = await mockFor(t);
const ACCOUNT = accountOf(mock);
const SECRETS = [mock.credentials.clientSecret, mock.credentials.apiKey];

t.test('--version and --help print to stdout and exit 0, with a command and without', async (t) => {
  t.testdir({});
  const [version, help, commandHelp] = await Promise.all([
    call(t, ['--version']),
    call(t, ['--help']),
    call(t, ['token', '--help']),
  ]);
  t.match(version, { code: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' });
  t.match(help, { code: 0, stdout: /usage: bearerd/, stderr: '' });
  for (const command of Object.keys(COMMANDS)) {
    t.match(help.stdout, new RegExp(`^ {2}${command} `, 'm'));
  }
  t.match(commandHelp, { code: 0, stdout: /--credential NAME/ });
});

t.test('text quoted from a file or an argument cannot control the terminal', async (t) => {
  const folder = t.testdir({ 'nasty.yaml': 'baseUrl: https://a.example\n"\\e[2J\\u009b\\u202ex": 1\n' });
  const file = await call(t, ['check', '--config', join(folder, 'nasty.yaml')]);
  t.equal(file.code, 78);
  t.match(file.stderr, '\\u001b[2J\\u009b\\u202ex');
  t.notMatch(file.stderr, /[\x1b\x7f-\x9f\u202e]/);
  const argument = await call(t, ['st\x1b[2Jrt']);
  t.equal(argument.code, 64);
  t.notMatch(argument.stderr, '\x1b');
});

t.test('wrong usage exits 64 and names the right usage', async (t) => {
  t.testdir({});
  const cases: [string[], RegExp][] = [
    [['strat'], /unknown command "strat"; did you mean "start"\?/],
    [['reload'], /unknown command "reload"; send SIGHUP to the running process/],
    [['serve'], /unknown command "serve"; use "bearerd start"/],
    [['check', '--onlin'], /unknown flag --onlin; did you mean --online\?/],
    [['token', '--credential'], /bearerd token/],
    [['token', '--credential', 'tokn'], /no such credential; did you mean token\?/],
    [['token', '--header', '--json'], /exclude each other/],
    [['routes', 'GET'], /PATH is missing\n.*METHOD PATH/],
    [['routes', 'companies'], /PATH must begin with \/ \(or be a URL\)/],
    [['wait', '--timeout', '10'], /has no unit; write 10s/],
    [['start', 'x'], /bearerd/],
    [['--lsten', ':80'], /unknown flag --lsten; did you mean --listen\?/],
    [['--config', 'x', '--lsten', ':80'], /unknown flag --lsten/],
    [['check', '--tokn-wait=1s'], /unknown flag --tokn-wait; did you mean --token-wait\?/],
    [['token', '--client-secret', 's3cret'], /use --client-secret-file FILE/],
    [['schema', '--listen', ':80'], /unknown flag --listen/],
    [['exec'], /bearerd exec/],
    [['exec', '--env', '1X', '--', 'true'], /must be a name of letters/],
    [['mock', '--behave', 'login=nonsense'], /login/],
    [['mock', '--listen', 'nowhere'], /--listen/],
  ];
  const results = await Promise.all(cases.map(([args]) => call(t, args, ACCOUNT)));
  for (const [i, result] of results.entries()) {
    t.equal(result.code, 64, cases[i]![0].join(' '));
    t.match(result.stderr, cases[i]![1]);
    t.equal(result.stdout, '');
  }
});

t.test('a faulty configuration exits 78 at once and names every fault', async (t) => {
  t.testdir({});
  const { code, stderr, stdout } = await run(t, [], {
    BEARERD_BASE_URL: 'http://example.com',
    BEARERD_CLIENT_ID: 'x',
    BEARERD_TOKEN_WAIT: '10',
    BEARERD_TOKENWAIT: '10s',
  });
  t.equal(code, 78);
  t.equal(stdout, '');
  for (const key of [
    'BEARERD_BASE_URL',
    'BEARERD_CLIENT_SECRET',
    'BEARERD_TOKEN_WAIT',
    'BEARERD_TOKENWAIT',
  ]) {
    t.match(stderr, new RegExp(`^${key}: `, 'm'));
  }
  t.match(stderr, /did you mean BEARERD_TOKEN_WAIT\?/);
});

t.test(
  'a named configuration file that does not exist exits 66; broken YAML exits 78 and is not quoted',
  async (t) => {
    const dir = t.testdir({ 'broken.yaml': 'callerKey: "s3cret-line\nroutes: [' });
    const missing = await call(t, ['check', '--config', 'missing.yaml'], ACCOUNT, dir);
    t.match(missing, { code: 66, stderr: /missing\.yaml/ });
    const broken = await call(t, ['check', '--config', 'broken.yaml'], ACCOUNT, dir);
    t.equal(broken.code, 78);
    t.match(broken.stderr, /line \d+/);
    t.notMatch(broken.stderr, /s3cret/);
  },
);

t.test('check reports an API key as not tried, with --online and without', async (t) => {
  t.testdir({});
  const { code, stdout } = await call(t, ['check'], { ...ACCOUNT, BEARERD_API_KEY: mock.credentials.apiKey });
  t.equal(code, 0);
  t.match(
    stdout,
    /\n# – login apiKey: not tried; only a request can try a key\n# The configuration is valid\.\n$/,
  );
  t.notMatch(stdout, /login token/);
});

t.test('check prints the configuration in force with every secret as ***', async (t) => {
  t.testdir({});
  const { code, stdout } = await call(t, ['check', '--online'], {
    ...ACCOUNT,
    BEARERD_API_KEY: mock.credentials.apiKey,
  });
  t.equal(code, 0);
  t.match(stdout, /baseUrl: http:\/\/127\.0\.0\.1/);
  t.match(stdout, /clientSecret: (['"]?)\*\*\*\1/);
  t.match(stdout, /# ✓ login token: fresh; the token lives for (?:900|89\d) s, from http:\/\/\S+\n/);
  t.match(stdout, /# – login apiKey: not tried/);
  t.match(stdout, /^# Read: flags, the environment\n/);
  t.match(stdout, /\n# The configuration is valid; every check passed\.\n$/);
  for (const secret of SECRETS) t.notMatch(stdout, new RegExp(secret));
});

t.test('check names the files that it read, and start says that it did not read .env', async (t) => {
  const yaml = `baseUrl: ${mock.url}\nlisten: 127.0.0.1:0\nadmin: { listen: off }\n`;
  const dir = t.testdir({ 'bearerd.yaml': yaml, '.env': 'BEARERD_API_KEY=abc\nBEARERD_LOG_LEVEL=error\n' });
  const found = await call(t, ['check'], {}, dir);
  t.match(found.stdout, `# Read: flags, the environment, .env, ${join(dir, 'bearerd.yaml')}\n`);
  t.match(found.stdout, /level: error # \.env\n/);
  const named = await call(t, ['check', '--config', 'bearerd.yaml', '--log-level=warn'], ACCOUNT, dir);
  t.match(
    named.stdout,
    /^# Read: .*bearerd\.yaml\n# \.env is not read, since a configuration file is named\n/,
  );
  t.match(named.stdout, /level: warn # --log-level\n/);
  t.match(named.stdout, /baseUrl: \S+ # BEARERD_BASE_URL\n/);
  const proxy = start(t, ['--config', 'bearerd.yaml'], ACCOUNT, dir);
  await proxy.until(/\.env is not read/);
});

t.test('a valid value that is probably a mistake gives a warning, in check and in the log', async (t) => {
  const env = { ...ACCOUNT, BEARERD_API_KEY: '/run/secrets/c4n4ry' };
  const dir = t.testdir({});
  const found = await call(t, ['check'], env, dir);
  t.equal(found.code, 0);
  t.match(found.stdout, /\n# Warning: BEARERD_API_KEY: looks like the path of a file;.*\n# – login apiKey/);
  const { warnings, faults } = JSON.parse((await call(t, ['check', '--json'], env, dir)).stdout);
  t.match(warnings, [{ key: 'BEARERD_API_KEY', message: /^looks like the path of a file/ }]);
  t.same(faults, []);
  const proxy = start(t, [], { ...env, BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: 'off' }, dir);
  await proxy.until(/"level":"warn".*BEARERD_API_KEY looks like the path of a file/);
  t.notMatch(found.stdout, 'c4n4ry');
});

t.test(
  'check --online and token exit 77 for refused credentials and 69 for an endpoint that is down',
  async (t) => {
    t.testdir({});
    const wrong = { ...ACCOUNT, BEARERD_CLIENT_SECRET: 'wrong-secret-value' };
    const down = { ...ACCOUNT, BEARERD_BASE_URL: 'http://127.0.0.1:1' };
    const [refusedCheck, refusedToken, downCheck, downToken] = await Promise.all([
      call(t, ['check', '--online'], wrong),
      call(t, ['token'], wrong),
      call(t, ['check', '--online'], down),
      call(t, ['token'], down),
    ]);
    t.match(refusedCheck, { code: 77, stderr: /refuses the credentials \(status 401\)/ });
    t.match(refusedToken, { code: 77, stdout: '', stderr: /refuses the credentials/ });
    t.match(downCheck, {
      code: 69,
      stderr: /session can't be reached: nothing listens at its address and port \(ECONNREFUSED\)\. Check/,
    });
    t.match(downToken, { code: 69, stdout: '' });
    for (const { stdout, stderr } of [refusedCheck, refusedToken])
      t.notMatch(stdout + stderr, /wrong-secret/);
  },
);

// Each in a process of its own, which nothing keeps alive but what it waits for.
t.test(
  'a 101 in answer to the login or to the HEAD does not end token and check --online early',
  async (t) => {
    t.testdir({});
    const api = await RawUpstream.startedFor(t);
    const switched = head('101 Switching Protocols', 'connection: upgrade', 'upgrade: x');
    api.onRequest = () => switched;
    api.onLogin = () => switched;
    const env = { ...ACCOUNT, BEARERD_BASE_URL: api.url };
    const [checked, failed] = await Promise.all([run(t, ['check', '--online'], env), run(t, ['token'], env)]);
    t.match(checked, {
      code: 69,
      stdout: /✓ connect \S+: it answers \(status 101\)\n/,
      stderr: /session gives no token \(status 101\)\. The fault is in the server/,
    });
    t.match(failed, { code: 69, stdout: '', stderr: /session gives no token \(status 101\)/ });
  },
);

t.test('a reader of stderr that has gone changes neither the exit code nor stdout', async (t) => {
  t.testdir({});
  const ready = createHttpServer((_request, response) => response.end('{"ready":true,"credentials":{}}'));
  await new Promise<void>((resolve) => ready.listen(0, '127.0.0.1', resolve));
  t.teardown(() => ready.close());
  const { port } = ready.address() as { port: number };
  const api = await RawUpstream.startedFor(t);
  api.onLogin = () => ok('{"accessToken":"tok-1"}'); // The missing expiry is a warning.
  const cases: readonly [args: readonly string[], code: number, stdout: string][] = [
    [['wait', '--admin-listen', `127.0.0.1:${port}`], 0, ''],
    [['token'], 0, 'tok-1\n'],
    [['exec', '--', 'no-such-command'], 127, ''],
    [['routes', '--nonsense'], 64, ''],
    [['routes', '--drain-timeout', '7'], 78, ''],
  ];
  for (const [args, code, stdout] of cases) {
    const { child, finished } = start(t, args, { ...ACCOUNT, BEARERD_BASE_URL: api.url });
    child.stderr!.destroy();
    t.match(await finished, { code, stdout }, args.join(' '));
  }
});

t.test('token prints the token and nothing else on stdout, in three forms', async (t) => {
  t.testdir({});
  const env = { ...ACCOUNT, BEARERD_API_KEY: mock.credentials.apiKey };
  const [plain, header, json, key] = await Promise.all([
    call(t, ['token'], env),
    call(t, ['token', '--header', '--credential', 'token'], env),
    call(t, ['token', '--json'], env),
    call(t, ['token', '--header', '--credential', 'apiKey'], env),
  ]);
  t.match(plain, { code: 0, stdout: /^[\w-]+\.[\w-]+\.[\w-]+\n$/ });
  t.match(header, { code: 0, stdout: /^Authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+\n$/ });
  const parsed = JSON.parse(json.stdout);
  t.match(parsed, { token: /^[\w-]+\./, expiresAt: /Z$/ });
  t.equal(key.stdout, `Authorization: Bearer ${mock.credentials.apiKey}\n`);
});

t.test('routes prints the route table, and explains one request with the table of the proxy', async (t) => {
  t.testdir({});
  const env = {
    ...ACCOUNT,
    BEARERD_API_KEY: 'k',
    BEARERD_ROUTES: '/=token,/companies=apiKey,/api/admin=deny,/health=none',
  };
  const explain = (...args: string[]) => call(t, ['routes', ...args], env);
  const [table, key, denied, session, bad] = await Promise.all([
    explain(),
    explain('GET', '/companies/acme?x=1'),
    explain('GET', '/api/admin'),
    explain('POST', '/api/identity/v1/session'),
    explain('GET', '/companies/../api'),
  ]);
  t.same(
    table.stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2).join(' ')),
    ['PREFIX CREDENTIAL', '/companies apiKey', '/api/admin deny', '/health none', '/ token', ''],
    'the longest prefix first',
  );
  t.match(
    key.stdout,
    /result: +forwarded\nroute: +\/companies\ncredential: +apiKey\nupstream: +http.*\/companies\/acme\?x=1\n/,
  );
  t.match(denied.stdout, /refused with 403 route-denied/);
  t.match(session.stdout, /refused with 403 route-denied/);
  t.match(bad.stdout, /refused with 400 bad-path/);
});

t.test('routes shows configured limits', async (t) => {
  const file = `routes:
  - { prefix: /reports, credential: token, limit: 60/60s }
  - { prefix: /, credential: token }
`;
  t.testdir({ 'bearerd.yaml': file });
  const explain = async (...args: string[]) => (await call(t, ['routes', ...args], ACCOUNT)).stdout;
  const [table, json, one, free] = await Promise.all([
    explain(),
    explain('--json'),
    explain('/reports/x'),
    explain('/x', '--json'),
  ]);
  t.match(
    table,
    /^PREFIX +CREDENTIAL +METHODS +LIMIT +UPSTREAM\n\/reports +token +any +60\/1m +http.*\n\/ +token +any +- /,
  );
  t.match(JSON.parse(json)[0], { route: '/reports', limit: '60/1m' });
  t.match(one, /^limit: +60\/1m$/m);
  t.notOk('limit' in JSON.parse(free));
});

t.test(
  'routes says of a path without one which routes there are, and at which line to add one',
  async (t) => {
    const file =
      'routes:\n  - { prefix: /reports, credential: token }\n  - { prefix: /x, credential: deny }\n';
    t.testdir({ 'bearerd.yaml': file });
    const [person, json] = await Promise.all([
      run(t, ['routes', '/elsewhere'], ACCOUNT),
      run(t, ['routes', '/elsewhere', '--json'], ACCOUNT),
    ]);
    t.match(
      person.stdout,
      /^what to do: +Add a route for this path to the routes at bearerd\.yaml:3 .*The routes: \/reports\.$/m,
    );
    t.notOk('remedy' in JSON.parse(json.stdout), 'for a program nothing changes');
  },
);

t.test('routes uses the authority of an absolute target as the Host, as the proxy does', async (t) => {
  t.testdir({});
  const env = { ...ACCOUNT, BEARERD_ALLOWED_HOSTS: 'sidecar' };
  const json = async (target: string) =>
    JSON.parse((await call(t, ['routes', 'GET', target, '--json'], env)).stdout);
  const [elsewhere, own, allowed] = await Promise.all(
    ['http://elsewhere.example/x', 'http://localhost:9180/x', 'http://sidecar/x'].map(json),
  );
  t.match(elsewhere, { decision: 'refuse', code: 'host-refused', status: 403, route: null, upstream: null });
  t.match(own, { decision: 'forward', upstream: /\/x$/ });
  t.match(allowed, { decision: 'forward' });
});

t.test('routes prints one table for each host, and accepts a URL', async (t) => {
  t.testdir({});
  const env = {
    ...ACCOUNT,
    BEARERD_API_KEY: 'k',
    BEARERD_ROUTES: '//Orders.example/=apiKey,/=token,//orders.example/admin=deny,//crm.localhost/api=none',
  };
  const routes = (...args: string[]) => call(t, ['routes', ...args], env);
  const json = async (...args: string[]) => JSON.parse((await routes(...args, '--json')).stdout);
  const [tables, rows, orders, alone, crm, other] = await Promise.all([
    routes(),
    json(),
    json('GET', 'http://ORDERS.example:9180/x?y'),
    json('https://orders.example/admin'),
    json('GET', 'http://crm.localhost/x'),
    json('GET', '//orders.example/x'),
  ]);
  t.same(
    tables.stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 2).join(' ')),
    [
      'PREFIX CREDENTIAL',
      '/ token',
      '',
      '//orders.example/admin deny',
      '//orders.example/ apiKey',
      '',
      '//crm.localhost/api none',
      '',
    ],
  );
  t.same(
    rows.map(({ route }: { route: string }) => route),
    ['/', '//orders.example/admin', '//orders.example/', '//crm.localhost/api'],
  );
  t.match(orders, {
    decision: 'forward',
    route: '//orders.example/',
    credential: 'apiKey',
    upstream: /[^/]\/x\?y$/,
    why: '//orders.example/ is the longest prefix that matches /x at a segment boundary',
  });
  t.match(alone, { code: 'route-denied', route: '//orders.example/admin' });
  t.match(crm, { code: 'no-route', route: null, why: 'no prefix of crm.localhost matches' });
  t.match(other, { decision: 'forward', route: '/' }, 'a path alone is for no host');
});

t.test(
  'routes --json says whether a request is forwarded or refused, and exits 0 in both cases',
  async (t) => {
    t.testdir({});
    const env = {
      ...ACCOUNT,
      BEARERD_API_KEY: 'k',
      BEARERD_ROUTES: '/=token,/companies=apiKey,/api/admin=deny',
    };
    const json = async (...args: string[]) => {
      const { code, stdout } = await call(t, ['routes', ...args, '--json'], env);
      t.equal(code, 0);
      return JSON.parse(stdout);
    };
    const [table, sent, denied, bad, odd] = await Promise.all([
      json(),
      json('GET', '/companies/acme?x=1'),
      json('GET', '/api/admin'),
      json('GET', '/companies/../api'),
      json('GET', 'companies'),
    ]);
    t.match(odd, { decision: 'refuse', code: 'bad-path', status: 400 });
    t.same(
      table.map(({ route, credential }: { route: string; credential: string }) => [route, credential]),
      [
        ['/companies', 'apiKey'],
        ['/api/admin', 'deny'],
        ['/', 'token'],
      ],
      'in matching order',
    );
    const { removed, why, ...rest } = sent;
    t.same(rest, {
      decision: 'forward',
      code: null,
      status: null,
      route: '/companies',
      credential: 'apiKey',
      upstream: `${mock.url}/companies/acme?x=1`,
    });
    t.match(why, /longest prefix/);
    for (const name of ['authorization', 'x-bearerd-key', 'te', 'x-original-url', 'x-http-method']) {
      t.ok(removed.includes(name), name);
    }
    for (const name of ['host', 'content-length', 'cookie', 'via']) t.notOk(removed.includes(name), name);
    const refusal = { decision: 'refuse', upstream: null, removed: [] };
    t.match(denied, {
      ...refusal,
      code: 'route-denied',
      status: 403,
      route: '/api/admin',
      credential: 'deny',
    });
    t.match(bad, { ...refusal, code: 'bad-path', status: 400, credential: null });
  },
);

t.test('token needs --credential if several credentials log in', async (t) => {
  const dir = t.testdir({
    'bearerd.yaml': `baseUrl: ${mock.url}
credentials:
  sales: { type: session, clientId: a, clientSecret: b }
  support: { type: session, clientId: c, clientSecret: d }
  key: { type: apiKey, key: k }
routes: [{ prefix: /, credential: sales }]
`,
    'one.yaml': `baseUrl: ${mock.url}
credentials: { sales: { type: session, clientId: ${mock.credentials.clientId}, clientSecret: ${mock.credentials.clientSecret} } }
routes: [{ prefix: /, credential: sales }]
`,
  });
  t.match(await call(t, ['token'], {}, dir), {
    code: 64,
    stdout: '',
    stderr: /several credentials log in; name one by --credential: sales, support\n/,
  });
  t.match(await call(t, ['token', '--config', 'one.yaml'], {}, dir), { code: 0, stdout: /^\S+\n$/ });
});

t.test('an address that cannot be listened on is shown as configured, with the reason', async (t) => {
  t.testdir({});
  const taken = createServer();
  const hasV6 = await new Promise<boolean>((resolve) => {
    taken.once('error', () => resolve(false)).listen(0, '::1', () => resolve(true));
  });
  t.teardown(() => taken.close());
  const env = { ...ACCOUNT, BEARERD_ADMIN_LISTEN: 'off' };
  const folder = '/no-such-folder';
  t.match(await run(t, [], { ...env, BEARERD_LISTEN: `unix:${folder}/s.sock` }), {
    code: 71,
    stderr: new RegExp(`^bearerd: cannot listen on unix:${folder}/s.sock: there is no such folder \\(`),
  });
  if (!hasV6) return;
  const { port } = taken.address() as { port: number };
  t.match(await run(t, [], { ...env, BEARERD_LISTEN: `[::1]:${port}` }), {
    code: 71,
    stderr: new RegExp(`^bearerd: cannot listen on \\[::1\\]:${port}: the address is already in use \\(`),
  });
});

t.test('schema prints a JSON Schema', async (t) => {
  t.testdir({});
  const { code, stdout } = await call(t, ['schema']);
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { type: 'object', properties: { baseUrl: {}, routes: {}, credentials: {} } });
});

t.test(
  'exec runs a command with its own proxy and without the secrets, and exits with its code',
  async (t) => {
    const dir = t.testdir({ 'bearerd.yaml': 'callerKey: file-caller-key\n' });
    const script = `
    const url = process.env.API_URL;
    const response = await fetch(url + '/companies/example.com');
    const names = Object.keys(process.env).filter((n) => /SECRET|CLIENT_ID|API_KEY|CALLER|MY_OWN/.test(n));
    console.log(JSON.stringify({ url, status: response.status, names }));
    process.exit(7);`;
    const env = {
      ...ACCOUNT,
      BEARERD_CALLER_KEY: 'caller-key-1',
      BEARERD_URL: 'http://outer',
      BEARERD_LOG_LEVEL: 'info',
    };
    const { code, stdout, stderr } = await run(
      t,
      ['exec', '--env', 'API_URL', '--', process.execPath, '--input-type=module', '-e', script],
      env,
      dir,
    );
    t.equal(code, 7, stderr);
    t.match(JSON.parse(stdout), { url: /^http:\/\/127\.0\.0\.1:\d+$/, status: 200, names: [] });
    t.match(stderr, /listening on/, 'the log is on stderr');
    const missing = await run(t, ['exec', '--', 'no-such-command-here'], ACCOUNT, dir);
    t.equal(missing.code, 127);
    const killed = await run(t, ['exec', '--', 'sh', '-c', 'kill -TERM $$'], ACCOUNT, dir);
    t.equal(killed.code, 128 + 15);
  },
);

t.test('exec forwards a signal that comes as soon as the command runs', async (t) => {
  t.testdir({});
  const script = 'trap "exit 42" HUP; echo up; while :; do sleep 0.05; done';
  const running = start(t, ['exec', '--', 'sh', '-c', script], ACCOUNT);
  await running.until(/^up$/m);
  running.child.kill('SIGHUP');
  t.equal((await running.finished).code, 42);
});

t.test('an address in use exits 71 with one line', async (t) => {
  t.testdir({});
  const taken = createServer().listen(0, '127.0.0.1');
  await happens(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as { port: number };
  const result = await run(t, [], {
    ...ACCOUNT,
    BEARERD_LISTEN: `127.0.0.1:${port}`,
    BEARERD_ADMIN_LISTEN: 'off',
  });
  t.equal(result.code, 71);
  const demo = await run(t, ['demo'], { BEARERD_LISTEN: `127.0.0.1:${port}`, BEARERD_ADMIN_LISTEN: 'off' });
  t.equal(demo.code, 71, 'the mock of the demo does not delay the exit');
  t.match(
    result.stderr,
    new RegExp(
      `^bearerd: cannot listen on 127\\.0\\.0\\.1:${port}: the address is already in use \\(the proxy's listener, from BEARERD_LISTEN\\)\\. .*\\n$`,
    ),
  );
});

t.test('healthcheck and wait ask the admin listener; with none configured they exit 78', async (t) => {
  const dir = t.testdir({});
  writeFileSync(join(dir, 'note'), '');
  const unreachable = { ...ACCOUNT, BEARERD_ADMIN_LISTEN: '127.0.0.1:1' };
  const [down, late, off, byFlag] = await Promise.all([
    call(t, ['healthcheck'], unreachable),
    call(t, ['wait', '--timeout', '300ms'], unreachable),
    call(t, ['healthcheck'], { ...ACCOUNT, BEARERD_ADMIN_LISTEN: 'off' }),
    call(t, ['wait', '--timeout', '300ms', '--admin-listen', '127.0.0.1:1'], {
      ...ACCOUNT,
      BEARERD_ADMIN_LISTEN: 'off',
    }),
  ]);
  t.match(down, {
    code: 1,
    stderr: /^bearerd: nothing listens at 127\.0\.0\.1:1\. Start bearerd, or .*\n$/,
  });
  t.match(late, {
    code: 1,
    stderr: /^bearerd: waiting: nothing listens at 127\.0\.0\.1:1\. .*\nbearerd: not ready within 0\.3 s\n$/,
  });
  t.equal(byFlag.code, 1);
  const stranger = createHttpServer((_request, response) => response.end('{"ready":"true"}'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  t.teardown(() => stranger.close());
  const { port } = stranger.address() as { port: number };
  const other = await call(t, ['healthcheck'], { BEARERD_ADMIN_LISTEN: `127.0.0.1:${port}` });
  t.match(other, { code: 1, stderr: `bearerd: what listens at 127.0.0.1:${port} is not bearerd: give` });
  t.match(off, { code: 78, stderr: /BEARERD_ADMIN_LISTEN/ });
});
