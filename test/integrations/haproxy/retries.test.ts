import { existsSync, lstatSync } from 'node:fs';
import t from 'tap';
import { request } from '../../support/gateway.ts';
import { NO_HAPROXY } from '../../support/haproxy.ts';
import { forwardClock, type Pair, pairFor } from '../../support/lanes.ts';
import { ask, RawClient, until } from '../../support/raw-client.ts';
import { head, ok, RawUpstream } from '../../support/raw-upstream.ts';

// A request that fails on the fast lane is sent again through bearerd, although HAProxy sends it in its rewritten form.

const YAML = `
credentials:
  token: { type: session, clientId: sa-1, clientSecret: client-secret }
  apiKey: { type: apiKey, key: the-key, header: X-Api-Key, scheme: '' }
routes:
  - { prefix: /companies, credential: token, rewrite: /data/companies }
  - { prefix: /svc, credential: token, rewrite: / }
  - { prefix: /key, credential: apiKey }
  - { prefix: /, credential: token }`;

const pairs = { yaml: YAML, basePath: '/v2', credentials: 2 };

/** The upstream refuses tokens before this one. */
function acceptFrom(upstream: RawUpstream, n: number): void {
  upstream.onRequest = ({ header, target }, { body }) => {
    const value = header('authorization');
    const number = Number(/^Bearer tok-(\d+)$/.exec(value ?? '')?.[1]);
    if (header('x-api-key') === 'the-key' && value === undefined) return ok(`${target} key`);
    if (!(number >= n)) return `${head('401 Unauthorized', 'content-length: 7')}refused`;
    return ok(`${target} ${value} ${body.length}`, `location: ${upstream.url}/v2/data/companies/9`);
  };
}

const get = (pair: Pair, target: string, ...lines: string[]) =>
  ask(pair.front, request('GET', target, ...lines));
const throughBearerd = async (pair: Pair, act: () => Promise<unknown>) => {
  const before = pair.requests().length;
  await act();
  return pair.requests().length - before;
};

const post = (pair: Pair, target: string, body: string, port = pair.front) =>
  ask(port, request('POST', target, `content-length: ${body.length}`) + body);

