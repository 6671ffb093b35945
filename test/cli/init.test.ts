import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { assertNoInternalError } from '../support/internal-errors.ts';
import { inOneProcess } from '../support/one-process.ts';
import { NO_TERMINAL, onTerminal } from '../support/terminal.ts';

const call = inOneProcess(t);

const VALUES = {
  BEARERD_CLIENT_ID: 'a',
  BEARERD_CLIENT_SECRET: 'b',
  BEARERD_USERNAME: 'c',
  BEARERD_PASSWORD: 'd',
  BEARERD_API_KEY: 'e',
  OAUTH_CLIENT_ID: 'f',
  OAUTH_CLIENT_SECRET: 'g',
};

t.test('a file of init passes check once the variables that it names are set', async (t) => {
  const dir = t.testdir({});
  for (const account of ['service', 'user', 'key', 'oauth2']) {
    const file = `${account}.yaml`;
    const made = await call(
      t,
      ['init', '--base-url', 'https://api.example.com/v1', '--account', account, '--output', file],
      {},
      dir,
    );
    t.match(made, { code: 0, stderr: '' });
    t.match(made.stdout, `bearerd check --online --config ${file}`);
    t.equal(made.stdout.includes('To be replaced'), account === 'oauth2', 'a token URL is a guess');
    const text = readFileSync(join(dir, file), 'utf8');
    const named = [...text.matchAll(/\{ env: (\w+_\w+) \}/g)].map(([, name = '']) => name);
    t.ok(named.length > 0);
    const env = Object.fromEntries(Object.entries(VALUES).filter(([name]) => named.includes(name)));
    t.match(await call(t, ['check', '--config', file], env, dir), {
      code: 0,
      stdout: /# The configuration is valid/,
    });
    const without = await call(t, ['check', '--config', file], {}, dir);
    t.equal(without.code, 78);
    for (const name of named)
      t.match(without.stderr, new RegExp(`${name}, which is not set \\(${account}\\.yaml:\\d+\\)`));
  }
});

t.test('each setting that init writes as a comment is valid', async (t) => {
  const dir = t.testdir({});
  await call(t, ['init', '--account', 'key'], {}, dir);
  const file = join(dir, 'bearerd.yaml');
  const all = readFileSync(file, 'utf8').replace(/^( *)# ((?:- )?[{a-z]\w*: .*|- \{.*)$/gm, '$1$2');
  writeFileSync(file, all);
  t.match(all, /^listen: /m);
  t.match(all, /^ {2}- \{ prefix: \/health/m);
  t.match(await call(t, ['check'], { BEARERD_API_KEY: 'x' }, dir), {
    code: 0,
    stdout: /credential: deny # bearerd\.yaml/,
  });
});

t.test('without a terminal init uses the defaults, and it never overwrites a file', async (t) => {
  const dir = t.testdir({});
  t.match(await call(t, ['init'], {}, dir), {
    code: 0,
    stdout:
      /To be replaced in it:\n\n {2}baseUrl: https:\S+ is an example; write that of your API\.\n\nNext:\n\n {2}export BEARERD_CLIENT_ID=/,
  });
  const file = join(dir, 'bearerd.yaml');
  const before = readFileSync(file, 'utf8');
  t.match(before, /^baseUrl: https:\/\/api\.example\.com$/m);
  const again = await call(t, ['init', '--account', 'user'], {}, dir);
  t.match(again, {
    code: 73,
    stdout: '',
    stderr: /bearerd\.yaml is not written: it exists already.* Move it away/,
  });
  t.equal(readFileSync(file, 'utf8'), before);
  t.match(await call(t, ['init', '--output', 'no/such/x.yaml'], {}, dir), {
    code: 73,
    stderr: /its folder does not exist\. Make it/,
  });
});

t.test('init refuses a wrong URL or account, and writes nothing', async (t) => {
  const dir = t.testdir({});
  t.match(await call(t, ['init', '--base-url', 'api.example.com'], {}, dir), {
    code: 78,
    stderr: /--base-url: .*https:\/\//,
  });
  t.match(await call(t, ['init', '--base-url', 'http://api.example.com'], {}, dir), {
    code: 78,
    stderr: /https:\/\//,
  });
  t.match(await call(t, ['init', '--account', 'robot'], {}, dir), {
    code: 64,
    stderr: /one of service, user, key, oauth2/,
  });
  t.throws(() => readFileSync(join(dir, 'bearerd.yaml')));
});

t.test(
  'on a terminal init asks for what is not given, and again after a wrong answer',
  { skip: NO_TERMINAL },
  async (t) => {
    const dir = t.testdir({});
    const { code, output } = await onTerminal(t, dir, 'init', [
      ['Base URL of the API', 'x.example/v1\n'],
      ['must begin with https://', 'https://x.example/v1\n'],
      ['Account (service, user, key, oauth2)', 'robot\n'],
      ['must be one of service, user, key, oauth2', 'user\n'],
    ]);
    t.equal(code, 0, output);
    assertNoInternalError(output);
    const text = readFileSync(join(dir, 'bearerd.yaml'), 'utf8');
    t.match(text, /^baseUrl: https:\/\/x\.example\/v1$/m);
    t.match(text, /password: \{ env: BEARERD_PASSWORD \}/);
  },
);
