import { readFileSync } from 'node:fs';
import type http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { CONNECTION_FAILURES, type ConnectionFailure } from '../../src/base/failures/words.ts';
import type { Finding } from '../../src/cli/online/check-result.ts';
import { onlineChecks } from '../../src/cli/online/checks.ts';
import { secretFilesCheck } from '../../src/cli/online/secret-files.ts';
import { visit } from '../../src/cli/online/server-visit.ts';
import { UpstreamPools } from '../../src/upstream/pools.ts';
import { loadYaml } from '../config/load-from.ts';
import { BROKEN_SERVERS, CA, listening, plain, tlsFile, tlsPath } from '../support/broken-servers.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { configOf } from '../support/gateway.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { accountOf, mockFor } from '../support/mock.ts';
import { inOneProcess } from '../support/one-process.ts';
import { until } from '../support/raw-client.ts';
import { NO_REDIS, RedisServer } from '../support/redis.ts';
import { undisturbed } from '../support/undisturbed.ts';

const call = inOneProcess(t);

const NAMES = ['secret-files', 'outbound-proxy', 'dns', 'connect', 'tls', 'clock', 'login'];
const SECRET = 'hunter2-s3cret';
const LOGIN = '{"accessToken":"token-of-check","expiresIn":900}';

const mock = await mockFor(t);
const ACCOUNT = accountOf(mock);

/** An API over TLS that accepts each login, and the requests that it got. */
async function secureApi(t: Lifetime, headers: http.OutgoingHttpHeaders = {}) {
  const requests: http.IncomingMessage[] = [];
  const options = { cert: tlsFile('server.pem'), key: tlsFile('server.key') };
  const server = https.createServer(options, (request, response) => {
    requests.push(request);
    response.writeHead(200, headers).end(request.method === 'POST' ? LOGIN : '{}');
  });
  return { port: await listening(t, server), requests };
}

const byName = (findings: readonly Finding[], name: string) =>
  findings.filter((finding) => finding.name === name);

t.test(
  'each check passes in order against an API that works, with one HEAD that holds no credential',
  async (t) => {
    const { port, requests } = await secureApi(t);
    const origin = `https://localhost:${port}`;
    const config = await configOf({ baseUrl: `${origin}/base`, env: CA });
    const findings = await onlineChecks(config, undefined);
    t.same(
      findings.map(({ name, ok }) => [name, ok]),
      [
        ['secret-files', true],
        ['outbound-proxy', null],
        ['dns', true],
        ['connect', true],
        ['tls', true],
        ['clock', true],
        ['login', true],
      ],
    );
    t.match(byName(findings, 'tls'), [
      { subject: origin, detail: /^TLSv1\.3; the certificate ends in \d+ days$/, remedy: null },
    ]);
    t.match(byName(findings, 'login'), [
      {
        subject: 'token',
        detail: /^fresh; the token lives for (?:900|89\d) s, from https:\/\/localhost:\d+$/,
        remedy: null,
      },
    ]);
    const heads = requests.filter(({ method }) => method === 'HEAD');
    t.match(heads, [{ url: '/base' }]);
    t.notOk(heads.some(({ headers }) => 'authorization' in headers));
    t.equal(requests.length, 2, 'the other request is the login');
  },
);

const STEPS: Readonly<Record<string, readonly ConnectionFailure[]>> = {
  'outbound-proxy': ['outbound-proxy'],
  dns: ['dns'],
  connect: ['refused', 'http-on-tls-port', 'not-http', 'head-too-large'],
  tls: [
    'tls-timeout',
    'tls-self-signed',
    'tls-expired',
    'tls-wrong-name',
    'tls-unknown-issuer',
    'tls-client-certificate',
    'tls-version',
    'https-on-plain-port',
  ],
};

for (const [step, failures] of Object.entries(STEPS)) {
  for (const failure of failures) {
    t.test(`${failure} fails the check ${step} in the words of the failed login`, async (t) => {
      const { baseUrl, env = {} } = await BROKEN_SERVERS[failure]!(t);
      const insecure = { BEARERD_ALLOW_INSECURE_UPSTREAM: 'true' };
      const config = await configOf({ baseUrl, env: { ...insecure, ...env } });
      const findings = await onlineChecks(config, undefined);
      t.same([...new Set(findings.map(({ name }) => name))], NAMES);
      const failed = findings.filter(({ ok }) => ok === false);
      t.same(
        failed.map(({ name }) => name),
        [step, 'login'],
      );
      const [seen, login] = failed as [Finding, Finding];
      const { remedy } = CONNECTION_FAILURES[failure];
      t.match(seen, { subject: baseUrl, remedy, exitCode: 69 });
      t.match(login, { subject: 'token', remedy, exitCode: 69 });
      t.ok(login.detail.endsWith(`/session ${seen.detail}`), `${login.detail} | ${seen.detail}`);
      t.match(byName(findings, 'clock'), [{ ok: null }], 'later checks are not run');
    });
  }
}

