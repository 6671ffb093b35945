import t from 'tap';
import { ConfigFileError } from '../../src/base/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { CWD, FILE, faultsOf, LEAST, loadFrom, loadYaml } from './load-from.ts';

t.test('a base URL and a service account are a complete configuration', async (t) => {
  const config = await loadFrom({});
  const token = config.credentials.get('token');
  t.match(token, {
    kind: 'session',
    grant: { kind: 'service-account' },
    origins: ['https://api.example.com'],
  });
  t.match(token, { header: 'Authorization', scheme: 'Bearer' });
  t.match(config, {
    upstream: { origin: 'https://api.example.com', basePath: '' },
    sessionPath: '/api/identity/v1/session',
    tokenWaitMs: 10_000,
    renewAfterMs: 900_000,
    listen: [{ host: 'localhost', port: 9180 }],
    adminListen: [{ host: 'localhost', port: 9181 }],
    browserCookies: false,
    upstreamHttp2: true,
    closeTunnels: 'never',
    timeouts: { connectMs: 10_000, responseMs: 300_000, idleMs: 300_000 },
    limits: { connections: 10_000, waiting: 1000, headerSizeBytes: 32_768 },
    drainTimeoutMs: 25_000,
    shutdownDelayMs: 0,
    log: { level: 'info', format: 'auto' },
    routes: [{ prefix: '/', credential: 'token', clientAuthorization: 'replace', overrideHeaders: 'remove' }],
  });
  t.same(
    [config.allowedHosts, config.allowedOrigins, config.watchedFiles, config.callerKey, config.file],
    [[], [], [], undefined, undefined],
  );
});

t.test('every setting can be given by a variable', async (t) => {
  const config = await loadFrom({
    env: {
      ...LEAST,
      BEARERD_BASE_URL: ' http://upstream.internal/v2/ ',
      BEARERD_ALLOW_INSECURE_UPSTREAM: 'true',
      BEARERD_SESSION_PATH: '/login',
      BEARERD_API_KEY: 'api-key',
      BEARERD_ROUTES: '/companies=apiKey, /api/=token,/a=b=none,/api/admin=deny,',
      BEARERD_LISTEN: '127.0.0.1:0,unix:/run/b.sock',
      BEARERD_ADMIN_LISTEN: 'off',
      BEARERD_ALLOWED_HOSTS: 'Sidecar,*.svc.cluster.local',
      BEARERD_BROWSER_COOKIES: 'true',
      BEARERD_UPSTREAM_HTTP2: 'false',
      BEARERD_CLOSE_TUNNELS: 'at-expiry',
      BEARERD_ALLOWED_ORIGINS: 'http://LOCALHOST:3000',
      BEARERD_CALLER_KEY: 'caller-key',
      BEARERD_TOKEN_WAIT: '500ms',
      BEARERD_RENEW_AFTER: '1h',
      BEARERD_CONNECT_TIMEOUT: '2s',
      BEARERD_RESPONSE_TIMEOUT: 'off',
      BEARERD_IDLE_TIMEOUT: '3m',
      BEARERD_MAX_CONNECTIONS: '7',
      BEARERD_MAX_WAITING: '8',
      BEARERD_MAX_HEADER_SIZE: '1MiB',
      BEARERD_DRAIN_TIMEOUT: '0s',
      BEARERD_SHUTDOWN_DELAY: '7s',
      BEARERD_LOG_LEVEL: 'silent',
      BEARERD_LOG_FORMAT: 'json',
    },
  });
  t.match(config, {
    upstream: { origin: 'http://upstream.internal', basePath: '/v2' },
    sessionPath: '/login',
    adminListen: [],
    allowedHosts: ['sidecar', '*.svc.cluster.local'],
    allowedOrigins: ['http://localhost:3000'],
    browserCookies: true,
    upstreamHttp2: false,
    closeTunnels: 'at-expiry',
    tokenWaitMs: 500,
    renewAfterMs: 3_600_000,
    timeouts: { connectMs: 2000, responseMs: 0, idleMs: 180_000 },
    limits: { connections: 7, waiting: 8, headerSizeBytes: 1_048_576 },
    drainTimeoutMs: 0,
    shutdownDelayMs: 7_000,
    log: { level: 'silent', format: 'json' },
  });
  t.same(config.listen, [
    { kind: 'tcp', host: '127.0.0.1', port: 0 },
    { kind: 'unix', path: '/run/b.sock' },
  ]);
  t.equal(config.callerKey?.expose(), 'caller-key');
  t.same(
    config.routes.map((route) => `${route.prefix} ${route.credential}`),
    ['/companies apiKey', '/api token', '/a=b none', '/api/admin deny'],
  );
});

