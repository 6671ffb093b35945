import { inspect } from 'node:util';

import t from 'tap';

import type { Config } from '../../src/config/config.ts';
import {
  CWD,
  FILE,
  type Files,
  faultsOf,
  faultsOfYaml,
  LEAST,
  loadFrom,
  loadYaml,
  type World,
} from './load-from.ts';

function keyOf(config: Config, name = 'apiKey'): string | undefined {
  const credential = config.credentials.get(name);
  return credential?.kind === 'api-key' ? credential.key.expose() : undefined;
}

const SECRETS = ['CLIENT_ID', 'CLIENT_SECRET', 'USERNAME', 'PASSWORD', 'API_KEY', 'CALLER_KEY'];

function world(name: string, value: string): World {
  const pairs: Record<string, string> = {
    CLIENT_ID: 'CLIENT_SECRET',
    CLIENT_SECRET: 'CLIENT_ID',
    USERNAME: 'PASSWORD',
    PASSWORD: 'USERNAME',
  };
  const other =
    pairs[name] === undefined ? { BEARERD_API_KEY: 'k' } : { [`BEARERD_${pairs[name]}`]: 'other' };
  return {
    env: {
      BEARERD_BASE_URL: 'https://api.example.com',
      ...other,
      [`BEARERD_${name}`]: undefined,
      [`BEARERD_${name}_FILE`]: '/run/s',
    },
    files: { '/run/s': value },
  };
}

t.test('each secret may be in a file', async (t) => {
  for (const name of SECRETS) {
    const config = await loadFrom(world(name, 'from the file\n'));
    t.same(config.watchedFiles, ['/run/s'], name);
    t.match(inspect(config.effective), /\*\*\*/, name);
  }
});

t.test('one final line end of a secret file is dropped, and nothing else', async (t) => {
  const contents: [string, string][] = [
    ['s3cret', 's3cret'],
    ['s3cret\n', 's3cret'],
    ['s3cret\r\n', 's3cret'],
    ['a b', 'a b'],
    ['pa#ss$HOME\'"', 'pa#ss$HOME\'"'],
  ];
  for (const [content, secret] of contents)
    t.equal(keyOf(await loadFrom(world('API_KEY', content))), secret, JSON.stringify(content));
  const config = await loadFrom(world('PASSWORD', ' two\n\n'));
  const token = config.credentials.get('token');
  t.ok(
    token?.kind === 'session' && token.grant.kind === 'user' && token.grant.password.expose() === ' two\n',
    'a password may hold any text',
  );
  const marked = (await loadFrom(world('PASSWORD', '\ufefftwo'))).credentials.get('token');
  t.ok(
    marked?.kind === 'session' &&
      marked.grant.kind === 'user' &&
      marked.grant.password.expose() === '\ufefftwo',
    'a byte order mark is kept: a refused login mentions it',
  );
});

t.test('a secret that cannot be used is a fault that names the variable', async (t) => {
  for (const name of SECRETS) {
    const key = `BEARERD_${name}_FILE`;
    for (const empty of ['', '\n', '\r\n'])
      t.ok((await faultsOf(world(name, empty))).includes(`${key}: is empty`), key);
    for (const other of ['a\ufffdb', 's\0e\0c\0', '\0s\0e\0c'])
      t.match(await faultsOf(world(name, other)), [`${key}: names a file that is not UTF-8 text`]);
    if (name === 'API_KEY' || name === 'CALLER_KEY')
      t.match(await faultsOf(world(name, '\ufeffsecret')), [`${key}: begins with a byte order mark (BOM)`]);
    for (const [code, reason] of [
      ['ENOENT', 'no such file'],
      ['EACCES', 'permission denied'],
      ['EISDIR', 'it is a folder'],
      ['EIO', 'EIO'],
    ] as const) {
      const faults = await faultsOf({ ...world(name, ''), files: { '/run/s': { code } } });
      t.ok(faults.includes(`${key}: cannot read /run/s: ${reason}`), `${key} ${code}`);
    }
    const both = await faultsOf({
      env: { ...LEAST, [`BEARERD_${name}`]: 'x', [key]: '/run/s' },
      files: { '/run/s': 'x' },
    });
    t.ok(
      both.some((fault) => fault.startsWith(`BEARERD_${name}: is given together with ${key}`)),
      'both forms',
    );
  }
  for (const name of ['API_KEY', 'CALLER_KEY']) {
    for (const illegal of ['a\nb', 'a\n\n', 'a\0', ' a', 'a\t', 'a\x7f']) {
      t.match(
        await faultsOf(world(name, illegal)),
        [new RegExp(`^BEARERD_${name}_FILE: cannot be sent in a header`)],
        JSON.stringify(illegal),
      );
    }
  }
});

