import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { run } from '../../support/cli.ts';
import { inOneProcess } from '../../support/one-process.ts';

const call = inOneProcess(t);

// `bearerd init --from-curl` as a person runs it.

const SECRET = 'k-0123456789abcdef';

/** Says which key it got; at `/odd` something else each time. */
async function startApi(t: Test): Promise<string> {
  let calls = 0;
  const api = http.createServer((request, response) => {
    response.setHeader('content-type', 'text/plain');
    if (request.url === '/odd') response.statusCode = ++calls % 2 === 0 ? 200 : 404;
    response.end(request.headers['x-api-key'] === SECRET ? 'known' : 'unknown');
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  t.teardown(() => api.close());
  return `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
}

t.test('what it writes passes check, and the secret is in no output and in no other file', async (t) => {
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

t.test('no file is written over, and none is left where one can not be written', async (t) => {
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

t.test('the line may come by standard input, and the secret lies beside the output', async (t) => {
  const dir = t.testdir({ conf: {} });
  const line = `curl https://h/ \\\n  -H 'X-Api-Key: ${SECRET}'\n`;
  const made = await run(t, ['init', '--from-curl', '-', '--output', 'conf/api.yaml'], {}, dir, line);
  t.match(made, { code: 0, stderr: '' });
  t.match(made.stdout, 'bearerd check --online --config conf/api.yaml');
  t.equal(readFileSync(join(dir, 'conf/bearerd-secret'), 'utf8'), SECRET);
});

t.test('a line that can not be read is 64, and nothing is written', async (t) => {
  const dir = t.testdir({});
  for (const line of ['wget x', `curl -k https://h/ -H 'X-Api-Key: ${SECRET}'`, "curl 'https://h/"]) {
    const refused = await call(t, ['init', '--from-curl', line], {}, dir);
    t.match(refused, { code: 64, stdout: '', stderr: /--from-curl: / }, line);
    t.notMatch(refused.stderr, SECRET, line);
  }
  t.match(await call(t, ['init', '--try'], {}, dir), { code: 64, stderr: /--try needs --from-curl LINE/ });
  t.match(await call(t, ['init', '--from-curl', 'curl h', '--account', 'key'], {}, dir), { code: 64 });
  t.notOk(existsSync(join(dir, 'bearerd.yaml')));
});

t.test('--try compares the answer to the line with the one by bearerd', async (t) => {
  const api = await startApi(t);
  const tried = (line: string) => call(t, ['init', '--from-curl', line, '--try'], {}, t.testdir({}));
  const key = `-H 'X-Api-Key: ${SECRET}'`;
  t.match(await tried(`curl ${api}/me ${key}`), {
    code: 0,
    stdout: /status: equal \(200\)\n {2}content type: equal \(text\/plain\)\n {2}body: equal \(5 bytes\)/,
  });
  t.match(await tried(`curl ${api}/odd ${key}`), {
    code: 1,
    stdout: /answers differ:\n {2}status: 404, and by bearerd 200/,
  });
  t.match(await tried(`curl ${api}/me ${key} -d a=b`), {
    code: 0,
    stdout: /Not tried: a POST may change something; only GET and HEAD are sent/,
  });
});
