import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run } from '../support/cli.ts';
import { accountOf, mockFor } from '../support/mock.ts';

// What a command under `bearerd exec` learns of its proxy: addresses and a key, and no secret.

const mock = await mockFor(t);
const ACCOUNT = accountOf(mock);

const SHOWS_ENVIRONMENT = 'console.log(JSON.stringify(process.env))';
/** The environment of a command under exec. */
async function environmentOf(t: Test, options: string[], env: NodeJS.ProcessEnv, files = {}) {
  const dir = t.testdir(files);
  const args = ['exec', ...options, '--', process.execPath, '-e', SHOWS_ENVIRONMENT];
  const { code, stdout, stderr } = await run(t, args, env, dir);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Record<string, string>;
}

t.test('exec puts the proxy into each variable for which a template is given', async (t) => {
  const options = [
    ['--env', 'API_BASE={url}/v1'],
    ['--env', 'API_HOST={host}', '--env=API_PORT={port}', '--env', 'EMPTY='],
    [
      '--env',
      'AS_JSON={"url":"{url}","key":"{key}"}',
      '--key-env',
      'OPENAI_API_KEY',
      '--key-env',
      'OTHER_KEY',
    ],
    ['--env', 'WITH_KEY=http://any:{key}@{host}:{port}/'],
  ];
  const env = await environmentOf(t, options.flat(), ACCOUNT);
  const { BEARERD_URL: url = '', OPENAI_API_KEY: key = '' } = env;
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.match(key, /^[0-9a-f]{64}$/);
  t.match(env, {
    API_BASE: `${url}/v1`,
    API_HOST: '127.0.0.1',
    API_PORT: new URL(url).port,
    EMPTY: '',
    AS_JSON: `{"url":"${url}","key":"${key}"}`,
    OTHER_KEY: key,
    WITH_KEY: `http://any:${key}@127.0.0.1:${new URL(url).port}/`,
  });
  const named = await environmentOf(t, ['--env', 'API_URL', '--env', 'X={port}'], ACCOUNT);
  t.equal(named.BEARERD_URL, undefined);
  t.equal(new URL(named.API_URL!).port, named.X);
  const again = await environmentOf(t, ['--key-env', 'OPENAI_API_KEY'], ACCOUNT);
  t.not(again.OPENAI_API_KEY, key, 'each run has its own key');
});

t.test('exec refuses a template without a placeholder', async (t) => {
  t.testdir({});
  const cases: [options: string[], words: RegExp][] = [
    [['--env', 'A={ur}'], /--env A: unknown placeholder \{ur\}; did you mean url\? \(known: \{url\}, /],
    [['--env', '1A={url}'], /--env 1A: must be a name/],
    [['--env', '={url}'], /--env : must be a name/],
    [['--key-env', 'A=b'], /--key-env A=b: must be a name/],
    [['--env', 'A', '--key-env', 'A'], /--key-env A: is given twice; keep one/],
    [
      ['--env', 'A={port}', '--listen', `unix:${join(tmpdir(), `bearerd-${process.pid}`)}`],
      /--env A: unix:.* has no \{port\}/,
    ],
  ];
  const refused = async ([options, words]: (typeof cases)[number]) => {
    const { code, stderr, stdout } = await run(t, ['exec', ...options, '--', 'echo', 'ran'], ACCOUNT);
    t.match({ code, stderr, stdout }, { code: 64, stderr: words, stdout: '' }, options.join(' '));
  };
  await Promise.all(cases.map(refused));
});

t.test('with a key, exec requires it of every caller, and the command sends it as an API key', async (t) => {
  const files = { 'bearerd.yaml': 'callerKey: key-of-the-file\ncallers: { other: { key: key-of-other } }\n' };
  t.testdir(files);
  const curl = 'curl -s -o /dev/null -w "%{http_code} " "$BEARERD_URL/companies/example.com"';
  const script = [
    curl,
    ...['wrong', 'key-of-the-file', 'key-of-other'].map((key) => `${curl} -H "x-bearerd-key: ${key}"`),
    `${curl} -H "authorization: Bearer $API_KEY"`,
    `${curl} -u "any:$API_KEY"`,
    'curl -s -o /dev/null -w "%{http_code} " "$WITH_KEY/companies/example.com"',
  ].join('; ');
  const options = ['--key-env', 'API_KEY', '--env', 'WITH_KEY=http://x:{key}@{host}:{port}'];
  const { stdout } = await run(t, ['exec', ...options, '--', 'sh', '-c', script], ACCOUNT, t.testdirName);
  t.equal(stdout, '407 407 407 407 200 200 200 ');
});

t.test('the environment of a command under exec holds no secret, from whatever source', async (t) => {
  const yaml = `
baseUrl: ${mock.url}
credentials:
  token: { type: session, clientId: sa-1, clientSecret: { env: MY_CLIENT_SECRET } }
  key: { type: apiKey, key: { env: OPENAI_API_KEY } }
callers: { other: { key: { env: MY_CALLER_KEY } } }
`;
  const dotEnv = `
BEARERD_API_KEY=s3cret-of-dotenv-1
MY_CLIENT_SECRET=s3cret-of-dotenv-2
`;
  const given = {
    OPENAI_API_KEY: 's3cret-of-environment-1',
    BEARERD_API_KEY: 's3cret-of-environment-2',
    MY_CLIENT_SECRET: 's3cret-of-environment-3',
    MY_CALLER_KEY: 's3cret-of-environment-4',
  };
  const copies = {
    COPY: 'Bearer s3cret-of-environment-1',
    COPY_OF_DOTENV: 's3cret-of-dotenv-1',
    COPY_OF_DOTENV_TOO: 's3cret-of-dotenv-2',
  };
  const kept = { USER: 'sa-1', KEPT: 's3cret' };
  const { OPENAI_API_KEY, MY_CALLER_KEY } = given;
  for (const secrets of [given, { OPENAI_API_KEY, MY_CALLER_KEY }]) {
    const files = { 'bearerd.yaml': yaml, '.env': dotEnv };
    const env = await environmentOf(
      t,
      ['--key-env', 'OPENAI_API_KEY'],
      { ...secrets, ...kept, ...copies },
      files,
    );
    // A value that is not in force is no secret of bearerd's: a copy of it stays.
    const inForce = 'MY_CLIENT_SECRET' in secrets ? /s3cret-of-environment/ : /s3cret-of/;
    t.notMatch(JSON.stringify(env), inForce);
    t.match(env, { ...kept, OPENAI_API_KEY: /^[0-9a-f]{64}$/ });
  }
});