for (const [title, end, isSecure] of [
  ['a reset', 'resetAndDestroy', false],
  ['an end', 'end', false],
  ['an end of TLS', 'end', true],
  ['a cut of TLS', 'destroy', true],
] as const) {
  t.test(`a server that answers a HEAD with ${title} passes the checks, and its login too`, async (t) => {
    const answer: http.RequestListener = (request, response) => {
      if (request.method === 'POST') response.end(LOGIN);
      else request.socket[end]();
    };
    const options = { cert: tlsFile('server.pem'), key: tlsFile('server.key') };
    const baseUrl = isSecure
      ? `https://localhost:${await listening(t, https.createServer(options, answer))}`
      : await plain(t, answer);
    const findings = await onlineChecks(await configOf({ baseUrl, env: CA }), undefined);
    t.notOk(findings.some(({ ok }) => ok === false));
    t.match(byName(findings, 'connect'), [
      { ok: true, detail: /no answer to HEAD \/ \(it closed it, \w+\)/ },
    ]);
    t.match(byName(findings, 'clock'), [{ ok: null, detail: /no answer/ }]);
    const detail = isSecure ? /the certificate ends in \d+ days/ : /the URL says http/;
    t.match(byName(findings, 'tls'), [{ detail }]);
  });
}

t.test('a server that ignores a HEAD passes the checks, with TLS and without', async (t) => {
  const ignores = () => {};
  const options = { cert: tlsFile('server.pem'), key: tlsFile('server.key') };
  const secured = `https://localhost:${await listening(t, https.createServer(options, ignores))}`;
  for (const baseUrl of [await plain(t, ignores), secured]) {
    const config = await configOf({ baseUrl, env: CA });
    const pools = new UpstreamPools(config);
    t.teardown(() => pools.destroy());
    const seen = await visit(pools.ofOrigin(baseUrl, config.timeouts.connectMs), '/', systemClock, 2_000);
    t.match(seen, { problem: undefined, silence: 'no answer to HEAD / (none within 2 s)' });
  }
});

t.test('an outbound proxy looks up the name itself, and its password is not shown', async (t) => {
  const { port } = await secureApi(t);
  const proxy = await connectProxy(t, port);
  // The certificate holds this name. It is not looked up on this machine.
  const findings = await onlineChecks(
    await configOf({
      baseUrl: 'https://api.example.com',
      env: { ...CA, HTTPS_PROXY: `http://user:${SECRET}@${proxy.host}` },
    }),
    undefined,
  );
  t.match(byName(findings, 'outbound-proxy'), [{ ok: true, detail: `${proxy.host} opens a tunnel` }]);
  t.match(byName(findings, 'dns'), [{ ok: null }]);
  t.notMatch(JSON.stringify(findings), SECRET);
});