t.test('all wrong values are reported at once', async (t) => {
  const wrong = {
    BEARERD_BASE_URL: 'https://user:pass@api.example.com',
    BEARERD_ALLOW_INSECURE_UPSTREAM: 'yes',
    BEARERD_SESSION_PATH: 'session',
    BEARERD_ROUTES: '/a,=token,b=token',
    BEARERD_LISTEN: 'localhost',
    BEARERD_ADMIN_LISTEN: 'localhost:9181,off',
    BEARERD_ALLOWED_HOSTS: 'a:80',
    BEARERD_BROWSER_COOKIES: '1',
    BEARERD_UPSTREAM_HTTP2: 'off',
    BEARERD_CLOSE_TUNNELS: 'always',
    BEARERD_ALLOWED_ORIGINS: '*',
    BEARERD_CALLER_KEY: 'a\nb',
    BEARERD_ALLOW_REMOTE_CALLERS: 'TRUE',
    BEARERD_TOKEN_WAIT: '10',
    BEARERD_RENEW_AFTER: '0s',
    BEARERD_CONNECT_TIMEOUT: '0s',
    BEARERD_RESPONSE_TIMEOUT: 'none',
    BEARERD_IDLE_TIMEOUT: '1000h',
    BEARERD_MAX_CONNECTIONS: '0',
    BEARERD_MAX_WAITING: '-1',
    BEARERD_MAX_HEADER_SIZE: '32768',
    BEARERD_DRAIN_TIMEOUT: 'off',
    BEARERD_LOG_LEVEL: 'warning',
    BEARERD_LOG_FORMAT: 'text',
    BEARERD_TLS_CA_FILE: '/none.pem',
    BEARERD_USERNAME: '',
    BEARERD_API_KEY: ' key',
  };
  const faults = await faultsOf({ env: { ...LEAST, ...wrong } });
  t.same(new Set(faults.map((fault) => fault.replace(/:.*/, ''))), new Set(Object.keys(wrong)));
  t.same(await faultsOf({ env: { ...LEAST, ...wrong } }), faults, 'the order of faults is stable');
  const text = faults.join('\n');
  t.match(text, 'BEARERD_TOKEN_WAIT: has no unit; write 10s');
  t.match(
    text,
    'BEARERD_LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent; did you mean warn?',
  );
  t.match(text, 'BEARERD_ROUTES: entry 1: must be PREFIX=CREDENTIAL; entry 2: must be');
});

t.test('a list with a separator other than the comma is a fault that names the separator', async (t) => {
  const lists: [string, string, string][] = [
    ['ROUTES', '/a=token;/b=deny', 'has ";" between 2 entries'],
    ['ROUTES', '/a=token|/b=deny|/c=none', 'has "|" between 3 entries'],
    ['ROUTES', '/a=token /b=deny', 'has a space or a line end between 2 entries'],
    ['ROUTES', '/a=token\n/b=deny', 'has a space or a line end between 2 entries'],
    ['ROUTES', '/x=none, /a=token; /b=deny', 'entry 2: has ";" between 2 entries'],
    ['ROUTES', '/a=token;b=deny', 'holds a second pair after a ; or a |'],
    ['LISTEN', 'localhost:1;localhost:2', 'has ";" between 2 entries'],
    ['ADMIN_LISTEN', 'unix:/run/a;unix:/run/b', 'has ";" between 2 entries'],
    ['ALLOWED_HOSTS', 'sidecar *.local', 'has a space or a line end between 2 entries'],
    ['ALLOWED_ORIGINS', 'http://a:1|http://b', 'has "|" between 2 entries'],
  ];
  for (const [name, value, problem] of lists) {
    const faults = await faultsOf({ env: { ...LEAST, [`BEARERD_${name}`]: value } });
    t.same(faults.length, 1, value);
    t.match(faults[0], `BEARERD_${name}: ${problem}`, value);
  }
  for (const [name, value] of [
    ['ROUTES', '/a;v=1=token,/a;v=1;w=2=none,/b=c|d=deny'],
    ['LISTEN', 'unix:/run/a;b'],
  ]) {
    t.same(await faultsOf({ env: { ...LEAST, [`BEARERD_${name}`]: value } }), [], `${value} is one entry`);
  }
});

