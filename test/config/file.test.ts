import t from 'tap';
import { stringify } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { FILE_KEYS } from '../../src/config/sections/file.ts';
import { fc } from '../support/properties.ts';
import { CWD, FILE, faultsOf, faultsOfYaml, LEAST, loadFrom, loadYaml } from './load-from.ts';

const TOKEN =
  'baseUrl: https://api.example.com\ncredentials: { token: { type: session, clientId: a, clientSecret: b } }\n';

t.test('a file alone can be a complete configuration', async (t) => {
  const config = await loadYaml(
    `baseUrl: https://api.example.com/v2
allowInsecureUpstream: true
session: { path: /login, tokenWait: 1s, renewAfter: 2m }
credentials:
  token:   { type: session, clientId: sa-1, clientSecret: { file: secrets/client } }
  apiKey:  { type: apiKey, key: { env: MY_API_KEY }, origins: 'https://api.example.com,http://other.example', header: X-Api-Key, scheme: '' }
  reports: { type: session, username: ada@example.com, password: { file: /run/password } }
routes:
  - { prefix: /companies/, credential: apiKey, rewrite: /data/companies }
  - { prefix: /reports, credential: reports, methods: [get, HEAD], timeouts: { response: off, idle: 1h } }
  - { prefix: /other, credential: apiKey, upstream: http://other.example/base/, clientAuthorization: keep }
  - { prefix: /api/admin, credential: deny, methods: 'GET, POST' }
  - { prefix: /, credential: token }
listen: [localhost:1, 'unix:/run/x.sock']
admin: { listen: off }
allowedHosts: [sidecar, '*.local']
allowedOrigins: http://localhost:3000, http://localhost:3001
browserCookies: true
upstreamHttp2: false
closeTunnels: at-expiry
callerKey: caller
allowRemoteCallers: false
timeouts: { connect: 1s, response: 2s, idle: off }
limits: { connections: 5, waiting: "6", headerSize: 8KiB }
drainTimeout: 1m
log: { level: warn, format: pretty }
`,
    { MY_API_KEY: 'k' },
    { [`${CWD}/secrets/client`]: 's\n', '/run/password': 'p\r\n' },
  );
  t.match(config, {
    file: FILE,
    upstream: { origin: 'https://api.example.com', basePath: '/v2' },
    sessionPath: '/login',
    tokenWaitMs: 1000,
    renewAfterMs: 120_000,
    adminListen: [],
    allowedHosts: ['sidecar', '*.local'],
    allowedOrigins: ['http://localhost:3000', 'http://localhost:3001'],
    browserCookies: true,
    upstreamHttp2: false,
    closeTunnels: 'at-expiry',
    timeouts: { connectMs: 1000, responseMs: 2000, idleMs: 0 },
    limits: { connections: 5, waiting: 6, headerSizeBytes: 8192 },
    drainTimeoutMs: 60_000,
    log: { level: 'warn', format: 'pretty' },
  });
  t.match(config.routes, [
    {
      prefix: '/companies',
      rewrite: '/data/companies',
      upstream: { basePath: '/v2' },
      clientAuthorization: 'replace',
      overrideHeaders: 'remove',
    },
    { methods: ['GET', 'HEAD'], timeouts: { connectMs: 1000, responseMs: 0, idleMs: 3_600_000 } },
    { upstream: { origin: 'http://other.example', basePath: '/base' }, clientAuthorization: 'keep' },
    { credential: 'deny', methods: ['GET', 'POST'] },
    { prefix: '/', credential: 'token', timeouts: { connectMs: 1000, responseMs: 2000, idleMs: 0 } },
  ]);
  t.match(config.credentials.get('apiKey'), {
    kind: 'api-key',
    header: 'X-Api-Key',
    scheme: '',
    origins: ['https://api.example.com', 'http://other.example'],
  });
  t.same(config.watchedFiles, [`${CWD}/secrets/client`, '/run/password']);
});