t.test('a clock that is far ahead of the server’s, or far behind, fails the check', async (t) => {
  for (const [hours, words] of [
    [-1, /is 3[56]\d\d s ahead of the server's/],
    [1, /is 3[56]\d\d s behind the server's/],
  ] as const) {
    const date = new Date(Date.now() + hours * 3_600_000).toUTCString();
    const baseUrl = await plain(t, (request, response) =>
      response.writeHead(200, { date }).end(request.method === 'POST' ? LOGIN : ''),
    );
    const findings = await onlineChecks(await configOf({ baseUrl }), undefined);
    t.match(byName(findings, 'clock'), [{ ok: false, detail: words, remedy: /NTP/, exitCode: 1 }]);
  }
  const baseUrl = await plain(t, (_request, response) => {
    response.sendDate = false;
    response.end(LOGIN);
  });
  const findings = await onlineChecks(await configOf({ baseUrl }), undefined);
  t.match(byName(findings, 'clock'), [{ ok: null }], 'without a Date the clock is not checked');
});

t.test('each server is checked once, in the order of the checks', async (t) => {
  const yaml = `credentials:
  staging: { type: session, clientId: a, clientSecret: b, baseUrl: 'http://127.0.0.1:2' }
  partner: { type: oauth2, tokenUrl: 'http://127.0.0.1:3/token', clientId: c, clientSecret: d, origins: ['${mock.url}'] }
  key: { type: apiKey, key: k }
routes: [{ prefix: /, credential: key }, { prefix: /x, credential: none, upstream: 'http://127.0.0.1:4' }]
`;
  const findings = await onlineChecks(await configOf({ baseUrl: mock.url, yaml }), undefined);
  t.same([...new Set(findings.map(({ name }) => name))], NAMES);
  t.same(
    byName(findings, 'connect').map(({ subject }) => subject),
    [mock.url, 'http://127.0.0.1:4', 'http://127.0.0.1:2', 'http://127.0.0.1:3'],
    'servers: of the base URL, of the routes, of the logins',
  );
  t.match(byName(findings, 'login').at(-1), { subject: 'key', ok: null, detail: /not tried/ });
});

t.test('--json prints the findings of --online, and nothing on stderr', async (t) => {
  const dir = t.testdir({ secret: mock.credentials.clientSecret });
  const { BEARERD_CLIENT_SECRET: _, ...env } = ACCOUNT;
  const file = join(dir, 'secret');
  const good = await call(t, ['check', '--online', '--json'], { ...env, BEARERD_CLIENT_SECRET_FILE: file });
  t.match(good, { code: 0, stderr: '' });
  const { ok, faults, checks } = JSON.parse(good.stdout);
  t.match({ ok, faults }, { ok: true, faults: [] });
  t.same(
    checks.map(({ name }: { name: string }) => name),
    NAMES,
  );
  for (const check of checks) t.same(Object.keys(check), ['name', 'subject', 'ok', 'detail', 'remedy']);
  t.match(checks[0], { subject: file, ok: true });
  const refused = await call(t, ['check', '--online', '--json'], {
    ...ACCOUNT,
    BEARERD_CLIENT_SECRET: SECRET,
  });
  t.match(refused, { code: 77, stderr: '' });
  t.match(JSON.parse(refused.stdout), { ok: false, faults: [] });
  t.match(JSON.parse(refused.stdout).checks.at(-1), {
    subject: 'token',
    ok: false,
    detail: /refuses the credentials \(status 401\)$/,
    remedy: /^Check the ID and the secret/,
  });
  t.notMatch(refused.stdout, SECRET);
});

t.test('--json prints each fault of a configuration with the likely correction', async (t) => {
  const dir = t.testdir({ 'bearerd.yaml': 'baseUrl: https://a.example\nsesion: { tokenWait: 1s }\n' });
  const env = { BEARERD_TOKENWAIT: '1s', BEARERD_API_KEY_FILE: '/no/such', BEARERD_LOG_LEVEL: 'inf' };
  const faulty = await call(t, ['check', '--json', '--online'], env, dir);
  t.match(faulty, { code: 78, stderr: '' });
  const { ok, faults, checks } = JSON.parse(faulty.stdout);
  t.equal(ok, false);
  t.same(faults, [
    {
      key: 'BEARERD_API_KEY_FILE',
      message: 'cannot read /no/such: no such file',
      suggestion: null,
    },
    {
      key: 'BEARERD_LOG_LEVEL',
      message: faults[1].message,
      suggestion: 'info',
    },
    {
      key: 'BEARERD_TOKENWAIT',
      message: 'unknown variable; did you mean BEARERD_TOKEN_WAIT?',
      suggestion: 'BEARERD_TOKEN_WAIT',
    },
    {
      key: 'sesion',
      message: 'unknown key; did you mean session? (bearerd.yaml:2)',
      suggestion: 'session',
    },
  ]);
  t.same(
    checks.map(({ name, ok }: Finding) => [name, ok]),
    NAMES.map((name) => [name, name === 'secret-files' ? false : null]),
  );
  const offline = await call(t, ['check', '--json'], ACCOUNT, join(dir, '..'));
  t.match(offline, { code: 0, stderr: '', stdout: '{"ok":true,"faults":[],"checks":[]}\n' });
  const absent = await call(t, ['check', '--json', '--config', 'no.yaml'], ACCOUNT, dir);
  t.match(absent, { code: 66, stderr: '' });
  t.match(JSON.parse(absent.stdout).faults, [{ key: 'no.yaml', message: 'no such file' }]);
});

t.test('without --json the findings are lines, and stderr says why the exit code is not 0', async (t) => {
  t.testdir({});
  const [good, down] = await Promise.all([
    call(t, ['check', '--online'], ACCOUNT),
    call(t, ['check', '--online'], { ...ACCOUNT, BEARERD_BASE_URL: 'http://127.0.0.1:1' }),
  ]);
  t.match(good, { code: 0, stderr: '' });
  t.match(good.stdout, /\n# ✓ connect http:\S+: it answers \(status \d+\)\n/);
  t.match(good.stdout, /\n# – tls http:\S+: the URL says http:\/\/\n/);
  t.match(
    good.stdout,
    /\n# ✓ login token: fresh; .*\n# No request was sent: add GET PATH .*\n# The configuration is valid; every check passed\.\n$/,
  );
  const { what, remedy } = CONNECTION_FAILURES.refused;
  t.equal(down.code, 69);
  t.match(down.stdout, `\n# ✗ connect http://127.0.0.1:1: ${what} (ECONNREFUSED). ${remedy}\n`);
  t.match(down.stdout, /\n# ✗ login token: .*\n# The configuration is valid; 2 checks failed\.\n$/);
  t.match(down.stderr, /^bearerd: token: the session endpoint \S+ can't be reached/);
});

t.test('--online METHOD PATH sends this request as the proxy would', async (t) => {
  const seen: http.IncomingMessage[] = [];
  const baseUrl = await plain(t, (request, response) => {
    seen.push(request);
    if (request.method === 'POST') return void response.end(LOGIN);
    if (request.method === 'HEAD') return void response.end();
    // A body that never ends does not delay the command.
    const status = { '/missing': 404, '/keyed/wrong': 401, '/wrong': 401, '/open/x': 401, '/keyed/no': 403 }[
      request.url!
    ];
    response.writeHead(status ?? 200).write('{');
  });
  const env = {
    BEARERD_API_KEY: 'the-api-key',
    BEARERD_ROUTES: '/=token,/keyed=apiKey,/open=none,/closed=deny,//orders.example/keyed=none',
  };
  const yaml = 'credentials: { apiKey: { type: apiKey, header: X-Api-Key, key: of the file } }';
  const config = await configOf({ baseUrl, env, yaml });
  const request = async (method: string, target: string) => {
    const findings = await onlineChecks(config, { method, target });
    t.same([...new Set(findings.map(({ name }) => name))], [...NAMES, 'request']);
    return findings.at(-1)!;
  };
  t.match(await request('GET', '/x?q=1'), {
    subject: 'GET /x?q=1',
    ok: true,
    detail: /^the upstream answers with status 200 \(route \/, credential token, \d+ ms\)$/,
  });
  t.match(
    seen.find(({ url }) => url === '/x?q=1'),
    { headers: { authorization: 'Bearer token-of-check' } },
  );
  t.notOk(seen.some(({ headers }) => 'x-bearerd-key' in headers));
  t.match(await request('GET', '/keyed'), { ok: true, detail: /route \/keyed, credential apiKey/ });
  t.match(await request('GET', 'http://Orders.example:9180/keyed?q'), {
    subject: 'GET http://Orders.example:9180/keyed?q',
    ok: true,
    detail: /route \/\/orders\.example\/keyed, credential none/,
  });
  t.ok(seen.some(({ url }) => url === '/keyed?q'));
  t.match(await request('GET', 'http://orders.example/x'), { ok: false, detail: /404 no-route/ });
  t.match(await request('GET', '/missing'), {
    ok: false,
    detail: /status 404 \(route \//,
    remedy: /bearerd routes/,
    exitCode: 1,
  });
  t.match(await request('GET', '/keyed/wrong'), {
    ok: false,
    detail: /status 401 \(route \/keyed, credential apiKey, \d+ ms, sent X-Api-Key: <11 characters>\)$/,
    remedy: /refuses the key\. .*header and scheme of the credential/,
  });
  t.match(await request('GET', '/keyed/no'), { ok: false, remedy: /account lacks a role/ });
  t.match(await request('GET', '/wrong'), {
    detail: /sent Authorization: Bearer <a token>\)$/,
    remedy: /refuses a new token/,
  });
  t.match(await request('GET', '/open/x'), {
    detail: /sent no credential\)$/,
    remedy: /route sends no credential/,
  });
  t.match(await request('GET', '/closed'), {
    ok: false,
    detail: /^bearerd answers with status 403 route-denied/,
  });
});

t.test('the request of a check does not write to the sinks of the running proxy', async (t) => {
  const { port } = await secureApi(t);
  const sink = join(t.testdir({ token: 'of the proxy that runs' }), 'token');
  const files = {
    BEARERD_LISTEN_TLS_CERT_FILE: tlsPath('elsewhere.pem'),
    BEARERD_LISTEN_TLS_KEY_FILE: tlsPath('elsewhere.key'),
  };
  const yaml = JSON.stringify({ sinks: [{ file: sink }] });
  const config = await configOf({ baseUrl: `https://localhost:${port}`, env: { ...CA, ...files }, yaml });
  const findings = await onlineChecks(config, { method: 'GET', target: '/x' });
  t.match(findings.at(-1), { name: 'request', ok: true, detail: /status 200/ });
  t.equal(readFileSync(sink, 'utf8'), 'of the proxy that runs');
});

t.test('after a failed login no request is sent: it would cause one more login', async (t) => {
  let logins = 0;
  const baseUrl = await plain(t, (request, response) => {
    if (request.method === 'POST') logins++;
    response.writeHead(401).end();
  });
  const findings = await onlineChecks(await configOf({ baseUrl }), { method: 'GET', target: '/x' });
  t.match(findings.at(-1), { name: 'request', ok: null, detail: /a login failed/ });
  t.equal(logins, 1);
});

t.test('check with a request needs --online and a valid path', async (t) => {
  t.testdir({});
  for (const [args, says] of [
    [['GET', '/x'], /--online/],
    [['--online', 'GET'], /METHOD PATH/],
    [['--online', 'GTE', '/x'], /did you mean GET\?/],
    [['--online', 'GET', 'x'], /must begin with \//],
    [['--online', 'GET', 'http://localhost/a b'], /%XX/],
    [['--online', 'GET', 'http://localhost'], /must begin with \//],
    [['--online', 'GET', 'http:///x'], /must begin with \//],
    [['--online', 'GET', '/a b'], /%XX/],
    [['--online', 'CONNECT', '/x'], /CONNECT/],
  ] as const) {
    const { code, stderr } = await call(t, ['check', ...args], ACCOUNT);
    t.equal(code, 64, args.join(' '));
    t.match(stderr, says);
  }
});

t.test('an unreachable Redis fails the check, with its address and the consequence', async (t) => {
  const port = await freePort();
  const shared = { ...ACCOUNT, BEARERD_SHARE_URL: `redis://user:${SECRET}@127.0.0.1:${port}` };
  const { stdout: output, code } = await call(t, ['check', '--online'], shared, t.testdir());
  t.equal(code, 69);
  t.match(
    output,
    `✗ share 127.0.0.1:${port}: Redis at 127.0.0.1:${port} (BEARERD_SHARE_URL) cannot be reached: nothing listens at this address`,
  );
  t.match(
    output,
    /Until that is mended each instance logs in by itself\. Check the address, and that Redis runs\./,
  );
  t.notMatch(output, SECRET);
});

t.test(
  'Redis is checked after the logins, and only if it is configured',
  { skip: NO_REDIS },
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { port } = await secureApi(t);
    const checks = async (more: object) => {
      const config = await configOf({ baseUrl: `https://localhost:${port}`, env: { ...CA, ...more } });
      return (await onlineChecks(config, undefined)).map(({ name, ok }) => [name, ok]);
    };
    t.same((await checks({})).at(-1), ['login', true]);
    t.same((await checks({ BEARERD_SHARE_URL: redis.url })).slice(-2), [
      ['login', true],
      ['share', true],
    ]);
    const cluster = await RedisServer.startedFor(t, '--cluster-enabled', 'yes');
    t.same((await checks({ BEARERD_SHARE_URL: cluster.url })).at(-1), ['share', false]);
  }),
);

t.test(
  'the request of a check has a token of a login of its own, and shares it with no instance',
  { skip: NO_REDIS },
  async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { port, requests } = await secureApi(t);
    const env = { ...CA, BEARERD_SHARE_URL: redis.url };
    const config = await configOf({ baseUrl: `https://localhost:${port}`, env });
    const { socket, text } = await redis.monitor();
    t.teardown(() => socket.destroy());
    const findings = await onlineChecks(config, { method: 'GET', target: '/x' });
    t.match(findings.at(-1), { name: 'request', ok: true });
    t.equal(requests.filter(({ method }) => method === 'POST').length, 2, 'the login check, and the request');
    await redis.command('SET', 'the', 'end');
    await until(() => text().includes('"the"'), 'Redis does not say what it was told');
    t.notMatch(text(), /"bearerd:(?!probe)/, 'only the check of Redis itself writes there');
  },
);

t.test('a key that signs both assertions of a login is one file', async (t) => {
  const config = await loadYaml(
    'baseUrl: https://h\ncredentials: { token: { type: oauth2, tokenUrl: https://h/t, grant: jwtBearer, clientAuthentication: privateKeyJwt, clientId: i, privateKey: { file: /not/there } } }\n',
  );
  const { detail } = await secretFilesCheck(config);
  t.match(detail, /not\/there/);
  t.notMatch(detail, '; ');
});