t.test('an invalid host name is a fault', async (t) => {
  for (const url of [
    'https://{host}',
    'https://api.$ENV.example',
    "https://o'neill.example",
    'https://a!b',
  ]) {
    const expected = /^BEARERD_BASE_URL: /;
    t.match(await faultsOf({ env: { ...LEAST, BEARERD_BASE_URL: url } }), [expected], url);
    const env = { ...LEAST, BEARERD_ALLOWED_ORIGINS: url };
    t.match(await faultsOf({ env }), [/^BEARERD_ALLOWED_ORIGINS: /], url);
  }
});

t.test('a missing setting is a fault with the ways to give it', async (t) => {
  const faults = await faultsOf({ env: {} });
  t.match(faults, [
    /^BEARERD_BASE_URL: is required/,
    /^credentials: .*BEARERD_CLIENT_ID and BEARERD_CLIENT_SECRET.*BEARERD_API_KEY/,
  ]);
  t.equal(faults.length, 2);
});

t.test('an unknown BEARERD_ variable is a fault with the most similar name', async (t) => {
  const faults = await faultsOf({
    env: {
      ...LEAST,
      BEARERD_TOKENWAIT: '1s',
      BEARERD_LISTN: '',
      BEARERD_PORT: '80',
      BEARERD_TOKEN: 'x',
      BEARERD_UPSTREAM: 'x',
      BEARERD_API_KEY_FIEL: 'x',
      BEARERD_BASE_URL_FILE: 'x',
      BEARERD_XYZZY: 'x',
      OTHER_VARIABLE: 'x',
    },
  });
  t.same(faults, [
    'BEARERD_API_KEY_FIEL: unknown variable; did you mean BEARERD_API_KEY_FILE?',
    'BEARERD_BASE_URL_FILE: unknown variable; did you mean BEARERD_BASE_URL?',
    'BEARERD_LISTN: unknown variable; did you mean BEARERD_LISTEN?',
    'BEARERD_PORT: unknown variable; did you mean BEARERD_LISTEN?',
    'BEARERD_TOKEN: unknown variable; did you mean BEARERD_API_KEY?',
    'BEARERD_TOKENWAIT: unknown variable; did you mean BEARERD_TOKEN_WAIT?',
    'BEARERD_UPSTREAM: unknown variable; did you mean BEARERD_BASE_URL?',
    'BEARERD_XYZZY: unknown variable',
  ]);
});

t.test('variables that Kubernetes sets under the prefix BEARERD_ are ignored', async (t) => {
  const links = {
    BEARERD_URL: 'http://localhost:1',
    BEARERD_SERVICE_HOST: '10.0.0.1',
    BEARERD_SERVICE_PORT_HTTP: '9180',
    BEARERD_PORT: 'tcp://10.0.0.1:9180',
    BEARERD_PORT_9180_TCP_ADDR: '10.0.0.1',
    BEARERD_ADMIN_SERVICE_HOST: '10.0.0.2',
  };
  t.same(await faultsOf({ env: { ...LEAST, ...links } }), []);
  t.match(await faultsOf({ env: { ...LEAST, BEARERD_PORT: '9180' } }), [/^BEARERD_PORT: unknown/]);
});

t.test('an empty variable counts as not set, and an empty secret is a fault', async (t) => {
  const config = await loadFrom({
    env: {
      ...LEAST,
      BEARERD_TOKEN_WAIT: '',
      BEARERD_LISTEN: ' ',
      BEARERD_ROUTES: '',
      BEARERD_CONFIG: '',
    },
  });
  t.equal(config.tokenWaitMs, 10_000);
  for (const name of ['CLIENT_ID', 'CLIENT_SECRET', 'USERNAME', 'PASSWORD', 'API_KEY', 'CALLER_KEY']) {
    const faults = await faultsOf({ env: { ...LEAST, [`BEARERD_${name}`]: '' } });
    t.ok(faults.includes(`BEARERD_${name}: is empty`), name);
    const fileFaults = await faultsOf({
      env: { ...LEAST, [`BEARERD_${name}`]: undefined, [`BEARERD_${name}_FILE`]: '' },
    });
    t.ok(fileFaults.includes(`BEARERD_${name}_FILE: is empty; it must name a file`), `${name}_FILE`);
  }
});