t.test(
  'scrub of a route wins over the global scrub, and both win over a default of the command',
  async (t) => {
    const scrubOf = async (yaml: string, defaults: Record<string, string> = {}) => {
      const readFile = () => `${TOKEN}${yaml}`;
      const { routes } = await loadConfig({ env: {}, cwd: CWD, readFile, configFile: FILE, defaults });
      return routes.map(({ scrub }) => scrub);
    };
    const routes =
      'routes: [{ prefix: /a, credential: token, scrub: SCRUB }, { prefix: /, credential: token }]\n';
    t.same(await scrubOf(''), [false]);
    t.same(await scrubOf('scrub: true'), [true]);
    t.same(await scrubOf(routes.replace('SCRUB', 'true')), [true, false]);
    t.same(await scrubOf(`${routes.replace('SCRUB', 'false')}scrub: true`), [false, true]);
    const defaults = { BEARERD_SCRUB: 'true' };
    t.same(await scrubOf('', defaults), [true]);
    t.same(await scrubOf('scrub: false', defaults), [false]);
    t.same(await scrubOf(routes.replace('SCRUB', 'false'), defaults), [false, true]);
  },
);

t.test('the effective configuration has the shape of the file, and *** for each secret', async (t) => {
  const config = await loadYaml(`${TOKEN}routes:
  - { prefix: /x, credential: token, rewrite: /y, methods: [GET], timeouts: { idle: 1s } }
  - { prefix: /, credential: none, upstream: https://other.example/z }
limits: { headerSize: 1024KiB }
timeouts: { connect: off }
callerKey: c`);
  t.strictSame(config.effective, {
    baseUrl: 'https://api.example.com',
    allowInsecureUpstream: false,
    session: { path: '/api/identity/v1/session', tokenWait: '10s', renewAfter: '15m' },
    listen: ['localhost:9180'],
    admin: { listen: ['localhost:9181'], probes: 'off' },
    allowedHosts: [],
    browserCookies: false,
    scrub: false,
    upstreamHttp2: true,
    closeTunnels: 'never',
    allowedOrigins: [],
    allowRemoteCallers: false,
    timeouts: { connect: 'off', response: '5m', idle: '5m' },
    limits: { connections: 10_000, waiting: 1000, headerSize: '1MiB' },
    drainTimeout: '25s',
    shutdownDelay: '0s',
    log: { level: 'info', format: 'auto' },
    callerKey: '***',
    credentials: {
      token: {
        type: 'session',
        clientId: '***',
        clientSecret: '***',
        origins: ['https://api.example.com'],
        header: 'Authorization',
        scheme: 'Bearer',
      },
    },
    routes: [
      {
        prefix: '/x',
        credential: 'token',
        methods: ['GET'],
        rewrite: '/y',
        timeouts: { idle: '1s' },
        clientAuthorization: 'replace',
        overrideHeaders: 'remove',
      },
      {
        prefix: '/',
        credential: 'none',
        upstream: 'https://other.example/z',
        clientAuthorization: 'replace',
        overrideHeaders: 'remove',
      },
    ],
  });
});

t.test('an empty file, empty maps and keys without a value have no effect', async (t) => {
  for (const yaml of [
    '',
    '# only a comment\n',
    '---\n',
    'admin:\nlog:\n  level:\nroutes:\ncredentials:\n',
    '{}',
  ]) {
    t.match(
      await loadYaml(yaml, LEAST),
      { file: FILE, log: { level: 'info' }, routes: [{ credential: 'token' }] },
      yaml,
    );
  }
});