t.test('a text that does not look like a path is not shown: it may be the secret itself', async (t) => {
  const env = { ...LEAST, BEARERD_API_KEY_FILE: 'sk-c4n4ry' };
  t.same(await faultsOf({ env }), [
    `BEARERD_API_KEY_FILE: cannot read the file that it names (read from ${CWD}): no such file`,
  ]);
});

t.test('a secret in the file is text, { env: NAME } or { file: PATH }', async (t) => {
  const yaml = (key: string) =>
    `routes: [{ prefix: /, credential: apiKey }]\ncredentials: { apiKey: { type: apiKey, key: ${key} } }`;
  const env = {
    BEARERD_BASE_URL: 'https://api.example.com',
    MY_KEY: 'real',
    BEARERD_OTHER: 'own',
    EMPTY: '',
  };
  const files: Files = { [`${CWD}/.env`]: 'MY_KEY=dot\nDOT_KEY="dot#2"\n', '/run/k': 'file\n' };
  const good: [string, string][] = [
    ['text', 'text'],
    ['"0123"', '0123'],
    ['{ env: MY_KEY }', 'real'],
    ['{ env: DOT_KEY }', 'dot#2'],
    ['{ env: BEARERD_OTHER }', 'own'],
    ['{ file: /run/k }', 'file'],
  ];
  for (const [key, expected] of good)
    t.equal(
      keyOf(
        await loadYaml(
          yaml(key),
          { ...env, ...(key.includes('OTHER') ? {} : { BEARERD_OTHER: undefined }) },
          files,
        ),
      ),
      expected,
      key,
    );
  const bad: [string, RegExp][] = [
    ['', /is empty/],
    ["''", /is empty/],
    ['0123', /must be in quotes/],
    ['true', /must be in quotes/],
    ['[c4n4ry]', /must be text/],
    ['{ c4n4ry }', /must be text/],
    ['{ env: MY_KEY, file: /run/k }', /must be text/],
    ['{ evn: c4n4ry }', /must be text/],
    ['{ env: "" }', /must be text/],
    ['{ env: NOT_SET }', /names the variable NOT_SET, which is not set/],
    ['{ env: c4n4ry }', /names a variable that is not set/],
    ['{ env: EMPTY }', /is empty/],
    ['{ file: /run/none }', /cannot read \/run\/none: no such file/],
    ['"c4n4ry\\n"', /cannot be sent/],
  ];
  for (const [key, expected] of bad) {
    const faults = await faultsOf({
      env: { ...env, BEARERD_OTHER: undefined },
      files: { ...files, [FILE]: yaml(key) },
    });
    t.equal(faults.length, 1, key);
    t.match(faults[0], expected, key);
    t.match(faults[0], /^credentials\.apiKey\.key: /, key);
  }
});

const CANARY = 'c4n4ry';
const YAML = `baseUrl: https://api.example.com
callerKey: { env: CALLER }
credentials:
  a: { type: session, clientId: c4n4ry-id, clientSecret: { env: SECRET } }
  b: { type: session, username: c4n4ry-name, password: { file: /run/password } }
  c: { type: apiKey, key: "c4n4ry key" }
  token: { type: session, clientId: x, clientSecret: c4n4ry-unused }
routes: [{ prefix: /, credential: a }]
`;
const ENV = {
  CALLER: 'c4n4ry-caller',
  SECRET: 'c4n4ry-env',
  BEARERD_USERNAME: 'c4n4ry-user',
  BEARERD_PASSWORD_FILE: '/run/password',
  BEARERD_API_KEY: 'c4n4ry-api',
};
const FILES = { [FILE]: YAML, '/run/password': 'c4n4ry-file\n' };

