import t from 'tap';
import { ConfigError } from '../../src/base/config-error.ts';
import { annotated } from '../../src/config/shown/annotated.ts';
import { CWD, FILE, faultsOf, faultsOfYaml, LEAST, loadFrom, loadYaml } from './load-from.ts';

const YAML = `baseUrl: https://api.example.com
session:
  tokenWait: 4s
listen: localhost:1, localhost:2
admin:
credentials:
  first: &first { type: session, clientId: a, clientSecret: b, header: X-Token }
  token:
    <<: *first
    clientId: c
routes:
  - prefix: /
    credential: token
  - { prefix: /x, credential: first,
      methods: [GET, POST] }
`;

t.test(
  'each value in force has its source: flag, variable, .env, line of the file, or default',
  async (t) => {
    const { provenance } = await loadFrom({
      env: { BEARERD_LOG_LEVEL: 'warn', BEARERD_MAX_WAITING: '5', BEARERD_API_KEY_FILE: '/run/key' },
      files: {
        [FILE]: YAML,
        [`${CWD}/.env`]: 'BEARERD_DRAIN_TIMEOUT=1s\nBEARERD_LOG_LEVEL=error',
        '/run/key': 'k3y',
      },
      flags: { BEARERD_MAX_WAITING: '7', BEARERD_ALLOWED_HOSTS: 'a.example,b.example' },
    });
    t.match(provenance, {
      baseUrl: 'bearerd.yaml:1',
      'session.tokenWait': 'bearerd.yaml:3',
      'session.path': 'default',
      'listen[0]': 'bearerd.yaml:4',
      'listen[1]': 'bearerd.yaml:4',
      'admin.listen[0]': 'default',
      'allowedHosts[1]': '--allowed-hosts',
      allowedOrigins: 'default',
      'limits.waiting': '--max-waiting',
      'log.level': 'BEARERD_LOG_LEVEL',
      drainTimeout: '.env',
      'credentials.apiKey.key': 'BEARERD_API_KEY_FILE',
      'credentials.apiKey.type': 'BEARERD_API_KEY_FILE',
      'credentials.apiKey.header': 'default',
      'credentials.token.clientId': 'bearerd.yaml:10',
      'credentials.token.clientSecret': 'bearerd.yaml:7',
      'credentials.token.header': 'bearerd.yaml:7',
      'credentials.token.scheme': 'default',
      'routes[0].prefix': 'bearerd.yaml:12',
      'routes[1].credential': 'bearerd.yaml:14',
      'routes[1].methods[1]': 'bearerd.yaml:15',
      'routes[1].clientAuthorization': 'default',
    });
  },
);

t.test('routes and credentials set by variables have these as source, whatever the file holds', async (t) => {
  const { provenance } = await loadYaml(YAML, { ...LEAST, BEARERD_ROUTES: '/=token' });
  t.equal(provenance['routes[0].prefix'], 'BEARERD_ROUTES');
  t.equal(provenance['credentials.token.clientId'], 'BEARERD_CLIENT_ID');
  t.equal(provenance['credentials.token.header'], 'bearerd.yaml:7');
});