t.test('broken YAML is a fault with line and column that does not show the line', async (t) => {
  const broken: [string, RegExp][] = [
    ['a: 1\nkey: "s3cret\n', /line 3, column 1: a quote/],
    ['key: [s3cret\nb: 1', /line 2, column 1: the indentation/],
    ['key: s3cret\nkey: s3cret\n', /line 2, column 1: a key stands twice/],
    ['session: { path: /s3cret, path: /s3cret }', /line 1, column 27: a key stands twice/],
    ['key: s3cret: x', /line 1, column \d+: a second key/],
    ['key: @s3cret', /line 1, column 6: a value begins/],
    ['\tkey: s3cret', /a tab/],
    ['key: !s3cret x', /!tag/],
    ['a: 1\n---\nb: s3cret', /a second document/],
    ['? [s3cret]\n: 1', /not plain text/],
    ['key: *s3cret', /an alias/],
    ['- s3cret', /must be a map/],
    ['s3cret', /must be a map/],
    [`a: ${'['.repeat(50_000)}`, /nested too deeply/],
  ];
  for (const [yaml, expected] of broken) {
    const text = (await faultsOfYaml(yaml, LEAST)).join('\n');
    t.match(text, expected, yaml.slice(0, 40));
    t.ok(text.startsWith(`${FILE}: `), 'the fault names the file');
    t.notMatch(text, /s3cret/, 'the fault shows nothing of the file');
  }
});

t.test('a missing colon, or no space after a colon, is a fault with line and key', async (t) => {
  const slips: [string, ...string[]][] = [
    ['baseUrl https://s3cret\nlog: { level: info }', 'line 1: a colon is missing after baseUrl'],
    [
      '# first\nbaseUrl:https://s3cret\nlog: { level: info }',
      'line 2: a space is missing after the colon of baseUrl',
    ],
    ['baseUrl:https://s3cret', 'line 1: a space is missing after the colon of baseUrl'],
    [
      'baseUrl:https://s3cret\nlisten localhost:1\nlog: {}',
      'line 1: a space is missing after the colon of baseUrl',
      'line 2: a colon is missing after listen',
    ],
    [
      'log: {}\ncredentials\n  token: { type: apiKey, key: s3cret }',
      'line 2: a colon is missing after credentials',
    ],
    [
      'credentials:\n  a:\n    type: apiKey\n    key:s3cret',
      'line 4: a space is missing after the colon of key',
    ],
    ['credentials:\n  a:\n    key s3cret\n    type: apiKey', 'line 3: a colon is missing after key'],
    [
      'credentials:\n  a:\n    s3cret:x\n    type: apiKey',
      'line 3: a space is missing after the colon of a key',
    ],
    [
      'routes:\n  - prefix:/s3cret\n    credential: none',
      'line 2: a space is missing after the colon of prefix',
    ],
    ['log:\n level: debug\n  format: s3cret', 'line 2, column 9: a second key'],
  ];
  for (const [yaml, ...expected] of slips) {
    const faults = await faultsOfYaml(yaml, LEAST);
    t.same(faults.length, expected.length, yaml);
    for (const [index, fault] of faults.entries()) {
      t.ok(fault.startsWith(`${FILE}: ${expected[index]}`), fault);
      t.notMatch(fault, /s3cret/, 'the fault shows nothing else of the line');
    }
  }
});

t.test('a key without a space after its colon is named, also within braces and in a list', async (t) => {
  const inner: [string, string][] = [
    [
      'credentials: { a: { type:session, clientId: b, clientSecret: c } }',
      'credentials.a.type: needs a space after its colon',
    ],
    ['callers: { a: { key:s3cret } }', 'callers.a.key: needs a space after its colon'],
    ['credentials: { a: { type: apiKey, key s3cret } }', 'credentials.a.key: needs a colon after it'],
    ['routes: [{ prefix:/s3cret, credential: none }]', 'routes[0].prefix: needs a space after its colon'],
    ['session:{ path: /s3cret }', 'session: needs a space after its colon'],
    ['admin:\n  listen:s3cret', 'admin: must be a map of keys and values; a space is missing after a colon'],
    ['listen:\n  -localhost:1', 'listen: needs a space after the - of a list'],
  ];
  for (const [yaml, expected] of inner) {
    const faults = await faultsOfYaml(yaml, LEAST);
    t.ok(faults.includes(expected), `${yaml}\n${faults.join('\n')}`);
    t.notMatch(faults.join(), /s3cret/);
  }
});