t.test('no way to print the configuration shows a secret', async (t) => {
  const config = await loadFrom({ env: ENV, files: FILES });
  t.equal(config.credentials.size, 5);
  for (const text of [
    JSON.stringify(config.effective),
    inspect(config, { depth: 20, showHidden: true }),
    JSON.stringify([...config.credentials]),
    String(config.callerKey),
  ]) {
    t.notMatch(text, CANARY);
  }
});

t.test('no fault shows a secret, whatever its form and its fault', async (t) => {
  const illegal = `${CANARY}\n\u0000${CANARY}`;
  const worlds: World[] = [
    {
      env: { ...ENV, BEARERD_CLIENT_ID: CANARY, BEARERD_API_KEY_FILE: '/run/password', CALLER: illegal },
      files: { ...FILES, '/run/password': illegal },
    },
    {
      env: {
        ...ENV,
        BEARERD_API_KEY: illegal,
        BEARERD_USERNAME: '',
        BEARERD_CALLER_KEY: illegal,
        BEARERD_LISTN: CANARY,
      },
      files: FILES,
    },
    { env: ENV, files: { ...FILES, [FILE]: `${YAML}  - ${CANARY}: [` } },
    {
      env: ENV,
      files: {
        ...FILES,
        [FILE]: YAML.replace('"c4n4ry key"', '{ c4n4ry: key }').replace(
          'type: session, clientId',
          'type: c4n4ry, clientId',
        ),
      },
    },
    {
      env: ENV,
      files: {
        ...FILES,
        [FILE]: YAML.replace('"c4n4ry key"', '[c4n4ry]').replace('prefix: /', 'prefix: c4n4ry'),
      },
    },
    {
      env: {
        ...LEAST,
        BEARERD_BASE_URL: `https://user:${CANARY}@api.example.com`,
        HTTPS_PROXY: `ftp://u:${CANARY}@proxy`,
      },
    },
    {
      env: Object.fromEntries(
        [
          'BASE_URL',
          'SESSION_PATH',
          'ROUTES',
          'LISTEN',
          'ADMIN_LISTEN',
          'ALLOWED_HOSTS',
          'ALLOWED_ORIGINS',
          'TOKEN_WAIT',
          'MAX_WAITING',
          'LOG_LEVEL',
          'CLIENT_ID_FILE',
          'TLS_KEY_FILE',
          'NONSENSE',
        ].map((name) => [`BEARERD_${name}`, `${CANARY} @?`]),
      ),
    },
  ];
  for (const [index, each] of worlds.entries()) {
    const faults = await faultsOf(each);
    t.not(faults.length, 0, `world ${index} has faults`);
    t.notMatch(faults.join('\n'), CANARY, `world ${index} keeps its secrets`);
  }
});

t.test('a part of a secret that YAML reads as a key is not shown', async (t) => {
  for (const entry of [
    '{ type: session, clientId: sa-1, clientSecret: ab,ZQSEC1 }',
    '{ type: session, clientId: sa-1, clientSecret:ZQSEC1 }',
    '{ type: apiKey, key: ab,ZQSEC1 }',
    '{ type: apiKey, key: x, kez:ZQSEC1 }',
  ]) {
    const faults = (
      await faultsOfYaml(`baseUrl: https://api.example.com\ncredentials: { token: ${entry} }`)
    ).join('\n');
    t.notMatch(faults, /ZQSEC1/, entry);
    t.match(
      faults,
      /credentials\.token: holds an unknown key|clientSecret: needs a space after its colon/,
      entry,
    );
  }
});

t.test('an empty form of a secret beside another form counts as not given', async (t) => {
  for (const name of SECRETS) {
    const { env = {}, files = {} } = world(name, 'from the file\n');
    const file = await loadFrom({ env: { ...env, [`BEARERD_${name}`]: '' }, files });
    t.same(file.watchedFiles, ['/run/s'], `${name} is empty`);
    const both = { ...env, [`BEARERD_${name}`]: 'text', [`BEARERD_${name}_FILE`]: ' ' };
    t.same((await loadFrom({ env: both, files })).watchedFiles, [], `${name}_FILE is empty`);
  }
});