t.test('all faults of a list are named at once, also faults of its well-formed entries', async (t) => {
  const env = { BEARERD_ROUTES: 'x=token,/a=nope,/b,/c=token,/c=none', BEARERD_LISTEN: 'foo,0.0.0.0:9180' };
  const faults = (await faultsOf({ env: { ...LEAST, ...env } })).join('\n');
  t.match(faults, /BEARERD_ROUTES: entry 1: .*entry 3: /);
  t.match(faults, /BEARERD_ROUTES: entry \d: sends \/a to the credential nope, which does not exist/);
  t.match(faults, /BEARERD_ROUTES: entry \d: has the prefix of another route/);
  t.match(faults, /BEARERD_LISTEN: entry 1: /);
  t.match(
    faults,
    /0\.0\.0\.0:9180 can be reached from other machines/,
    'the well-formed address still needs a caller key',
  );
});

t.test('a variable wins over .env, .env over the file, the file over the default', async (t) => {
  const files = {
    [`${CWD}/.env`]: 'BEARERD_TOKEN_WAIT=2s\nBEARERD_RENEW_AFTER=2m\nOTHER=x\nUNKNOWN_SETTING=1\n',
    [FILE]: 'session: { tokenWait: 3s, renewAfter: 3m }\ndrainTimeout: 3s\nlog: { level: debug }\n',
  };
  const config = await loadFrom({
    env: { ...LEAST, BEARERD_TOKEN_WAIT: '1s', BEARERD_RENEW_AFTER: '' },
    files,
  });
  t.match(config, {
    tokenWaitMs: 1000,
    renewAfterMs: 120_000,
    drainTimeoutMs: 3000,
    log: { level: 'debug', format: 'auto' },
    file: FILE,
  });
});

t.test('quoted values of .env are exact, and unknown names there are faults', async (t) => {
  const env = { BEARERD_BASE_URL: 'https://api.example.com', HOME: '/root' };
  for (const line of [`'pa#ss$HOME'`, `"pa#ss$HOME"`, '`pa#ss$HOME`']) {
    const files = { [`${CWD}/.env`]: `BEARERD_USERNAME=ada\nBEARERD_PASSWORD=${line}\n` };
    const token = (await loadFrom({ env, files })).credentials.get('token');
    t.ok(
      token?.kind === 'session' &&
        token.grant.kind === 'user' &&
        token.grant.password.expose() === 'pa#ss$HOME',
      line,
    );
  }
  t.match(await faultsOf({ files: { [`${CWD}/.env`]: 'BEARERD_LISTN=x' } }), [/BEARERD_LISTN: unknown/]);
  t.match(await faultsOf({ files: { [`${CWD}/.env`]: { code: 'EACCES' } } }), [
    /^\.env: cannot be read: permission denied/,
  ]);
  t.same(
    await faultsOf({ files: { [`${CWD}/.env`]: { code: 'EISDIR' } } }),
    [],
    'a folder named .env is ignored',
  );
});

t.test('a $ in an environment variable is literal', async (t) => {
  const config = await loadFrom({
    env: { ...LEAST, BEARERD_API_KEY: 'a$HOME$BEARERD_CLIENT_SECRET', HOME: '/root' },
  });
  const key = config.credentials.get('apiKey');
  t.equal(key?.kind === 'api-key' && key.key.expose(), 'a$HOME$BEARERD_CLIENT_SECRET');
});

t.test('the first existing configuration file is read', async (t) => {
  const at = (level: string) => `log: { level: ${level} }`;
  const places: [string, Record<string, string>][] = [
    [FILE, {}],
    [`${CWD}/config/bearerd.yaml`, {}],
    ['/xdg/bearerd/bearerd.yaml', { XDG_CONFIG_HOME: '/xdg', HOME: '/home/ada' }],
    ['/home/ada/.config/bearerd/bearerd.yaml', { HOME: '/home/ada' }],
    ['/home/ada/.config/bearerd/bearerd.yaml', { HOME: '/home/ada', XDG_CONFIG_HOME: 'relative' }],
  ];
  for (const [path, env] of places) {
    const config = await loadFrom({ env: { ...LEAST, ...env }, files: { [path]: at('debug') } });
    t.match(config, { file: path, log: { level: 'debug' } }, path);
  }
  const files = {
    '/named.yaml': at('fatal'),
    '/flag.yaml': at('error'),
    [FILE]: at('debug'),
    [`${CWD}/config/bearerd.yaml`]: at('warn'),
  };
  const named = { ...LEAST, BEARERD_CONFIG: '/named.yaml' };
  t.equal((await loadFrom({ env: named, files })).log.level, 'fatal');
  t.equal((await loadFrom({ env: named, files, configFile: '/flag.yaml' })).log.level, 'error');
  t.equal((await loadFrom({ files })).log.level, 'debug');
  t.equal(
    (await loadFrom({ files: { [`${CWD}/sub/x.yaml`]: at('trace') }, configFile: 'sub/x.yaml' })).log.level,
    'trace',
  );
});