t.test('the source is shown after each value, also of an empty list', async (t) => {
  const text = await annotated(await loadYaml(YAML));
  t.match(text, /^baseUrl: https:\/\/api\.example\.com # bearerd\.yaml:1$/m);
  t.match(text, /^allowedOrigins: \[\] # default$/m);
  for (const line of text.trimEnd().split('\n'))
    t.match(line, /:$|^ *- \w+:$| # (?:default|bearerd\.yaml:\d+)$/);
});

t.test('a fault of the file has its line; a fault of a variable has none', async (t) => {
  const faulty = YAML.replace('4s', '4')
    .replace('credential: first', 'credential: frist')
    .replace('    clientId: c\n', '');
  const error = await loadYaml(`${faulty}nonsense: 1\n`, { BEARERD_LOG_LEVEL: 'loud' }).catch((e) => e);
  if (!(error instanceof ConfigError)) throw error;
  t.same(Object.fromEntries(error.faults.map(({ key, place }) => [key, place])), {
    BEARERD_LOG_LEVEL: undefined,
    nonsense: 'bearerd.yaml:15',
    'routes[1].credential': 'bearerd.yaml:13',
    'session.tokenWait': 'bearerd.yaml:3',
  });
  t.match(error.message, /session\.tokenWait: has no unit; write 4s \(bearerd\.yaml:3\)/);
});

t.test('a missing key has the line of the section that lacks it', async (t) => {
  const yaml = 'baseUrl: https://a.example\ncredentials:\n  token:\n    type: session\n    clientId: a\n';
  const error = await loadYaml(yaml).catch((e) => e);
  t.match(error.faults, [{ key: 'credentials.token.clientSecret', place: 'bearerd.yaml:3' }]);
});

t.test(
  'a placeholder in the file is a fault with the right form, and the only fault of its key',
  async (t) => {
    const faults = await faultsOfYaml(`
baseUrl: https://\${HOST}
log: { level: "\${LEVEL}" }
credentials:
  token: { type: session, clientId: "\${CLIENT_ID}", clientSecret: "\${hunter2}" }
  tool: { type: exec, command: [sh, -c, "\${CMD}"] }
`);
    t.equal(faults.length, 4);
    t.match(faults[0], /^baseUrl: .*variable.*\{ env: HOST \}/);
    t.match(
      faults[1],
      /^credentials\.token\.clientId: \$\{…\} is not replaced in this file; write \{ env: CLIENT_ID \}$/,
    );
    t.match(faults[2], /^credentials\.token\.clientSecret: .* write \{ env: NAME \}$/);
    t.match(faults[3], /^log\.level: /);
    t.notMatch(faults.join('\n'), 'hunter2');
  },
);

t.test('each form of placeholder is recognized', async (t) => {
  const key = (text: string) =>
    faultsOfYaml(`baseUrl: https://a.example\ncredentials: { apiKey: { type: apiKey, key: "${text}" } }`);
  for (const [text, shown] of [
    ['$HUNTER2', '$NAME'],
    ['$(HUNTER_2)', '$(…)'],
    ['$(cat hunter2)', '$(…)'],
    ['{{ hunter2 }}', '{{…}}'],
  ] as const) {
    const faults = await key(text);
    t.same(faults.length, 1, text);
    t.ok(faults[0]?.startsWith(`credentials.apiKey.key: ${shown} is not replaced in this file; write`), text);
    t.notMatch(faults[0], /hunter2/i, 'the text of the placeholder is not shown: it may be a password');
  }
  for (const password of ['$hunter', 'a$HUNTER2', '$HUNTER-2']) t.same(await key(password), [], password);
  const tokenUrl = await faultsOfYaml(
    'baseUrl: https://a.example\ncredentials: { token: { type: oauth2, clientId: a, clientSecret: b, tokenUrl: "https://$HOST/t" } }',
  );
  t.match(tokenUrl, [/^credentials\.token\.tokenUrl: \$HOST is not replaced in this file/]);
});

t.test('a placeholder in a variable is a fault, except in a secret', async (t) => {
  for (const [name, text] of [
    ['BASE_URL', `https://\${HOST}`],
    ['BASE_URL', 'https://$HOST'],
    ['TLS_CA_FILE', '$HOME/ca.pem'],
    ['SESSION_PATH', '/$(TENANT)/session'],
    ['API_KEY_FILE', `\${HOME}/key`],
    ['LISTEN', '{{ address }}'],
  ] as const) {
    const faults = await faultsOf({ env: { ...LEAST, [`BEARERD_${name}`]: text } });
    t.same(faults.length, 1, text);
    t.match(
      faults[0],
      new RegExp(`^BEARERD_${name}: .* is not replaced here; write the value itself$`),
      text,
    );
  }
  t.same(await faultsOf({ env: { ...LEAST, BEARERD_API_KEY: `\${KEY}` } }), []);
});

t.test('a password that contains a placeholder among other text is accepted', async (t) => {
  const config = await loadYaml(`
baseUrl: https://a.example
credentials: { token: { type: session, username: a, password: "x\${Y}z" } }
`);
  const credential = config.credentials.get('token');
  t.ok(
    credential?.kind === 'session' &&
      credential.grant.kind === 'user' &&
      credential.grant.password.expose() === `x\${Y}z`,
  );
});

t.test('an alias that contains itself does not cause an endless loop', async (t) => {
  await faultsOfYaml('x: &x [*x]\ny: &y { <<: *y, a: 1 }\nz: &z { a: *z }\n');
  t.pass('loading ends');
});

t.test('the configuration says whether .env was read', async (t) => {
  const files = { '/etc/b.yaml': YAML, [`${CWD}/.env`]: 'BEARERD_LOG_LEVEL=warn' };
  t.equal((await loadFrom({ files: { [`${CWD}/.env`]: 'A=1' } })).dotEnv, 'read');
  t.equal((await loadFrom({})).dotEnv, 'none');
  t.equal((await loadFrom({ env: {}, files, configFile: '/etc/b.yaml' })).dotEnv, 'ignored');
  t.equal((await loadFrom({ env: { BEARERD_CONFIG: '/etc/b.yaml' }, files })).dotEnv, 'ignored');
  const others = { ...files, [`${CWD}/.env`]: 'A=1' };
  t.equal((await loadFrom({ env: {}, files: others, configFile: '/etc/b.yaml' })).dotEnv, 'none');
});
