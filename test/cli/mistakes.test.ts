import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { startMockApi } from '../../src/mock/mock-api.ts';
import { run } from '../support/cli.ts';
import { inOneProcess } from '../support/one-process.ts';
import { happens } from '../support/raw-client.ts';

// Mistakes of new users. The message alone must be enough to correct each.
const mock = await startMockApi();
t.teardown(() => mock.close());
const { clientId, clientSecret } = mock.credentials;
const taken = createServer().listen(0, '127.0.0.1');
await happens(taken, 'listening');
t.teardown(() => taken.close());
const { port } = taken.address() as { port: number };

const SECRET = 'hunter2-s3cret';
const LISTENS_NOT = 71;
const call = inOneProcess(t);
const ACCOUNT = {
  BEARERD_BASE_URL: mock.url,
  BEARERD_CLIENT_ID: clientId,
  BEARERD_CLIENT_SECRET: clientSecret,
};
const KEY = { BEARERD_BASE_URL: 'https://api.example.com', BEARERD_API_KEY: SECRET };
const QUIET = { BEARERD_LISTEN: '127.0.0.1:0', BEARERD_ADMIN_LISTEN: 'off' };

interface Mistake {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly code: number;
  readonly names: readonly RegExp[];
}

const yaml = (text: string) => ({ 'bearerd.yaml': text });
const check = (env: Mistake['env'], ...names: RegExp[]): Mistake => ({
  args: ['check'],
  env: env ?? {},
  code: 78,
  names,
});
const inFile = (text: string, ...names: RegExp[]): Mistake => ({
  args: ['check'],
  files: yaml(text),
  code: 78,
  names,
});