t.test('a secret that is probably a mistake gives a warning that does not show it', async (t) => {
  const base64 = Buffer.from('c4n4ry-of-the-day\n').toString('base64');
  const doubts: [string, RegExp][] = [
    ['/run/secrets/c4n4ry', /^looks like the path of a file/],
    ['./c4n4ry/key.txt', /^looks like the path of a file/],
    [base64, /^looks like base64 of the secret/],
    ['$C4N4RY', /^is \$NAME, which nothing replaces here/],
    ['$(cat c4n4ry)', /^is \$\(…\), which/],
    [`\${C4N4RY}`, /^is \$\{…\}, which/],
    ['Bearer c4n4ry-of-the-day', /^begins with "Bearer ".*; leave it out/],
    ['<c4n4ry>', /^looks like a placeholder; write/],
    ['your-c4n4ry', /^looks like a placeholder/],
    ['***', /^looks like a placeholder/],
    ['changeme', /^looks like a placeholder/],
    ['"c4n4ry-of-the-day"', /^stands in quotes, .*; leave them out/],
  ];
  for (const [text, problem] of doubts) {
    const env = { ...LEAST, BEARERD_API_KEY: text };
    const { warnings } = await loadFrom({ env });
    t.match(warnings, [{ key: 'BEARERD_API_KEY', problem }], text);
    t.equal(warnings.length, 1);
    t.notMatch(JSON.stringify(warnings), /c4n4ry/i);
  }
  const yaml =
    'credentials:\n  token:\n    type: session\n    username: a\n    password: /run/secrets/password\n';
  const { warnings } = await loadYaml(yaml, { BEARERD_BASE_URL: 'https://api.example.com' });
  t.match(warnings, [{ key: 'credentials.token.password', place: 'bearerd.yaml:5' }]);
});

t.test('a path that begins with ~ is told that nothing replaces it', async (t) => {
  const env = { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_API_KEY_FILE: '~/key' };
  t.match(await faultsOf({ env }), [
    /^BEARERD_API_KEY_FILE: cannot read .*: no such file; nothing replaces the ~ here: write the whole path/,
  ]);
});

t.test('a secret that only resembles a path or an encoding gives no warning', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 30 }, (_, i) => (i * 83 + 7) % 256));
  for (const text of [
    '/',
    '/secret',
    'password1234',
    'correct horse battery staple',
    `/${bytes.toString('base64')}`,
    bytes.toString('base64'),
    bytes.toString('hex'),
    Buffer.from('an-id:a-key-of-elastic').toString('base64'),
    'p$WORD',
    'eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2lnbmF0dXJl',
  ]) {
    t.same((await loadFrom({ env: { ...LEAST, BEARERD_API_KEY: text } })).warnings, [], text);
  }
});

t.test(
  'with scrub a short key or password gives a warning: a caller could guess it from echoes',
  async (t) => {
    const yaml = (scrub: boolean) => `
scrub: ${scrub}
credentials:
  short: { type: apiKey, key: fifteen-letters }
  long: { type: apiKey, key: sixteen--letters }
  person: { type: basic, username: ada, password: swordfish }
  named: { type: basic, username: sk_live_51, password: '' }
  word: { type: basic, username: sk_live_51HqLyjWDarjtT1zdp7dc, password: x }
routes: [{ prefix: /, credential: short }]
`;
    const env = { BEARERD_BASE_URL: 'https://api.example.com' };
    const { warnings } = await loadYaml(yaml(true), env);
    t.same(
      warnings.map(({ key }) => key),
      ['credentials.named.username', 'credentials.person.password', 'credentials.short.key'],
    );
    t.match(warnings[2]?.problem, /shorter than 16 characters/);
    t.notMatch(JSON.stringify(warnings), /fifteen|swordfish/);
    t.same((await loadYaml(yaml(false), env)).warnings, []);
    const variable = await loadFrom({ env: { ...LEAST, BEARERD_API_KEY: 'key-1', BEARERD_SCRUB: 'true' } });
    t.match(variable.warnings, [{ key: 'BEARERD_API_KEY' }]);
  },
);
