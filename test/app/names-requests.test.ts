import t from 'tap';
import { ConfigError } from '../../src/base/config-error.ts';
import { parseRequestIdHeader } from '../../src/config/values/header-values.ts';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import { until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// With a configured header, the client, the upstream and the log have the same ID of a request.

const upstream = await RawUpstream.startedFor(t);
const named = await gatewayFor(t, {
  baseUrl: upstream.url,
  env: { BEARERD_REQUEST_ID_HEADER: 'X-Request-Id' },
});
const plain = await gatewayFor(t, { baseUrl: upstream.url });
t.beforeEach(() => upstream.reset());
t.afterEach(() => {
  if (named.internalErrors().length + plain.internalErrors().length > 0) throw new Error('an internal error');
});

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const sent = () => upstream.last.all('x-request-id');
const logged = () => named.requests().at(-1)?.requestId;

t.test('the ID of a client is kept, sent upstream, returned and logged', async (t) => {
  upstream.onRequest = () => ok('ok', 'x-request-id: the-upstreams-own', 'X-REQUEST-ID: another');
  for (const id of ['a', 'A.b_c:1/+=@-', 'x'.repeat(128)]) {
    const answer = await named.get('/', `X-Request-ID: ${id}`);
    t.same(sent(), [id]);
    t.same(answer.all('x-request-id'), [id]);
    await until(() => logged() === id, 'the request is not logged');
  }
});

t.test("each answer of bearerd's own returns the ID", async (t) => {
  const env = { BEARERD_REQUEST_ID_HEADER: 'X-Request-Id', BEARERD_ALLOWED_ORIGINS: 'http://page.test' };
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env });
  const id = 'x-request-id: mine';
  for (const bytes of [
    request('OPTIONS', '/', id, 'origin: http://page.test', 'access-control-request-method: PUT'),
    request('OPTIONS', '*', id),
    request('TRACE', '/', id),
    request('CONNECT', 'a:1', id),
    request('GET', '/a/../b', id),
  ]) {
    const before = proxy.requests().length;
    const answer = await proxy.ask(bytes);
    t.same(answer.all('x-request-id'), ['mine'], bytes);
    await until(() => proxy.requests().length > before, 'the request is not logged');
    t.equal(proxy.requests()[before]!.requestId, 'mine', bytes);
  }
  const unread = await proxy.ask('GET / HTTP/3\r\nx-request-id: mine\r\n\r\n');
  t.match(unread.header('x-request-id'), UUID, 'one is made if the request can’t be read');
  t.match(unread.text, `"urn:bearerd:request:${unread.header('x-request-id')}"`);
  t.same(upstream.requests, []);
});

t.test('an invalid or repeated ID is replaced by a generated one', async (t) => {
  const lines = [
    [],
    ['x-request-id:'],
    ['x-request-id: a b'],
    ['x-request-id: a"b'],
    ['x-request-id: \xe5'],
    [`x-request-id: ${'x'.repeat(129)}`],
    ['x-request-id: one', 'X-Request-Id: two'],
    ['x-request-id: one', 'x-request-id: one'],
    ['x-request-id: one', 'X_Request_Id: two'],
    ['x-request_id: a b'],
  ];
  const made = new Set<string>();
  for (const given of lines) {
    const answer = await named.get('/', ...given);
    const [id = ''] = sent();
    t.match(id, UUID, given.join());
    t.equal(sent().length, 1);
    for (const name of ['x_request_id', 'x-request_id'])
      t.same(upstream.last.all(name), [], 'CGI does not tell _ from -');
    t.same(answer.all('x-request-id'), [id]);
    made.add(id);
  }
  t.equal(made.size, lines.length);
});

t.test('problems of bearerd and tunnels have the ID, too', async (t) => {
  const refused = await named.get('/a%2f../b', 'x-request-id: mine');
  t.equal(refused.status, 400);
  t.same(refused.all('x-request-id'), ['mine']);
  upstream.onRequest = ({ connection }) => connection.reset();
  const failed = await named.get('/', 'x-request-id: mine');
  t.equal(failed.status, 502);
  t.same(failed.all('x-request-id'), ['mine']);
  upstream.onRequest = () =>
    head('101 Switching Protocols', 'connection: upgrade', 'upgrade: x', 'x-request-id: theirs');
  const client = await named.client();
  client.send(request('GET', '/', 'connection: upgrade', 'upgrade: x', 'x-request-id: mine'));
  const switched = await client.response();
  t.equal(switched.status, 101);
  t.same(switched.all('x-request-id'), ['mine']);
  t.same(sent(), ['mine']);
  client.close();
});

t.test('the Connection header of a client cannot remove the ID', async (t) => {
  await named.get('/', 'connection: x-request-id', 'x-request-id: mine');
  t.same(sent(), ['mine']);
});

t.test('without the setting the header passes like any other', async (t) => {
  upstream.onRequest = () => ok('ok', 'x-request-id: theirs');
  const answer = await plain.get('/', 'x-request-id: a b', 'x-request-id: two');
  t.same(sent(), ['a b', 'two']);
  t.same(answer.all('x-request-id'), ['theirs']);
});

t.test('the setting refuses headers with another meaning', async (t) => {
  for (const name of [
    'Authorization',
    'host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'TE',
    'Upgrade',
    'HTTP2-Settings',
    'Set-Cookie2',
    'X-HTTP-Method-Override',
    'X_Original_URL',
    'Content_Length',
    'X_Bearerd_Key',
    'a b',
    '',
  ]) {
    t.ok('problem' in parseRequestIdHeader(name), name);
  }
  for (const name of ['x-API-key', 'X_Api_Key', 'x-api_key']) {
    const env = { BEARERD_REQUEST_ID_HEADER: name, BEARERD_API_KEY: 'k' };
    const yaml = 'credentials: { key: { type: apiKey, key: k, header: X-Api-Key } }\n';
    const problem = await configOf({ baseUrl: upstream.url, env, yaml }).catch((error: unknown) => error);
    t.ok(problem instanceof ConfigError, name);
    t.match(String(problem), /BEARERD_REQUEST_ID_HEADER: the credential \w+ is sent in this header/);
  }
});