const MISTAKES: Readonly<Record<string, Mistake>> = {
  'a mistyped flag': { args: ['--lsten', ':80'], code: 64, names: [/unknown flag --lsten/, /--listen\?/] },
  'a mistyped command': { args: ['chekc'], code: 64, names: [/"chekc"/, /"check"/] },
  'a secret as a flag': { args: ['--client-secret', SECRET], code: 64, names: [/--client-secret-file FILE/] },
  'a flag without its value': {
    args: ['check', '--base-url'],
    code: 64,
    names: [/--base-url needs a value: --base-url VALUE/],
  },
  'a wrong value of a flag': {
    args: ['check', '--token-wait', '10'],
    env: KEY,
    code: 78,
    names: [/--token-wait: .*write 10s/],
  },
  'nothing configured': check(
    {},
    /BEARERD_BASE_URL: is required; .*there is none at \S+\/bearerd\.yaml, \S+\/config\/bearerd\.yaml, .*: name it with --config/,
    /BEARERD_CLIENT_ID and BEARERD_CLIENT_SECRET/,
    /BEARERD_API_KEY/,
  ),
  'quotes of an env file': check(
    { ...KEY, BEARERD_BASE_URL: '"https://api.example.com"' },
    /BEARERD_BASE_URL: .*it stands in quotes, .*leave them out/,
  ),
  'pairs of routes with semicolons': check(
    { ...KEY, BEARERD_ROUTES: '/a = apiKey; /b=none' },
    /BEARERD_ROUTES: .*separate pairs with commas/,
  ),
  'a command that is an endpoint': {
    args: ['metrics'],
    code: 64,
    names: [/use GET \/metrics of the admin listener/],
  },
  'a URL without its scheme': check(
    { ...KEY, BEARERD_BASE_URL: 'api.example.com' },
    /BEARERD_BASE_URL: .*https:\/\//,
  ),
  'http:// to another host': check(
    { ...KEY, BEARERD_BASE_URL: 'http://api.example.com' },
    /use https:\/\//,
    /BEARERD_ALLOW_INSECURE_UPSTREAM/,
  ),
  'a mistyped variable': check(
    { ...KEY, BEARERD_TOKENWAIT: '1s' },
    /BEARERD_TOKENWAIT: .*BEARERD_TOKEN_WAIT\?/,
  ),
  'a number without a unit': check(
    { ...KEY, BEARERD_DRAIN_TIMEOUT: '30' },
    /BEARERD_DRAIN_TIMEOUT: .*write 30s/,
  ),
  'a word that is no choice': check(
    { ...KEY, BEARERD_LOG_LEVEL: 'verbose' },
    /BEARERD_LOG_LEVEL: .*debug.*info/,
  ),
  'an id without its secret': check(
    { BEARERD_BASE_URL: mock.url, BEARERD_CLIENT_ID: 'a' },
    /BEARERD_CLIENT_SECRET: is missing; BEARERD_CLIENT_ID needs it/,
  ),
  'two grants': check(
    { ...ACCOUNT, BEARERD_USERNAME: 'a', BEARERD_PASSWORD: SECRET },
    /BEARERD_USERNAME: .*BEARERD_CLIENT_ID/,
  ),
  'a secret twice': check(
    { ...KEY, BEARERD_API_KEY_FILE: '/x' },
    /BEARERD_API_KEY: .*BEARERD_API_KEY_FILE; keep one/,
  ),
  'an empty secret': check({ ...KEY, BEARERD_API_KEY: '' }, /BEARERD_API_KEY: is empty/),
  'a secret file that is not there': check(
    { BEARERD_BASE_URL: mock.url, BEARERD_API_KEY_FILE: '/run/no/such' },
    /BEARERD_API_KEY_FILE: .*\/run\/no\/such: no such file/,
  ),
  'a secret file that is a folder': check(
    { BEARERD_BASE_URL: mock.url, BEARERD_API_KEY_FILE: '/tmp' },
    /BEARERD_API_KEY_FILE: .*it is a folder/,
  ),
  'a key with a blank at its end': check(
    { ...KEY, BEARERD_API_KEY: `${SECRET} ` },
    /BEARERD_API_KEY: .*(?:blank|space)/,
  ),
  'a route to no credential': check(
    { ...KEY, BEARERD_ROUTES: '/=token' },
    /BEARERD_ROUTES: .*token/,
    /apiKey/,
    /BEARERD_CLIENT_ID/,
  ),
  'an open port without a key': check(
    { ...KEY, BEARERD_LISTEN: '0.0.0.0:9180' },
    /BEARERD_LISTEN|BEARERD_CALLER_KEY/,
    /caller key|BEARERD_CALLER_KEY/,
  ),
  'one address for both listeners': check(
    { ...KEY, BEARERD_LISTEN: 'localhost:9181' },
    /LISTEN: localhost:9181 is the same address as localhost:9181 of .*LISTEN; give one of them another port/,
  ),
  'a port in use': {
    args: ['start'],
    env: { ...ACCOUNT, ...QUIET, BEARERD_LISTEN: `127.0.0.1:${port}` },
    code: 71,
    names: [
      new RegExp(`127\\.0\\.0\\.1:${port}: the address is already in use`),
      /the proxy's listener, from BEARERD_LISTEN/,
      /Stop what listens there, or give another address: BEARERD_LISTEN, --listen, or listen/,
    ],
  },
  'a port in use by the admin listener': {
    args: ['start', '--admin-listen', `127.0.0.1:${port}`],
    env: { ...ACCOUNT, ...QUIET },
    code: 71,
    names: [/the admin listener, from --admin-listen\)/, /BEARERD_ADMIN_LISTEN/],
  },
  'a port in use by the mock': {
    args: ['mock', '--listen', `127.0.0.1:${port}`],
    code: 71,
    names: [/the address is already in use/],
  },
  'a URL as an address': check(
    { ...KEY, BEARERD_LISTEN: 'http://localhost:9180/' },
    /BEARERD_LISTEN: must be an address and no URL: write localhost:9180$/m,
  ),
  'a port alone': check({ ...KEY, BEARERD_LISTEN: '9180' }, /write localhost:9180$/m),
  'a host alone': check({ ...KEY, BEARERD_LISTEN: 'localhost' }, /HOST:PORT: the port is missing$/m),
  'an IPv6 address without brackets': check(
    { ...KEY, BEARERD_LISTEN: '::1' },
    /\[IPv6\]:PORT, with the brackets$/m,
  ),
  'a flag as others call it': {
    args: ['--port', '8080'],
    code: 64,
    names: [/unknown flag --port; use --listen HOST:PORT/],
  },
  'a value of a flag that takes none': {
    args: ['check', '--json=yes'],
    code: 64,
    names: [/--json takes no value$/m],
  },
  'an argument too many': { args: ['start', 'now'], code: 64, names: [/unexpected argument "now"/] },
  'an argument too many behind others': {
    args: ['check', '--online', 'GET', '/', 'now'],
    code: 64,
    names: [/unexpected argument "now"/, /usage: bearerd check/],
  },
  'a command of exec without the separator': {
    args: ['exec', 'curl', '-s', 'http://localhost'],
    code: 64,
    names: [/unknown flag -s; the flags of a command stand behind --$/m, /usage: bearerd exec .* -- CMD/],
  },
  'a line of curl without quotes': {
    args: ['init', '--from-curl', 'curl', 'https://api.example.com', '-H', 'X-Api-Key: abc'],
    code: 64,
    names: [/put the whole line of curl in single quotes$/m],
  },
  'a URL as the argument of init': {
    args: ['init', 'https://api.example.com'],
    code: 64,
    names: [/give the URL with --base-url$/m],
  },
  'a file as the command': {
    args: ['bearerd.yaml'],
    code: 64,
    names: [/a configuration file is given with --config$/m],
  },
  'a file as the argument of check': {
    args: ['check', 'bearerd.yaml'],
    code: 64,
    names: [/a configuration file is given with --config$/m],
  },
  'a short flag of other programs': {
    args: ['-c', 'bearerd.yaml'],
    code: 64,
    names: [/unknown flag -c; use --config FILE$/m],
  },
  'a file below ~': {
    args: ['check', '--config=~/bearerd.yaml'],
    code: 66,
    names: [/no such file; nothing replaces the ~ here/],
  },
  'an argument too few': { args: ['exec'], code: 64, names: [/an argument is missing/, /-- CMD/] },
  'a file that is not there': {
    args: ['check', '--config', 'no.yaml'],
    env: KEY,
    code: 66,
    names: [/the configuration file can't be read: .*no\.yaml: no such file/, /--config or BEARERD_CONFIG/],
  },
  'a file with another ending': {
    args: ['check'],
    env: KEY,
    files: { 'bearerd.yml': 'listen: localhost:1' },
    code: 78,
    names: [/bearerd\.yml: .*rename it to bearerd\.yaml/],
  },
  'a tab in the file': inFile('session:\n\ttokenWait: 1s\n', /line 2/, /a tab .*use spaces/),
  'a key twice in the file': inFile('listen: localhost:1\nlisten: localhost:2\n', /line 2/, /twice/),
  'an open quote in the file': inFile(`callerKey: "${SECRET}\n`, /line \d/, /a quote/),
  'a mistyped key in the file': inFile(
    'sesion: { tokenWait: 1s }\n',
    /sesion: unknown key; did you mean session/,
    /bearerd\.yaml:1/,
  ),
  'a key in the wrong place': inFile(
    'baseUrl: https://a.example\ntokenWait: 1s\n',
    /tokenWait: .*session\.tokenWait\?/,
    /bearerd\.yaml:2/,
  ),
  'a placeholder in the file': inFile(
    `credentials:\n  apiKey:\n    type: apiKey\n    key: \${API_KEY}\n`,
    /credentials\.apiKey\.key: /,
    /write \{ env: API_KEY \}/,
    /bearerd\.yaml:4/,
  ),
  'a placeholder between braces, which is no YAML': inFile(
    `credentials:\n  apiKey: { type: apiKey, key: \${API_KEY} }\n`,
    /line 2: .*write \{ env: API_KEY \}/,
    /that is the only fault/,
  ),
  "a variable that the file names and that isn't set": inFile(
    'credentials:\n  apiKey: { type: apiKey, key: { env: MY_KEY } }\n',
    /the variable MY_KEY, which is not set/,
    /bearerd\.yaml:2/,
  ),
  'a number as a secret in the file': inFile(
    'callerKey: 0123456\n',
    /callerKey: must be in quotes/,
    /bearerd\.yaml:1/,
  ),
  'a credential without its type': inFile(
    'credentials:\n  apiKey: { key: x }\n',
    /credentials\.apiKey\.type: .*session, apiKey/,
    /bearerd\.yaml:2/,
  ),
  'a wrong secret': {
    args: ['check', '--online'],
    env: { ...ACCOUNT, BEARERD_CLIENT_SECRET: SECRET },
    code: 77,
    names: [/^bearerd: token: /m, /refuse/, /401/],
  },
  'a mistyped credential': {
    args: ['token', '--credential', 'tokn'],
    env: ACCOUNT,
    code: 64,
    names: [/tokn/, /token\?/],
  },
};

