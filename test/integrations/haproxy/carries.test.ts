import t from 'tap';
import { request } from '../../support/gateway.ts';
import { http2Front } from '../../support/h2-front.ts';
import { CA_FILE } from '../../support/h2-upstream.ts';
import { NO_HAPROXY } from '../../support/haproxy.ts';
import { pairFor } from '../../support/lanes.ts';
import { ask, RawClient, until } from '../../support/raw-client.ts';
import { head, ok, RawUpstream } from '../../support/raw-upstream.ts';

// Streams, tunnels and bodies through HAProxy and bearerd.

const TOKEN = 'credentials: { token: { type: session, clientId: sa-1, clientSecret: client-secret } }';
const KEY = `
credentials: { key: { type: apiKey, key: the-key } }
routes: [{ prefix: /, credential: key }]`;

for (const [only, how] of [
  [false, 'past bearerd'],
  [true, 'through bearerd, where it speaks HTTP/2 alone'],
] as const) {
  t.test(`over TLS the upstream is verified and reached ${how}`, { skip: NO_HAPROXY }, async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    upstream.onRequest = ({ header }) => ok(`${header('authorization')}`);
    const baseUrl = await http2Front(t, upstream.port, { allowHTTP1: !only });
    const pair = await pairFor(t, { yaml: KEY, baseUrl, upstream, env: { BEARERD_TLS_CA_FILE: CA_FILE } });
    const response = await ask(pair.front, request('GET', '/x'));
    t.match(response, { status: 200, text: 'Bearer the-key' });
    t.equal(pair.requests().length, only ? 1 : 0);
  });
}

t.test("an upstream that can't be verified gets no credential", { skip: NO_HAPROXY }, async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const secure = await http2Front(t, upstream.port);
  const pair = await pairFor(t, { yaml: KEY, baseUrl: secure, upstream });
  const response = await ask(pair.front, request('GET', '/x'));
  t.match([response.status, JSON.parse(response.text).code], [502, 'upstream-unreachable']);
  t.equal(upstream.requests.length, 0);
});

t.test('bodies and connections', { skip: NO_HAPROXY }, async (t) => {
  const pair = await pairFor(t, { yaml: TOKEN });
  const { upstream } = pair;

  await t.test('events pass at once on the fast lane, too', async (t) => {
    upstream.onRequest = ({ connection }) => {
      connection.send(head('200 OK', 'content-type: text/event-stream', 'transfer-encoding: chunked'));
      connection.send('9\r\ndata: 1\n\n\r\n');
    };
    const client = await RawClient.to(pair.front);
    client.send(request('GET', '/events'));
    await until(() => client.received.includes('data: 1'), 'no event');
    t.equal(pair.requests().length, 0);
    upstream.last.connection.send('9\r\ndata: 2\n\n\r\n');
    await until(() => client.received.includes('data: 2'), 'no second event');
    const { connection } = upstream.last;
    client.close();
    await until(() => connection.isClosed, 'the upstream connection stays open although the client has left');
  });

  await t.test('a client that leaves before the answer ends its request upstream', async () => {
    upstream.onRequest = () => undefined;
    const { length } = upstream.requests;
    const client = await RawClient.to(pair.front);
    client.send(request('GET', '/x'));
    await until(() => upstream.requests.length > length, 'no request');
    const { connection } = upstream.last;
    client.close();
    await until(() => connection.isClosed, 'the upstream connection stays open although the client has left');
  });

  await t.test('an upgrade goes through bearerd and becomes a tunnel', async (t) => {
    upstream.onHead = ({ connection }) => {
      connection.send(
        head(
          '101 Switching Protocols',
          'connection: upgrade',
          'upgrade: websocket',
          'sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
        ),
      );
      connection.socket.on('data', (bytes: Buffer) => connection.send(`<${bytes.toString()}>`));
    };
    const client = await RawClient.to(pair.front);
    client.send(
      request(
        'GET',
        '/ws',
        'connection: Upgrade',
        'upgrade: websocket',
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-version: 13',
      ),
    );
    const switched = await client.response();
    t.equal(switched.status, 101, client.received);
    t.equal(upstream.last.header('authorization'), 'Bearer tok-1');
    client.send('hello');
    await until(() => client.received.endsWith('<hello>'), 'no echo');
    client.close();
    upstream.onHead = undefined;
  });

  await t.test('a 426 says which protocols it requires', async (t) => {
    upstream.onHead = undefined;
    const client = await RawClient.to(pair.front);
    for (const [lines, upgrade, connection] of [
      [['connection: upgrade', 'upgrade: websocket'], 'websocket', 'upgrade'],
      [['upgrade: a/1, b', 'upgrade: c'], 'a/1, b | c', 'upgrade'],
      [['upgrade: a, HTTP/2.0'], undefined, undefined],
      [['upgrade: TLS/1.2'], undefined, undefined],
      [['upgrade: a', 'upgrade: h2c'], undefined, undefined],
      [[], undefined, undefined],
    ] as const) {
      upstream.onRequest = () => `${head('426 Upgrade Required', ...lines, 'content-length: 2')}no`;
      const response = await client.send(request('GET', '/past')).response();
      t.same(
        [response.status, response.text, response.header('upgrade'), response.header('connection')],
        [426, 'no', upgrade, connection],
        lines.join(),
      );
    }
    upstream.onRequest = () => ok('ok', 'upgrade: websocket');
    const other = await client.send(request('GET', '/past')).response();
    t.same([other.text, other.header('upgrade'), other.header('connection')], ['ok', undefined, undefined]);
    upstream.onRequest = () => `${head('426 Upgrade Required', 'upgrade: a', 'content-length: 2')}no`;
    const last = await client.send(request('GET', '/past', 'connection: close')).response();
    t.equal(last.header('upgrade'), 'a');
    t.equal(await client.end(), 'end');
    t.same(
      pair.requests().filter(({ path }) => path === '/past'),
      [],
    );
  });

  await t.test('a request that waits for 100 Continue gets it from bearerd', async (t) => {
    upstream.onRequest = (_, { body }) => ok(`${body.length}`);
    const client = await RawClient.to(pair.front);
    client.send(request('POST', '/x', 'expect: 100-continue', 'content-length: 5'));
    await until(() => client.received.startsWith('HTTP/1.1 100'), 'no 100');
    client.send('hello');
    t.match(await client.response(), { status: 200, text: '5' });
    client.close();
  });

  await t.test('no request fails because the upstream has closed idle connections', async (t) => {
    upstream.onRequest = ({ connection }) => {
      setImmediate(() => connection.end());
      return ok('x');
    };
    const client = await RawClient.to(pair.front);
    for (let i = 0; i < 5; i++) {
      t.equal((await client.send(request('GET', `/x/${i}`)).response()).status, 200);
      await until(() => upstream.last.connection.isClosed, 'HAProxy did not close the connection');
    }
    client.close();
  });

  await t.test('10 MB pass in both directions', async (t) => {
    const large = Buffer.alloc(10_000_000, 'x');
    upstream.onRequest = ({ method }, { body }) => (method === 'GET' ? ok(large) : ok(`${body.length}`));
    t.equal((await ask(pair.front, request('GET', '/large'))).body.length, large.length);
    const up = Buffer.concat([
      Buffer.from(request('POST', '/large', `content-length: ${large.length}`)),
      large,
    ]);
    t.equal((await ask(pair.front, up, 'POST')).text, `${large.length}`);
  });
});