t.test('the keys of a credential are listed once each', async (t) => {
  const [fault = ''] = await faultsOfYaml('credentials: { a: { type: , s3cret } }', LEAST);
  const keys = (/the keys here are (.*)\)/.exec(fault)?.[1] ?? '').split(', ');
  t.ok(keys.length > 10);
  t.same(keys, [...new Set(keys)]);
});

t.test('with a broken file no missing settings are reported, and variables are checked', async (t) => {
  const faults = await faultsOfYaml('a: [', {
    BEARERD_TOKEN_WAIT: '10',
    BEARERD_API_KEY: '',
    BEARERD_LISTEN: '0.0.0.0:1',
    BEARERD_LISTN: 'x',
  });
  t.same(
    faults.filter((fault) => !fault.startsWith(FILE)),
    [
      'BEARERD_API_KEY: is empty',
      'BEARERD_LISTN: unknown variable; did you mean BEARERD_LISTEN?',
      'BEARERD_TOKEN_WAIT: has no unit; write 10s',
    ],
  );
});

t.test('aliases work, and an alias bomb is a fault', async (t) => {
  const config = await loadYaml(
    `${TOKEN}timeouts: &t { connect: 1s }\nroutes:\n  - { prefix: /, credential: token, timeouts: { <<: *t, idle: 2s } }`,
  );
  t.match(config.routes, [{ timeouts: { connectMs: 1000, idleMs: 2000 } }]);
  const lines = Array.from(
    { length: 30 },
    (_, i) =>
      `a${i}: &a${i} [${Array(9)
        .fill(i === 0 ? 'x' : `*a${i - 1}`)
        .join(', ')}]`,
  );
  t.match(await faultsOfYaml(lines.join('\n'), LEAST), [/far too many aliases/]);
  t.match(await faultsOfYaml('listen: &a [*a]', LEAST), [/^listen: /]);
});

t.test('an unknown key is a fault at every level, with the most similar key', async (t) => {
  const faults =
    await faultsOfYaml(`${TOKEN.replace('clientSecret: b', 'clientSecret: b, scope: x, orgins: [https://a.example]')}
baseurl: x
tokenWait: 1s
xyzzy: 1
__proto__: { polluted: 1 }
constructor: 1
session: { tokenwait: 1s, paths: x }
admin: { lisen: off }
timeouts: { conect: 1s }
limits: { headersize: 1KiB }
log: { lvl: info }
tls: { ca: x }
routes:
  - { prefix: /, credential: token, method: GET, timeouts: { responses: 1s } }
`);
  t.same(faults, [
    '__proto__: unknown key',
    'admin.lisen: unknown key; did you mean admin.listen?',
    'baseurl: unknown key; did you mean baseUrl?',
    'constructor: unknown key',
    'credentials.token.orgins: unknown key; did you mean credentials.token.origins?',
    'credentials.token.scope: unknown key; it belongs to type: oauth2',
    'limits.headersize: unknown key; did you mean limits.headerSize?',
    'log.lvl: unknown key; did you mean log.level?',
    'routes[0].method: unknown key; did you mean routes[0].methods?',
    'routes[0].timeouts.responses: unknown key; did you mean routes[0].timeouts.response?',
    'session.paths: unknown key; did you mean session.path?',
    'session.tokenwait: unknown key; did you mean session.tokenWait?',
    'timeouts.conect: unknown key; did you mean timeouts.connect?',
    'tls.ca: unknown key; did you mean tls.caFile?',
    'tokenWait: unknown key; did you mean session.tokenWait?',
    'xyzzy: unknown key',
  ]);
});

t.test('an empty key is a fault', async (t) => {
  t.match(await faultsOfYaml(`${TOKEN}\n: x\n`), [/^'': unknown key/]);
});