t.test('the fast lane and its retries', { skip: NO_HAPROXY }, async (t) => {
  const clock = forwardClock();
  const pair = await pairFor(t, { ...pairs, clock });
  const { upstream } = pair;
  const refuseBefore = (n: number) => {
    clock.forward(10_000);
    acceptFrom(upstream, n);
  };

  await t.test(
    "with a valid token a request does not pass bearerd, and has its route's path and Host",
    async (t) => {
      acceptFrom(upstream, 1);
      const count = await throughBearerd(pair, async () => {
        const response = await get(pair, '/svc?a=b');
        t.equal(response.text, '/v2?a=b Bearer tok-1 0');
        t.equal(response.header('location'), '/svc/data/companies/9');
        t.equal((await get(pair, '/key')).text, '/v2/key key');
        t.equal((await post(pair, '/x', 'b'.repeat(16_000))).text, '/v2/x Bearer tok-1 16000');
      });
      t.equal(count, 0);
      t.equal(upstream.last.header('via'), '1.1 bearerd (/)');
      t.equal(upstream.last.header('host'), `127.0.0.1:${upstream.port}`);
    },
  );

  await t.test(
    'after a 401 the token is renewed, and each request is sent again as its client sent it',
    async (t) => {
      refuseBefore(2);
      const asked = ['/companies/1?x', '/svc/a/b?c', '/svc', '/data/companies/1', '/', '/x?y=/../z'];
      const count = await throughBearerd(pair, async () => {
        const responses = await Promise.all(asked.map((target) => get(pair, target)));
        t.same(
          responses.map(({ text }) => text),
          ['/v2/data/companies/1?x', '/v2/a/b?c', '/v2', '/v2/data/companies/1', '/v2/', '/v2/x?y=/../z'].map(
            (target) => `${target} Bearer tok-2 0`,
          ),
        );
        t.same(
          responses.map((response) => response.header('location')),
          [
            '/companies/9',
            '/svc/data/companies/9',
            '/svc/data/companies/9',
            '/data/companies/9',
            '/data/companies/9',
            '/data/companies/9',
          ],
          'mapped once',
        );
      });
      t.equal(count, asked.length);
      t.same(
        pair
          .requests()
          .slice(-asked.length)
          .map(({ path }) => path)
          .sort(),
        asked.map((target) => target.replace(/\?.*/, '')).sort(),
      );
      await holds(pair, 2);
      t.equal(
        await throughBearerd(pair, () => get(pair, '/x')),
        0,
        'the next request takes the fast lane again',
      );
    },
  );

  await t.test('a body is sent again, too, if bearerd alone would do so', async (t) => {
    for (const [n, length] of [
      [3, 16_384],
      [4, 16_385],
      [5, 60_000],
    ] as const) {
      refuseBefore(n);
      t.equal(
        (await post(pair, '/companies/x', 'b'.repeat(length))).text,
        `/v2/data/companies/x Bearer tok-${n} ${length}`,
      );
      await holds(pair, n);
    }
  });

  await t.test('HAProxy waits for a body that comes in pieces', async (t) => {
    refuseBefore(6);
    const client = await RawClient.to(pair.front);
    client.send(request('POST', '/x', 'content-length: 10'));
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.send('12345');
    await new Promise((resolve) => setTimeout(resolve, 50));
    client.send('67890');
    t.equal((await client.response()).text, '/v2/x Bearer tok-6 10');
    client.close();
    await holds(pair, 6);
  });

  await t.test(
    "the 401 of an endpoint that always refuses passes, and doesn't cost the others their token",
    async (t) => {
      upstream.onRequest = ({ target }) =>
        target === '/v2/forbidden'
          ? `${head('401 Unauthorized', 'content-length: 7', 'x-own: 1')}refused`
          : ok('good');
      for (let i = 0; i < 3; i++) {
        const response = await get(pair, '/forbidden');
        t.match(response, { status: 401, text: 'refused' });
        t.equal(response.header('x-own'), '1');
        t.equal((await get(pair, '/other')).text, 'good');
      }
    },
  );

  await t.test('a 401 to a key passes, and nothing is sent again', async (t) => {
    upstream.onRequest = () => head('401 Unauthorized', 'content-length: 0');
    const before = upstream.requests.length;
    t.equal(await throughBearerd(pair, async () => t.equal((await get(pair, '/key')).status, 401)), 0);
    t.equal(upstream.requests.length - before, 1);
  });

  await t.test('a connection that ends without an answer is treated as by bearerd alone', async (t) => {
    upstream.onRequest = ({ connection }) => connection.reset();
    for (const port of [pair.port, pair.front]) {
      const response = await ask(port, request('GET', '/x'));
      t.match([response.status, JSON.parse(response.text).code], [502, 'upstream-unreachable']);
    }
    const before = upstream.requests.length;
    t.match(JSON.parse((await post(pair, '/x', 'body')).text), { code: 'upstream-unreachable' });
    t.equal(upstream.requests.length - before, 1, 'a request that may have been acted on is not sent again');
  });

  await t.test('heads up to the size that bearerd accepts pass in both directions', async (t) => {
    const large = 'x'.repeat(31 * 1024);
    upstream.onRequest = ({ header }) => ok('', `x-large: ${header('x-large')}`);
    t.equal((await get(pair, '/x', `x-large: ${large}`)).header('x-large'), large);
    const many = Array.from({ length: 240 }, (_, i) => `x-${i}: ${i}`);
    t.equal((await get(pair, '/x', ...many)).status, 200);
  });

  await t.test('a HAProxy that was killed and started again gets the credentials', async (t) => {
    acceptFrom(upstream, 1);
    await pair.kill();
    await pair.restart();
    t.equal(await throughBearerd(pair, async () => t.equal((await get(pair, '/x')).status, 200)), 0);
  });

  await t.test(
    'the socket for retries is for its owner only, and accepts nothing that no lane has sent',
    async (t) => {
      const path = pair.retriesPath;
      t.equal(lstatSync(path).mode & 0o777, 0o600);
      const client = await RawClient.to(path);
      client.send(request('GET', '/api/admin'));
      t.match((await client.response()).text, /"code":"no-route"/);
      client.close();
      await pair.gateway.drain(1_000, 'SIGTERM');
      t.notOk(existsSync(path));
      t.same(await pair.entries(), []);
    },
  );
});