for (const [title, { args, env = {}, files = {}, code, names }] of Object.entries(MISTAKES)) {
  t.test(`the message alone is enough to correct this: ${title}`, async (t) => {
    const dir = t.testdir({ ...files });
    // What begins to listen is a process of its own.
    const result = await (code === LISTENS_NOT ? run : call)(
      t,
      args,
      { HOME: join(dir, 'home'), ...env },
      dir,
    );
    t.equal(result.code, code, result.stderr);
    for (const name of names) t.match(result.stderr, name);
    t.notMatch(result.stdout + result.stderr, SECRET, 'no message shows a secret');
  });
}

t.test('routes and check read a path without a method as a GET', async (t) => {
  t.testdir({});
  const env = { ...ACCOUNT, BEARERD_ROUTES: '/=token' };
  t.match(await call(t, ['routes', '/companies'], env), { code: 0, stdout: /result: +forwarded/ });
  t.match(await call(t, ['check', '--online', '/companies/example.com'], env), {
    code: 0,
    stdout: /✓ request GET \/companies\/example\.com: /,
  });
});

t.test('routes names the route that another reading of the path would match', async (t) => {
  t.testdir({});
  const env = { ...ACCOUNT, BEARERD_ROUTES: '/companies=token,/health=none' };
  const cases = [
    ['/Companies/1', /why: +only in letter case is \/Companies\/1 not below \/companies: /],
    ['//companies', /why: +\/\/companies may be read as \/companies, below \/companies: /],
    ['/comp%61nies', /may be read as \/companies/],
    ['/HEALTH', /Write \/health as the route does/],
  ] as const;
  for (const [path, why] of cases) {
    const { code, stdout } = await call(t, ['routes', 'GET', path], env);
    t.equal(code, 0);
    t.match(stdout, /refused with 400 bad-path/);
    t.match(stdout, /^what to do: +Send the path in its plain form/m);
    t.match(stdout, why);
  }
});