t.test('all wrong types and values are faults with their full keys, at once', async (t) => {
  const faults = await faultsOfYaml(`baseUrl: [https://api.example.com]
session: { tokenWait: 10, renewAfter: true, path: { a: b } }
admin: off
listen: { host: localhost }
allowedHosts: [ok, { a: b }, 'x:1']
browserCookies: yes
callerKey: 12345
timeouts: [1s]
limits: { connections: 1.5, waiting: many, headerSize: 32768 }
drainTimeout: -1s
log: { level: verbose }
credentials:
  token: secret
  k: { type: apikey, key: 7, origins: [], header: Host, scheme: a b }
  '1x': { type: apiKey, key: x }
  deny: { type: apiKey, key: x }
  oauth: { type: oauth2 }
  program: { type: exec }
  typeless: { key: x }
  keyless: { type: apiKey }
  empty: { type: session }
routes: { prefix: / }
`);
  const keys = faults.map((fault) => fault.replace(/: .*/, ''));
  t.same(keys, [
    'admin',
    'allowedHosts',
    'baseUrl',
    'browserCookies',
    'callerKey',
    'credentials.1x',
    'credentials.deny',
    'credentials.empty',
    'credentials.k.header',
    'credentials.k.origins',
    'credentials.k.scheme',
    'credentials.k.type',
    'credentials.keyless.key',
    'credentials.oauth.clientId',
    'credentials.oauth.clientSecret',
    'credentials.oauth.tokenUrl',
    'credentials.program.command',
    'credentials.token',
    'credentials.typeless.type',
    'drainTimeout',
    'limits.connections',
    'limits.headerSize',
    'limits.waiting',
    'listen',
    'log.level',
    'routes',
    'session.path',
    'session.renewAfter',
    'session.tokenWait',
    'timeouts',
  ]);
  const text = faults.join('\n');
  for (const part of [
    'session.tokenWait: has no unit; write 10s',
    'limits.headerSize: has no unit; write 32768B',
    'allowedHosts: entry 2: must be one value and not a map; entry 3: must be a name without a port',
    'callerKey: must be in quotes',
    'credentials.k.type: must be one of session, apiKey, basic, oauth2, exec; did you mean apiKey?',
    'credentials.empty: needs clientId and clientSecret, or username and password',
  ]) {
    t.ok(text.includes(part), part);
  }
});

t.test('a map in place of a value is a fault, whatever its keys', async (t) => {
  t.match(
    await faultsOfYaml('listen: { toString: 1 }\nlog: { level: { valueOf: { x: 1 }, toString: a } }', LEAST),
    [/^listen: must be a list/, /^log\.level: must be one value/],
  );
});

t.test('a value of the file is checked even if a variable overrides it', async (t) => {
  t.match(
    await faultsOfYaml('session: { tokenWait: 5 }\nroutes: [{ prefix: x, credential: token }]', {
      ...LEAST,
      BEARERD_TOKEN_WAIT: '1s',
      BEARERD_ROUTES: '/=token',
    }),
    [/^routes\[0\]\.prefix: must begin/, /^session\.tokenWait/],
  );
});

t.test(
  'a variable wins over the credential entry of the same name, whose origins, header and scheme stay',
  async (t) => {
    const yaml = `credentials:
  token: { type: session, username: { env: NOT_SET }, password: { file: /not/there }, origins: [https://api.example.com, https://b.example], header: X-Token, scheme: Token }
  apiKey: { origins: [https://c.example] }`;
    const config = await loadYaml(yaml, { ...LEAST, BEARERD_API_KEY: 'k' });
    t.match(config.credentials.get('token'), {
      grant: { kind: 'service-account' },
      header: 'X-Token',
      scheme: 'Token',
      origins: ['https://api.example.com', 'https://b.example'],
    });
    t.match(config.credentials.get('apiKey'), {
      kind: 'api-key',
      origins: ['https://c.example'],
      header: 'Authorization',
    });
    t.same(config.watchedFiles, []);
    t.match(
      await faultsOfYaml(yaml, { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_CLIENT_ID: 'a' }),
      [/^BEARERD_CLIENT_SECRET: is missing/, /^credentials\.apiKey\.type: is missing/],
    );
  },
);

