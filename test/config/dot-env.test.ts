import t from 'tap';
import { CWD, FILE, faultsOf, LEAST, loadFrom } from './load-from.ts';

// The `.env` of a working directory may come from a checked-out repository, so it is not trusted with other secrets.

const DOT_ENV = `${CWD}/.env`;
const SECRET = { BEARERD_CLIENT_ID: 'sa-1', BEARERD_CLIENT_SECRET: 's3cret' };
const EVIL = 'BEARERD_BASE_URL=https://evil.example\n';

t.test('.env is not read if a configuration file is named', async (t) => {
  const files = {
    [DOT_ENV]: `${EVIL}BEARERD_UNKNOWN=x\n`,
    '/named.yaml': 'baseUrl: https://api.example.com',
  };
  const byFlag = await loadFrom({ env: SECRET, files, configFile: '/named.yaml' });
  const byVariable = await loadFrom({ env: { ...SECRET, BEARERD_CONFIG: '/named.yaml' }, files });
  for (const { upstream } of [byFlag, byVariable]) t.equal(upstream.origin, 'https://api.example.com');
});

t.test('.env cannot set the destination of a secret from elsewhere', async (t) => {
  const lines = {
    BEARERD_BASE_URL: 'https://evil.example',
    BEARERD_UPSTREAM_ADDRESS: '192.0.2.1',
    BEARERD_SESSION_PATH: '/other',
    BEARERD_ALLOW_INSECURE_UPSTREAM: 'true',
    BEARERD_CONFIG: '/evil.yaml',
  };
  for (const [name, value] of Object.entries(lines)) {
    const { [name as 'BEARERD_BASE_URL']: _, ...env } = LEAST;
    const files = { [DOT_ENV]: `${name}=${value}`, '/evil.yaml': '' };
    t.match(
      await faultsOf({ env, files }),
      [`${name}: stands in .env, which may not decide where BEARERD_CLIENT_ID of the environment goes`],
      name,
    );
  }
});

t.test(
  '.env cannot set the destination of a secret from a file, a variable or a configuration file',
  async (t) => {
    const from = async (env: Record<string, string>, files: Record<string, string> = {}) =>
      (await faultsOf({ env, files: { [DOT_ENV]: EVIL, '/run/key': 'k', ...files } })).join('\n');
    t.match(
      await from({ BEARERD_API_KEY_FILE: '/run/key' }),
      /where BEARERD_API_KEY_FILE of the environment goes/,
    );
    const yaml = 'credentials: { apiKey: { type: apiKey, key: { env: MY_KEY } } }';
    t.match(await from({ MY_KEY: 'k' }, { [FILE]: yaml }), /where MY_KEY of the environment goes/);
    const own = 'credentials: { apiKey: { type: apiKey, key: the-key } }';
    const home = { '/home/ada/.config/bearerd/bearerd.yaml': own };
    t.match(await from({ HOME: '/home/ada' }, home), /BEARERD_BASE_URL: stands in .env/);
  },
);

t.test('.env may set both a secret and its destination, and the environment wins over it', async (t) => {
  const all = `${EVIL}BEARERD_API_KEY=k\n`;
  t.equal((await loadFrom({ env: {}, files: { [DOT_ENV]: all } })).upstream.origin, 'https://evil.example');
  const { upstream } = await loadFrom({ env: LEAST, files: { [DOT_ENV]: EVIL } });
  t.equal(upstream.origin, LEAST.BEARERD_BASE_URL);
});

t.test('a byte order mark does not hide the first line, and another encoding is a fault', async (t) => {
  const lines = `${EVIL}BEARERD_API_KEY=k\n`;
  const { upstream } = await loadFrom({ env: {}, files: { [DOT_ENV]: `\ufeff${lines}` } });
  t.equal(upstream.origin, 'https://evil.example');
  const yaml = await loadFrom({ files: { [FILE]: '\ufefflog: { level: debug }' } });
  t.equal(yaml.log.level, 'debug');
  for (const encoding of ['with a mark', 'without'] as const) {
    const bytes = Buffer.from(`${encoding === 'with a mark' ? '\ufeff' : ''}${lines}`, 'utf16le');
    const text = bytes.toString('utf8');
    t.match((await faultsOf({ files: { [DOT_ENV]: text } })).join(), /^\.env: is not UTF-8 text/, encoding);
    t.match((await faultsOf({ files: { [FILE]: text } })).join(), /this is not UTF-8 text/, encoding);
  }
});

t.test('a file named .yml in a default place is a fault', async (t) => {
  for (const path of [`${CWD}/bearerd.yml`, `${CWD}/config/bearerd.yml`, '/xdg/bearerd/bearerd.yml']) {
    const env = { ...LEAST, XDG_CONFIG_HOME: '/xdg' };
    t.match(await faultsOf({ env, files: { [path]: '' } }), [
      `${path}: is not read: rename it to bearerd.yaml`,
    ]);
    t.same(await faultsOf({ env, files: { [path]: '', [FILE]: '' } }), [], 'another file is read');
    t.same(await faultsOf({ env, files: { [path]: '' }, configFile: path }), [], 'the .yml file is named');
  }
});

t.test('a line of .env that would be ignored or truncated is a fault with its line number', async (t) => {
  const before = 'BEARERD_CLIENT_ID=a\nBEARERD_CLIENT_SECRET="two\nlines"\n';
  const url = 'BEARERD_BASE_URL=https://api.example.com\n';
  const lines: [string, string][] = [
    [
      'BEARERD_BASE_URL: https://c4n4ry.example',
      'line 4 has no = after the name; write BEARERD_BASE_URL=VALUE',
    ],
    [
      'BEARERD_BASE_URL https://c4n4ry.example',
      'line 4 has no = after the name; write BEARERD_BASE_URL=VALUE',
    ],
    ['BEARERD_BASE_URL: "https://c4n4ry.example?a=b"', 'line 4 has no = after the name'],
    ['BEARERD_BASE_URL', 'line 4 has no = after the name'],
    [
      'set BEARERD_BASE_URL=https://c4n4ry.example',
      'line 4 must begin with the name: BEARERD_BASE_URL=VALUE',
    ],
    [
      `${url}BEARERD_API_KEY=c4n#4ry`,
      'line 5 has a # that cuts the value of BEARERD_API_KEY off; put the value in quotes',
    ],
    [
      `${url}BEARERD_API_KEY="c4n4ry\nBEARERD_LOG_LEVEL=info`,
      'line 5 has a quote that is not closed (BEARERD_API_KEY)',
    ],
  ];
  for (const [line, problem] of lines) {
    const faults = await faultsOf({ env: {}, files: { [DOT_ENV]: before + line } });
    t.same(faults.length, 1, line);
    t.ok(faults[0]?.startsWith(`.env: ${problem}`), line);
    t.notMatch(faults.join(), 'c4n', 'the value is not shown');
  }
});

t.test('every valid form of a line of .env is accepted', async (t) => {
  const text = `# BEARERD_LISTEN: none
export BEARERD_BASE_URL = https://api.example.com # the API
BEARERD_CLIENT_ID='a#b'
BEARERD_CLIENT_SECRET="first # line
BEARERD_X: not a line of its own"
if [ -n "$BEARERD_URL" ]; then echo "$BEARERD_URL"; fi
BEARERD_TOKEN_WAIT=\r
OTHER: value
`;
  const { upstream } = await loadFrom({ env: {}, files: { [DOT_ENV]: text } });
  t.equal(upstream.origin, 'https://api.example.com');
});
