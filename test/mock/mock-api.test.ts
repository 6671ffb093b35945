import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t from 'tap';
import { ListenError } from '../../src/base/errors.ts';
import { startMockApi } from '../../src/mock/mock-api.ts';
import { happens, PATIENCE_MS, within } from '../support/raw-client.ts';
import { bearer, call, logIn, post, rawExchange, SESSION, startedFor, tokenOf } from './fixtures/client.ts';

t.test('a token is accepted until its expiry and not a millisecond longer', async (t) => {
  let now = 1_800_000_000_000;
  const mock = await startedFor(t, { now: () => now, tokenLifetimeMs: 1_500 });
  const headers = bearer(await tokenOf(mock));
  now += 1_499;
  t.equal((await call(mock, '/echo', { headers })).status, 200);
  now += 1;
  const late = await call(mock, '/echo', { headers });
  t.equal(late.status, 401);
  t.match(late.json.message, /expired/);
});

t.test('revokeAll makes every earlier token invalid, and later ones valid', async (t) => {
  const mock = await startedFor(t);
  const headers = bearer(await tokenOf(mock));
  mock.revokeAll();
  t.match((await call(mock, '/echo', { headers })).json.message, /revoked/);
  t.equal((await call(mock, '/echo', { headers: bearer(await tokenOf(mock)) })).status, 200);
});

t.test('nothing that a client sends crashes the mock', async (t) => {
  const mock = await startedFor(t);
  const key = `Authorization: Bearer ${mock.credentials.apiKey}\r\n`;
  const requests = [
    'nonsense\r\n\r\n',
    'GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    'CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    `GET //echo/%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}\r\n`,
    `GET /events HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n${key}\r\n`,
    `POST /echo HTTP/1.1\r\nHost: x\r\n${key}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `POST ${SESSION} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n\xff\xff`,
    `POST /__mock HTTP/1.0\r\nContent-Length: 16\r\n\r\n{"__proto__":{}}`,
  ];
  for (const bytes of requests) await rawExchange(mock, bytes);
  const half = connect(mock.port, '127.0.0.1', () => {
    half.write(`POST /echo HTTP/1.1\r\nHost: x\r\n${key}Content-Length: 9\r\n\r\nabc`, () => half.destroy());
  });
  await happens(half, 'close');
  const deep = await post(mock, SESSION, '['.repeat(200_000));
  t.equal(deep.status, 400);
  const absolute = `GET http://x/health?y HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  t.match(await rawExchange(mock, absolute), /^HTTP\/1\.1 200/);
  t.equal((await logIn(mock)).status, 200);
});

t.test('a body of 1 MiB is accepted, and a longer one gets 413', async (t) => {
  const mock = await startedFor(t);
  const headers = bearer(mock.credentials.apiKey);
  const limit = 1024 * 1024;
  const good = await call(mock, '/echo', { method: 'POST', body: Buffer.alloc(limit), headers });
  t.equal(good.json.bodyLength, limit);
  const long = await call(mock, '/echo', { method: 'POST', body: Buffer.alloc(4 * limit), headers });
  t.equal(long.status, 413);
});

t.test('close ends open connections at once, and may be called twice', async (t) => {
  const mock = await startMockApi();
  mock.behave({ data: 'hang', login: 'slow' });
  const open = [call(mock, '/health'), logIn(mock)].map((reply) => reply.catch(() => 'cut'));
  const silent = connect(mock.port, '127.0.0.1');
  const ended = new Promise((resolve) => silent.on('error', () => {}).on('close', resolve));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await mock.close();
  await mock.close();
  t.same(await Promise.all(open), ['cut', 'cut'], 'close does not wait for a slow login');
  await within(PATIENCE_MS, ended, () => 'a silent connection stays open');
});

t.test('an address in use is a ListenError', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await happens(other, 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  await t.rejects(startMockApi({ port }), ListenError);
});