t.test(
  'an entry that names the variable which replaces it is the fault, and not what it then lacks',
  async (t) => {
    const env = { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_CLIENT_ID: 'a', SECRET: 's' };
    const entry = 'clientId: { env: BEARERD_CLIENT_ID }, clientSecret: { env: SECRET }';
    const fault =
      /^credentials\.token\.clientId: names BEARERD_CLIENT_ID, which replaces this whole entry by a credential of type session; give .* another name/;
    for (const type of ['session', 'oauth2, tokenUrl: https://login.example.com/token'])
      t.match(await faultsOfYaml(`credentials: { token: { type: ${type}, ${entry} } }`, env), [fault]);
    // Both are set, and would log in elsewhere than the entry says.
    const both = { ...env, BEARERD_CLIENT_SECRET: 's' };
    const oauth2 = `credentials: { token: { type: oauth2, tokenUrl: https://l.example, ${entry} } }`;
    t.match(await faultsOfYaml(oauth2, both), [fault]);
    const same = entry.replace('SECRET', 'BEARERD_CLIENT_SECRET');
    const { credentials } = await loadYaml(`credentials: { token: { type: session, ${same} } }`, both);
    t.match(credentials.get('token'), { kind: 'session' }, 'one that says the same is none');
  },
);

t.test('half of a pair that replaces an entry says that it does', async (t) => {
  const env = { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_CLIENT_ID: 'a' };
  const yaml = 'credentials: { token: { type: session, clientId: b, clientSecret: c } }';
  t.same(await faultsOfYaml(yaml, env), [
    'BEARERD_CLIENT_SECRET: is missing; BEARERD_CLIENT_ID needs it, and replaces credentials.token of the file: set both, or unset BEARERD_CLIENT_ID',
  ]);
});

t.test('fields of another type in the entry are ignored beside a variable', async (t) => {
  const entry = 'type: session, clientId: a, clientSecret: b, baseUrl: https://c.example, header: X-Key';
  const env = { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_API_KEY: 'k' };
  const { credentials } = await loadYaml(`credentials: { apiKey: { ${entry} } }`, env);
  t.match(credentials.get('apiKey'), {
    kind: 'api-key',
    header: 'X-Key',
    origins: ['https://api.example.com'],
  });
  t.match(await faultsOfYaml(`credentials: { apiKey: { ${entry}, hedaer: x } }`, env), [
    /^credentials\.apiKey\.hedaer: unknown key; did you mean credentials\.apiKey\.header\?/,
  ]);
});

t.test(
  'a service account and a user exclude each other in one entry, and half of a pair is a fault',
  async (t) => {
    const faults = await faultsOfYaml(`baseUrl: https://api.example.com
routes: [{ prefix: /, credential: none }]
credentials:
  both: { type: session, clientId: a, clientSecret: b, username: c, password: d }
  half: { type: session, clientId: a }
  other: { type: session, password: a }
  mixed: { type: session, clientId: a, key: b }`);
    t.same(faults, [
      'credentials.both.username: cannot be combined with credentials.both.clientId: a credential is a service account or a user',
      'credentials.half.clientSecret: is missing; credentials.half.clientId needs it',
      'credentials.mixed.clientSecret: is missing; credentials.mixed.clientId needs it',
      'credentials.mixed.key: unknown key; it belongs to type: apiKey',
      'credentials.other.username: is missing; credentials.other.password needs it',
    ]);
  },
);