t.test(
  'without a token requests wait in bearerd; without an upstream bearerd says why',
  { skip: NO_HAPROXY },
  async (t) => {
    const pair = await pairFor(t, { ...pairs, env: { BEARERD_TOKEN_WAIT: '1s' } });
    const { upstream } = pair;
    upstream.onLogin = () => head('500 No', 'content-length: 0');
    upstream.onRequest = () => head('401 Unauthorized', 'content-length: 0');
    t.equal((await get(pair, '/x')).status, 401, 'the renewal fails, so the 401 passes');
    await until(async () => (await pair.entries()).length === 1, 'the refused token stays in the map');
    t.match(JSON.parse((await get(pair, '/x')).text), { code: 'token-unavailable' });
    upstream.stop();
    t.match(JSON.parse((await get(pair, '/key')).text), { code: 'upstream-unreachable' });
  },
);

t.test('a failed request is matched with the table of its host', { skip: NO_HAPROXY }, async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  // The Host that the lane has put in place of the client's is the host of a route, too.
  const baseUrl = `http://localhost:${upstream.port}`;
  const yaml = `
credentials: { token: { type: session, clientId: sa-1, clientSecret: client-secret } }
routes:
  - { host: orders.localhost, prefix: /, credential: token, rewrite: /orders }
  - { host: localhost, prefix: /, credential: token, rewrite: /named }
  - { prefix: /, credential: token }`;
  const clock = forwardClock();
  const pair = await pairFor(t, { yaml, baseUrl, upstream, clock });
  const table = [
    ['orders.localhost', '/orders/x?y', '//orders.localhost/'],
    ['localhost:9182', '/named/x?y', '//localhost/'],
    ['127.0.0.1', '/x?y', '/'],
  ] as const;
  for (const [i, [host, target, route]] of table.entries()) {
    clock.forward(10_000);
    acceptFrom(upstream, i + 2);
    const before = pair.requests().length;
    const { text } = await ask(pair.front, `GET /x?y HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
    t.equal(text, `${target} Bearer tok-${i + 2} 0`, host);
    await until(() => pair.requests().length > before, 'the request did not come to bearerd');
    t.match(pair.requests()[before], { path: '/x', route });
    t.equal(pair.requests().length, before + 1);
  }
});

t.test("a late or missing answer is reported in bearerd's words", { skip: NO_HAPROXY }, async (t) => {
  const pair = await pairFor(t, { ...pairs, yaml: `${YAML}\ntimeouts: { response: 1s, idle: 1s }` });
  const { upstream } = pair;
  const both = async (target: string) =>
    Promise.all(
      [pair.port, pair.front].map(async (port) => {
        const response = await ask(port, request('GET', target));
        return [response.status, JSON.parse(response.text).code, response.header('proxy-status')];
      }),
    );
  upstream.onRequest = () => undefined;
  const [late, alsoLate] = await both('/late');
  t.match(late, [504, 'upstream-timeout']);
  t.same(alsoLate, late);
  upstream.onRequest = () => head('700 What', 'content-length: 0');
  const [invalid, alsoInvalid] = await both('/invalid');
  t.match(invalid, [502, 'upstream-invalid']);
  t.same(alsoInvalid, invalid);
  upstream.onRequest = ({ connection }) => {
    connection.send('no HTTP\r\n\r\n').end();
  };
  const [junk, alsoJunk] = await both('/junk');
  t.match(junk, [502, 'upstream-invalid']);
  t.same(alsoJunk, junk);
});

async function holds(pair: Pair, n: number): Promise<void> {
  await until(async () => (await pair.entries()).some((line) => line.endsWith(`tok-${n}`)), `no token ${n}`);
}
