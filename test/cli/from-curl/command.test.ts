import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run } from '../../support/cli.ts';
import { assertNoInternalError } from '../../support/internal-errors.ts';
import { inOneProcess } from '../../support/one-process.ts';
import { NO_TERMINAL, onTerminal } from '../../support/terminal.ts';

const call = inOneProcess(t);

// `bearerd init --from-curl` as a process.

const SECRET = 'k-0123456789abcdef';

/** Answers with the key that it got; at `/echo` with the rest of the request, too; at `/odd` with another text each time; at `/no` it refuses every key. */
async function startApi(t: Test): Promise<string> {
  let calls = 0;
  const api = http.createServer((request, response) => {
    response.setHeader('content-type', 'text/plain');
    if (request.url === '/odd') response.statusCode = ++calls % 2 === 0 ? 200 : 404;
    if (request.url === '/no') response.statusCode = 401;
    const known = request.headers['x-api-key'] === SECRET ? 'known' : 'unknown';
    const echo = `${request.url} ${request.headers['x-other-key']} ${known}`;
    response.end(request.url!.startsWith('/echo') ? echo : known);
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  t.teardown(() => api.close());
  return `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
}

t.test('the configuration passes check, and the secret is only in its own file', async (t) => {
  const dir = t.testdir({});
  const line = `curl -s https://api.example.com/v1/me?x=1 -H 'X-Api-Key: ${SECRET}'`;
  const made = await call(t, ['init', '--from-curl', line], {}, dir);
  t.match(made, { code: 0, stderr: '' });
  t.match(made.stdout, /^ {2}curl -s 'http:\/\/localhost:9180\/v1\/me\?x=1'$/m);
  t.notMatch(made.stdout, SECRET);
  t.notMatch(readFileSync(join(dir, 'bearerd.yaml'), 'utf8'), SECRET);
  t.equal(readFileSync(join(dir, 'bearerd-secret'), 'utf8'), SECRET);
  t.equal(statSync(join(dir, 'bearerd-secret')).mode & 0o777, 0o600);
  const checked = await call(t, ['check'], {}, dir);
  t.match(checked, { code: 0, stdout: /# The configuration is valid/ });
  t.notMatch(checked.stdout + checked.stderr, SECRET);
});

t.test('no file is overwritten, and none is left behind if another cannot be written', async (t) => {
  const dir = t.testdir({});
  const line = `curl https://h/ -H 'X-Api-Key: ${SECRET}'`;
  writeFileSync(join(dir, 'bearerd-secret'), 'mine');
  t.match(await call(t, ['init', '--from-curl', line], {}, dir), {
    code: 73,
    stdout: '',
    stderr: /bearerd-secret is not written: it exists already/,
  });
  t.notOk(existsSync(join(dir, 'bearerd.yaml')));
  t.equal(readFileSync(join(dir, 'bearerd-secret'), 'utf8'), 'mine');
  t.match(await call(t, ['init', '--from-curl', line, '--output', 'no/such/b.yaml'], {}, dir), { code: 73 });
});

t.test('the line may come from standard input, and the secret file lies beside the output', async (t) => {
  const dir = t.testdir({ conf: {} });
  const line = `curl https://h/ \\\n  -H 'X-Api-Key: ${SECRET}'\n`;
  const made = await run(t, ['init', '--from-curl', '-', '--output', 'conf/api.yaml'], {}, dir, line);
  t.match(made, { code: 0, stderr: '' });
  t.match(made.stdout, 'bearerd check --online --config conf/api.yaml');
  t.equal(readFileSync(join(dir, 'conf/bearerd-secret'), 'utf8'), SECRET);
});

t.test('a line that cannot be read exits 64, and nothing is written', async (t) => {
  const dir = t.testdir({});
  const cookie = `curl https://h/ -b 'sid="${SECRET}"'`;
  for (const line of ['wget x', cookie, `curl -k https://h/ -H 'X-Api-Key: ${SECRET}'`, "curl 'https://h/"]) {
    const refused = await call(t, ['init', '--from-curl', line], {}, dir);
    t.match(refused, { code: 64, stdout: '', stderr: /--from-curl: / }, line);
    t.notMatch(refused.stderr, SECRET, line);
  }
  t.match(await call(t, ['init', '--try'], {}, dir), { code: 64, stderr: /--try needs --from-curl LINE/ });
  t.match(await call(t, ['init', '--from-curl', 'curl h', '--account', 'key'], {}, dir), { code: 64 });
  t.notOk(existsSync(join(dir, 'bearerd.yaml')));
  t.notOk(existsSync(join(dir, 'bearerd-secret')));
});

t.test('--try compares the answer to the curl line with the answer through bearerd', async (t) => {
  const api = await startApi(t);
  const tried = (line: string) => call(t, ['init', '--from-curl', line, '--try'], {}, t.testdir({}));
  const key = `-H 'X-Api-Key: ${SECRET}'`;
  t.match(await tried(`curl ${api}/me ${key}`), {
    code: 0,
    stdout: /status: equal \(200\)\n {2}content type: equal \(text\/plain\)\n {2}body: equal \(5 bytes\)/,
  });
  t.match(await tried(`curl '${api}/echo?a=1' ${key} -G -d b=2 --url-query 'c=3 4'`), {
    code: 0,
    stdout: /answers are equal/,
  });
  t.match(await tried(`curl ${api}/echo ${key} -H 'X-Other-Key: ${SECRET}'`), {
    code: 1,
    stdout: /- header X-Other-Key: [\s\S]*body: differs/,
  });
  t.match(await tried(`curl ${api}/odd ${key}`), {
    code: 1,
    stdout: /answers differ:\n {2}status: 404, and by bearerd 200/,
  });
  t.match(await tried(`curl ${api}/no ${key}`), {
    code: 0,
    stdout: /answers are equal:\n {2}status: equal \(401\)\n[\s\S]*The API refuses the line's own credential/,
  });
  t.match(await tried(`curl ${api}/me ${key} -d a=b`), {
    code: 0,
    stdout: /Not tried: a POST may change something; only GET and HEAD are sent/,
  });
  t.match(await tried(`curl -X GET ${api}/me ${key} -d @file`), {
    code: 0,
    stdout: /\nNot tried: what -d gives does not stand in the line; only what stands there is sent\.\n/,
  });
});

t.test('what a login does not send is named, without its value', async (t) => {
  const line = `curl https://h/token -u i:${SECRET} -d grant_type=client_credentials -d api_key=${SECRET} -H 'X-Tenant: ${SECRET}'`;
  const dir = t.testdir({});
  const made = await call(t, ['init', '--from-curl', line], {}, dir);
  t.match(made, {
    code: 0,
    stdout: /Not carried over:\n {2}- header X-Tenant: a login of bearerd does not send it\n/,
  });
  t.notMatch(made.stdout + readFileSync(join(dir, 'bearerd.yaml'), 'utf8'), SECRET);
  t.equal(statSync(join(dir, 'bearerd-secret-api_key')).mode & 0o777, 0o600);
  t.match(await call(t, ['check'], {}, dir), { code: 0, stdout: /# The configuration is valid/ });
});

t.test('a token that ends is said to, since nothing renews it', async (t) => {
  const jwt = (exp: number) =>
    ['{"alg":"none"}', JSON.stringify({ exp }), 'x']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.');
  const made = (exp: number) =>
    call(
      t,
      ['init', '--from-curl', `curl https://h/ -H 'Authorization: Bearer ${jwt(exp)}'`],
      {},
      t.testdir({}),
    );
  t.match(await made(4_102_444_800), {
    code: 0,
    stdout:
      /\nWhat bearerd-secret holds is a token that ends at 2100-01-01T00:00:00Z, and bearerd can't renew it: /,
  });
  t.match(await made(946_684_800), {
    code: 0,
    stdout: /is a token that ended at 2000-01-01T00:00:00Z: give the line/,
  });
  t.match(await made(-1e300), { code: 0, stdout: /is a token that ended at 1970-01-01T00:00:00Z: / });
});

t.test('a placeholder in the URL is refused in the host, and marked in the call', async (t) => {
  const made = (url: string, rest = `-H 'X-Api-Key: ${SECRET}'`) =>
    call(t, ['init', '--from-curl', `curl ${url} ${rest}`], {}, t.testdir({}));
  for (const url of [
    'https://{subdomain}.example.com/x',
    "'https://<tenant>.example.com/x'",
    'https://%7Bsite%7D.example.com/',
  ])
    t.match(
      await made(url),
      { code: 64, stderr: /the URL holds \S+, a placeholder: write your own value/ },
      url,
    );
  t.match(await made('https://<my-tenant>.example.com/x'), {
    code: 64,
    stderr: /"<" outside of quotes .* your own value/,
  });
  t.match(await made('https://api.example.com/accounts/{account_id}/me?of={user}'), {
    code: 0,
    stdout: /\n\{account_id\} in the call below is a placeholder: .*\n\{user\} in the call below/,
  });
  t.match(await made('https://your-domain.example.com/me'), {
    code: 0,
    stdout: /\nThe host of https:\S+ looks like a placeholder: correct baseUrl\.\n/,
  });
  t.match(
    await made(
      'https://login.example.com/{tenant}/token',
      '-d grant_type=client_credentials -d client_id=a -d client_secret=b',
    ),
    {
      code: 64,
      stderr: /the URL holds \{tenant\}/,
    },
  );
});

t.test(
  'on a terminal it asks for what stands in the place of a placeholder',
  { skip: NO_TERMINAL },
  async (t) => {
    const dir = t.testdir({ line: "curl 'https://{subdomain}.example.com/v1/{id}' -H 'X-Api-Key: k-1'" });
    const { code, output } = await onTerminal(t, dir, 'init --from-curl "$(cat line)"', [
      ['{subdomain} in the URL: ', 'a b\n'],
      ['must be what stands there', 'acme\n'],
      ['{id} in the URL: ', '7\n'],
    ]);
    t.equal(code, 0, output);
    assertNoInternalError(output);
    t.match(readFileSync(join(dir, 'bearerd.yaml'), 'utf8'), /^baseUrl: https:\/\/acme\.example\.com$/m);
    t.match(output, 'curl http://localhost:9180/v1/7');
  },
);