t.test('a named configuration file must exist, and an existing one must be readable', async (t) => {
  const named = { ...LEAST, BEARERD_CONFIG: '/named.yaml' };
  await t.rejects(loadFrom({ env: named, files: { [FILE]: '' } }), {
    code: 'config-file-unreadable',
    path: '/named.yaml',
    message: '/named.yaml: no such file',
  });
  await t.rejects(loadFrom({ configFile: 'x.yaml' }), {
    path: `${CWD}/x.yaml`,
    message: `${CWD}/x.yaml: no such file`,
  });
  await t.rejects(loadFrom({ configFile: '/dir', files: { '/dir': { code: 'EISDIR' } } }), {
    message: '/dir: it is a folder',
  });
  await t.rejects(loadFrom({ files: { [FILE]: { code: 'EACCES' } } }), ConfigFileError);
  t.same(await faultsOf({ files: { [FILE]: { code: 'ENOTDIR' } } }), []);
});

t.test('without a file the YAML parser is not loaded, and cwd defaults to that of the process', async (t) => {
  const asked: string[] = [];
  const readFile = (path: string): string => {
    asked.push(path);
    throw Object.assign(new Error(path), { code: 'ENOENT' });
  };
  await loadConfig({ env: LEAST, readFile });
  t.ok(asked.includes(`${process.cwd()}/bearerd.yaml`));
});

t.test('with only an API key the default route uses it', async (t) => {
  const config = await loadFrom({
    env: { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_API_KEY: 'k' },
  });
  t.match(config.routes, [
    { prefix: '/', credential: 'apiKey', upstream: { origin: 'https://api.example.com' } },
  ]);
  const both = await loadFrom({ env: { ...LEAST, BEARERD_API_KEY: 'k' } });
  t.match(both.routes, [{ prefix: '/', credential: 'token' }]);
  const open = await loadFrom({
    env: { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_ROUTES: '/=none' },
  });
  t.equal(open.credentials.size, 0, 'routes without a credential need no account');
});

t.test('a service account and a user exclude each other, and half of a pair is a fault', async (t) => {
  const base = { BEARERD_BASE_URL: 'https://api.example.com' };
  t.same(await faultsOf({ env: { ...LEAST, BEARERD_USERNAME: 'u', BEARERD_PASSWORD: 'p' } }), [
    'BEARERD_USERNAME: cannot be combined with BEARERD_CLIENT_ID: a credential is a service account or a user',
  ]);
  const halves: [Record<string, string>, string][] = [
    [{ BEARERD_CLIENT_ID: 'x' }, 'BEARERD_CLIENT_SECRET: is missing; BEARERD_CLIENT_ID needs it'],
    [
      { BEARERD_CLIENT_SECRET_FILE: '/s' },
      'BEARERD_CLIENT_ID: is missing; BEARERD_CLIENT_SECRET_FILE needs it',
    ],
    [{ BEARERD_USERNAME: 'x' }, 'BEARERD_PASSWORD: is missing; BEARERD_USERNAME needs it'],
    [{ BEARERD_PASSWORD: 'x' }, 'BEARERD_USERNAME: is missing; BEARERD_PASSWORD needs it'],
  ];
  for (const [half, fault] of halves)
    t.same(await faultsOf({ env: { ...base, ...half }, files: { '/s': 'x' } }), [fault]);
});

t.test('http:// is accepted only for a loopback host, unless allowed elsewhere', async (t) => {
  const env = { ...LEAST, BEARERD_BASE_URL: 'http://api.example.com' };
  t.match(await faultsOf({ env }), [
    /^BEARERD_BASE_URL: .*https:\/\/, or set BEARERD_ALLOW_INSECURE_UPSTREAM=true/,
  ]);
  t.same(await faultsOf({ env: { ...env, BEARERD_ALLOW_INSECURE_UPSTREAM: 'true' } }), []);
  t.same(await faultsOf({ env: { ...env, BEARERD_BASE_URL: 'http://localhost:8080' } }), []);
});