t.test('a route with an unknown credential, or with the prefix of another route, is a fault', async (t) => {
  const faults = await faultsOfYaml(`${TOKEN}routes:
  - { prefix: /a, credential: tokne }
  - { prefix: /a/, credential: token }
  - { prefix: /b }
  - { credential: token }
  - nonsense
  - { prefix: /c, credential: token, methods: [GTE, CONNECT], rewrite: x, clientAuthorization: kep }
  - { prefix: /A, credential: Deny }
  - { prefix: /d, credential: token, methods: [] }`);
  t.same(faults, [
    'routes[0].credential: sends /a to the credential tokne, which does not exist (there are token, none, deny); did you mean token? If not, define credentials.tokne in a configuration file',
    'routes[1].prefix: has the prefix of another route',
    'routes[2].credential: is missing',
    'routes[3].prefix: is missing',
    'routes[4]: must be a map of keys and values',
    'routes[5].clientAuthorization: must be one of replace, keep, reject; did you mean keep?',
    'routes[5].methods: entry 1: is not an HTTP method; did you mean GET?; entry 2: names a method that is never forwarded',
    'routes[5].rewrite: must begin with /',
    'routes[6].credential: sends /A to the credential Deny, which does not exist (there are token, none, deny); did you mean deny? If not, define credentials.Deny in a configuration file',
    'routes[7].methods: needs at least one method',
  ]);
  t.same(await faultsOf({ env: { ...LEAST, BEARERD_ROUTES: '/a=token,/b=apiKey,/a=none' } }), [
    'BEARERD_ROUTES: entry 2: sends /b to the credential apiKey, which does not exist (there are token, none, deny); to have it, set BEARERD_API_KEY or credentials.apiKey in a configuration file',
    'BEARERD_ROUTES: entry 3: has the prefix of another route',
  ]);
});

t.test('a route with a faulty host or prefix is the only fault: nothing is said of its name', async (t) => {
  const port = 'routes[1].host: must be a name without a port; every port of it is meant';
  t.same(
    await faultsOfYaml(`${TOKEN}routes:
  - { prefix: /, credential: token }
  - { prefix: /, host: 'orders.localhost:9180', credential: token }
  - { prefix: /, host: orders.localhost, credential: token }
callers: { agent: { key: k3y-of-the-agent, routes: [//crm.localhost/, /] } }`),
    [port],
  );
  t.same(
    await faultsOfYaml(`${TOKEN}routes:
  - { prefix: /, credential: token }
  - { prefix: '/x?y', credential: token }
callers: { agent: { key: k3y-of-the-agent, routes: [/x] } }`),
    ['routes[1].prefix: must be a path alone, without ? or #'],
  );
});

t.test('a route that would send a credential to an origin that it does not list is a fault', async (t) => {
  const entry = (origins: string) => `credentials:\n  apiKey: { type: apiKey, key: k, ${origins} }\n`;
  const env = { BEARERD_BASE_URL: 'https://api.example.com' };
  t.same(
    await faultsOfYaml(
      `${entry('')}routes: [{ prefix: /, credential: apiKey, upstream: https://b.example }]`,
      env,
    ),
    ['routes[0].upstream: would send apiKey to https://b.example; allow it in credentials.apiKey.origins'],
  );
  const session = 'credentials:\n  crm: { type: session, clientId: i, clientSecret: s }\n';
  t.same(
    await faultsOfYaml(
      `${session}routes: [{ prefix: /, credential: crm, upstream: https://b.example }]`,
      env,
    ),
    [
      'routes[0].upstream: would send crm to https://b.example; where that has a login of its own, set credentials.crm.baseUrl (it logs in at https://api.example.com now); else allow it in credentials.crm.origins',
    ],
    'allowing the origin would give one API the token of another',
  );
  t.same(
    await faultsOfYaml(
      `${entry('origins: [https://b.example]')}routes: [{ prefix: /, credential: apiKey }]`,
      env,
    ),
    [
      'routes[0].credential: would send apiKey to https://api.example.com; allow it in credentials.apiKey.origins',
    ],
  );
  t.match(await faultsOfYaml(entry('origins: [https://b.example]'), env), [
    /^routes: the default route would send apiKey/,
  ]);
  t.match(await faultsOfYaml(entry('origins: [https://b.example]'), { ...env, BEARERD_ROUTES: '/=apiKey' }), [
    /^BEARERD_ROUTES: entry 1: would send apiKey/,
  ]);
  t.same(
    await faultsOfYaml(
      `${entry('origins: ["https://B.example:443"]')}routes: [{ prefix: /, credential: apiKey, upstream: https://b.example/x }]`,
      env,
    ),
    [],
  );
});

t.test('the rule for http:// holds for each upstream', async (t) => {
  const yaml = `${TOKEN}routes: [{ prefix: /, credential: none, upstream: http://b.example }]\n`;
  t.match(await faultsOfYaml(yaml), [/^routes\[0\]\.upstream: may be http:\/\/ for a loopback host only/]);
  t.same(await faultsOfYaml(`${yaml}allowInsecureUpstream: true`), []);
  t.match(await faultsOfYaml(TOKEN.replace('https:', 'http:')), [/^baseUrl: may be http/]);
});

t.test('routes are required if there is neither token nor apiKey', async (t) => {
  const yaml = 'baseUrl: https://api.example.com\ncredentials: { reports: { type: apiKey, key: k } }\n';
  t.match(await faultsOfYaml(yaml), [/^routes: is missing/]);
  t.match(await faultsOfYaml(`${yaml}routes: []`), [/^routes: must be a list of at least one route/]);
});

t.test('faults of the file name its keys', async (t) => {
  const yaml = `${TOKEN}listen: 0.0.0.0:1\nadmin: { listen: '0.0.0.0:1' }\n`;
  t.match(await faultsOfYaml(yaml), [
    /^admin\.listen: 0\.0\.0\.0:1 is the same address as/,
    /^listen: 0\.0\.0\.0:1 can be reached/,
  ]);
  const good = `${TOKEN}listen: 0.0.0.0:1\n`;
  t.same(await faultsOfYaml(`${good}callerKey: { env: K }`, { K: 'k' }), []);
  t.same(await faultsOfYaml(`${good}allowRemoteCallers: true`), []);
  t.same(
    await faultsOfYaml(`${good}callerKey: { env: K }`),
    ['callerKey: names the variable K, which is not set'],
    'one fault: an unset caller key is not also a missing one',
  );
});

t.test('relative paths are relative to the file or the working directory that names them', async (t) => {
  const yaml = `${TOKEN.replace('clientSecret: b', 'clientSecret: { file: ../s }')}`;
  const config = await loadFrom({
    env: { BEARERD_CONFIG: '/etc/bearerd/x.yaml', BEARERD_API_KEY_FILE: 'key' },
    files: { '/etc/bearerd/x.yaml': yaml, '/etc/s': 's', [`${CWD}/key`]: 'k' },
  });
  t.same([...config.watchedFiles].sort(), ['/etc/s', `${CWD}/key`].sort());
});

t.test('any content of the file gives a configuration or faults, and no other error', async (t) => {
  const keys = [
    ...FILE_KEYS.flatMap((key) => key.split('.')),
    'type',
    'key',
    'tokenUrl',
    'parameters',
    'command',
    'timeout',
    'origins',
    'prefix',
    'credential',
    'env',
    'file',
    '__proto__',
  ];
  const values = [
    'session',
    'apiKey',
    'oauth2',
    'exec',
    'token',
    '/',
    'https://a.example',
    'off',
    '10s',
    '',
    null,
    0,
    true,
    [],
    {},
  ];
  const { content } = fc.letrec((tie) => ({
    content: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(...values),
      fc.string(),
      fc.array(tie('content'), { maxLength: 3 }),
      tie('map'),
    ),
    map: fc.dictionary(fc.constantFrom(...keys), tie('content'), { maxKeys: 6 }),
  }));
  const top = fc.dictionary(fc.constantFrom(...FILE_KEYS.map((key) => key.replace(/\..*/, ''))), content);
  await fc.assert(
    fc.asyncProperty(fc.oneof(top, content), async (value) => {
      await faultsOfYaml(stringify(value), LEAST);
    }),
    { numRuns: 500 },
  );
  t.pass('no other error was thrown');
});