t.test('an address that others can reach needs a caller key', async (t) => {
  for (const listen of ['0.0.0.0:1', '[::]:1', '192.168.0.7:1', 'my-host:1', 'localhost:1,10.0.0.1:1']) {
    const env = { ...LEAST, BEARERD_LISTEN: listen };
    t.match(
      await faultsOf({ env }),
      [/^BEARERD_LISTEN: .*set BEARERD_CALLER_KEY .*BEARERD_ALLOW_REMOTE_CALLERS=true/],
      listen,
    );
    t.same(await faultsOf({ env: { ...env, BEARERD_CALLER_KEY: 'k' } }), [], listen);
    t.same(await faultsOf({ env: { ...env, BEARERD_ALLOW_REMOTE_CALLERS: 'true' } }), [], listen);
  }
  for (const listen of ['127.0.0.2:1', '[::1]:1', 'x.localhost:1', 'unix:/run/x.sock']) {
    t.same(await faultsOf({ env: { ...LEAST, BEARERD_LISTEN: listen } }), [], listen);
  }
  t.same(
    await faultsOf({ env: { ...LEAST, BEARERD_ADMIN_LISTEN: '0.0.0.0:9181' } }),
    [],
    'the admin listener needs no key: it restricts its endpoints instead',
  );
});

t.test('two listeners with one address are a fault', async (t) => {
  t.match(await faultsOf({ env: { ...LEAST, BEARERD_ADMIN_LISTEN: '127.0.0.1:9180' } }), [
    /^BEARERD_ADMIN_LISTEN: 127\.0\.0\.1:9180 is the same address as localhost:9180 of BEARERD_LISTEN; give/,
  ]);
  t.match(await faultsOf({ env: { ...LEAST, BEARERD_LISTEN: 'localhost:1,[::1]:1' } }), [
    /^BEARERD_LISTEN: \[::1\]:1 is the same address as localhost:1$/,
  ]);
  t.same(
    await faultsOf({ env: { ...LEAST, BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: '127.0.0.1:0' } }),
    [],
  );
});

t.test('outbound proxies come from the usual variables, lower case before upper case', async (t) => {
  const { outboundProxy } = await loadFrom({
    env: {
      ...LEAST,
      HTTPS_PROXY: 'http://upper:1',
      https_proxy: 'http://user:secret@lower:1',
      HTTP_PROXY: 'proxy:3128',
      NO_PROXY: '.internal',
    },
  });
  t.equal(outboundProxy.httpsProxy?.expose(), 'http://user:secret@lower:1/');
  t.equal(outboundProxy.httpProxy?.expose(), 'http://proxy:3128/');
  t.equal(outboundProxy.noProxy, '.internal');
  t.same((await loadFrom({})).outboundProxy, { httpsProxy: undefined, httpProxy: undefined, noProxy: '' });
  t.match(await faultsOf({ env: { ...LEAST, HTTPS_PROXY: 'socks5://p4ssw0rd@x' } }), [
    /^HTTPS_PROXY: must be the URL of an HTTP proxy/,
  ]);
});

t.test('secretVariables lists every variable that holds a secret', async (t) => {
  const config = await loadYaml(
    `credentials:
      token: { type: session, clientId: { env: UNUSED_ID }, clientSecret: { env: UNUSED_SECRET } }
      apiKey: { type: apiKey, key: { env: MY_KEY } }
      reports: { type: session, username: ada, password: { env: BEARERD_REPORTS_PASSWORD } }
callerKey: { env: MY_CALLER_KEY }`,
    { ...LEAST, MY_KEY: 'k', BEARERD_REPORTS_PASSWORD: 'p', BEARERD_CALLER_KEY: 'c' },
  );
  const expected = [
    'BEARERD_CLIENT_SECRET',
    'BEARERD_CLIENT_SECRET_FILE',
    'BEARERD_CALLER_KEY',
    'BEARERD_API_KEY_FILE',
    'MY_KEY',
    'BEARERD_REPORTS_PASSWORD',
    'MY_CALLER_KEY',
    'UNUSED_SECRET',
  ];
  for (const name of expected) t.ok(config.secretVariables.includes(name), name);
});

t.test('the configuration is deeply frozen', async (t) => {
  const config = await loadFrom({});
  t.throws(() => Object.assign(config, { tokenWaitMs: 1 }), TypeError);
  t.throws(() => Object.assign(config.timeouts, { idleMs: 1 }), TypeError);
  t.throws(() => Object.assign(config.routes[0] ?? {}, { prefix: '/x' }), TypeError);
  t.throws(() => Object.assign(config.credentials.get('token') ?? {}, { origins: [] }), TypeError);
  t.throws(() => Object.assign(config.effective, { x: 1 }), TypeError);
});
