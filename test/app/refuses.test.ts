import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import t, { type Test } from 'tap';
import { PROBLEMS, type ProblemCode } from '../../src/base/problem.ts';
import { Departures } from '../../src/forward/client/departures.ts';
import { HttpListeners } from '../../src/listen/http-listeners.ts';
import { chunked, gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { ask, RawClient, type RawResponse, until } from '../support/raw-client.ts';
import { grant, ok, RawUpstream } from '../support/raw-upstream.ts';

// Which clients may call, from where, and how. A refused request never reaches the upstream.

const ROUTES = `
routes:
  - { prefix: /, credential: token }
  - { prefix: /read, credential: token, methods: [GET, HEAD] }
  - { prefix: /denied, credential: deny }
`;
const upstream = await RawUpstream.startedFor(t);
const env = {
  BEARERD_ALLOWED_HOSTS: 'sidecar,*.svc.cluster.local,[FD00::7]',
  BEARERD_ALLOWED_ORIGINS: 'http://localhost:3000,https://App.Example.com',
  BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
};
const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: ROUTES, env });
const keyed = await gatewayFor(t, {
  baseUrl: upstream.url,
  yaml: ROUTES,
  env: { ...env, BEARERD_CALLER_KEY: 'caller-key' },
});
t.beforeEach(() => upstream.reset());

function refused(t: Test, response: RawResponse, code: ProblemCode, message: string = code): void {
  t.same([response.status, JSON.parse(response.text).code], [PROBLEMS[code].status, code], message);
  t.same(upstream.requests, [], `${message}: nothing goes upstream`);
}

const lines = (method: string, target: string, ...all: string[]) =>
  `${method} ${target} HTTP/1.1\r\n${all.map((line) => `${line}\r\n`).join('')}\r\n`;
const withHost = (host: string) => lines('GET', '/', `host: ${host}`);

t.test('a request is refused unless its Host names this proxy', async (t) => {
  const good = [
    'localhost',
    'LocalHost',
    'localhost.',
    'localhost:1',
    'localhost.:80',
    'localhost:',
    'a.localhost',
  ];
  good.push(
    'a.b.LOCALHOST:9180',
    '127.0.0.1',
    '127.0.0.1:65535',
    '[::1]',
    '[::1]:80',
    '[0:0:0:0:0:0:0:1]:80',
  );
  good.push(
    'sidecar',
    'SIDECAR.:1',
    'x.svc.cluster.local',
    'x.y.svc.cluster.local:80',
    '[fd00::7]',
    '[FD00:0::7]:1',
  );
  for (const host of good) t.equal((await proxy.ask(withHost(host))).status, 200, host);
  upstream.reset();
  const bad = [
    'evil.test',
    'localhost.evil.test',
    'evillocalhost',
    '.localhost',
    'localhost..',
    'localhost:x',
    '',
  ];
  bad.push(
    '0.0.0.0',
    '127.0.0.2',
    '127.1',
    '2130706433',
    '0x7f.1',
    '[::]',
    '[::2]',
    '::1',
    '[::1',
    '[::ffff:7f00:1]:x',
  );
  bad.push('localhost,evil.test');
  bad.push(
    'svc.cluster.local',
    'evilsvc.cluster.local',
    'sidecar.evil.test',
    '*.svc.cluster.local',
    '192.0.2.7',
  );
  for (const host of bad) refused(t, await proxy.ask(withHost(host)), 'host-refused', host);
  const malformed = ['local host', 'localhost\tevil', 'user@localhost', 'localhost@evil.test', 'localhost/'];
  malformed.push('local\xe9host', 'localhost#', 'localhost?', '"localhost"', 'localhost\\', '<localhost>');
  for (const host of malformed) {
    const client = await proxy.client();
    refused(t, await client.send(withHost(host)).response(), 'bad-request', host);
    t.equal(await client.end(), 'end', host);
  }
  refused(
    t,
    await proxy.ask(lines('GET', '/', 'host: localhost', 'Host: localhost')),
    'bad-request',
    'two lines',
  );
  refused(t, await proxy.ask(lines('GET', '/')), 'bad-request', 'none');
  t.equal((await proxy.ask('GET / HTTP/1.0\r\n\r\n')).status, 200, 'HTTP/1.0 needs none');
  upstream.reset();
  refused(t, await proxy.ask('GET / HTTP/1.0\r\nhost: evil.test\r\n\r\n'), 'host-refused');
  refused(t, await proxy.ask('GET / HTTP/1.0\r\nhost: localhost\r\nhost: localhost\r\n\r\n'), 'bad-request');
});

t.test('a request is refused unless its Origin is allowed or the same as the Host', async (t) => {
  const own = `http://localhost:${proxy.port}`;
  const from = (...all: string[]) =>
    proxy.ask(lines('POST', '/', ...all, 'content-type: text/plain', 'content-length: 0'));
  const host = `host: localhost:${proxy.port}`;
  for (const good of [
    [host],
    [host, `origin: ${own}`],
    [host, `origin: ${own.replace('localhost', 'LOCALHOST')}`],
    ['host: localhost', 'origin: http://localhost:80'],
    ['host: localhost:443', 'origin: https://localhost'],
    [host, 'origin: http://localhost:3000'],
    [host, 'origin: https://app.example.com', 'sec-fetch-site: cross-site'],
    [host, 'sec-fetch-site: same-origin'],
    [host, 'sec-fetch-site: same-site'],
    [host, 'sec-fetch-site: none'],
  ]) {
    t.equal((await from(...good)).status, 200, good.join());
  }
  upstream.reset();
  for (const bad of [
    ['origin: https://evil.test'],
    ['origin: null'],
    ['origin:'],
    ['origin: http://localhost:3001'],
    ['origin: https://localhost:3000'],
    ['origin: http://localhost:3000.evil.test'],
    ['origin: http://localhost'],
    [`origin: ${own}.evil.test`],
    [`origin: ${own}/`],
    [`origin: ${own}`, `origin: ${own}`],
    [`origin: ${own}`, 'origin: https://evil.test'],
    [`origin: ${own}`, 'sec-fetch-site: cross-site'],
    ['sec-fetch-site: cross-site'],
    ['Sec-Fetch-Site: CROSS-SITE'],
    ['sec-fetch-site: same-origin', 'sec-fetch-site: cross-site'],
    ['origin: file://'],
  ]) {
    const response = await from(host, ...bad);
    refused(t, response, 'origin-refused', bad.join());
    t.equal(response.header('access-control-allow-origin'), undefined, 'the page may not read the problem');
  }
});

t.test('a preflight of an allowed origin is answered here, without a caller key', async (t) => {
  const ask = (...all: string[]) =>
    keyed.ask(lines('OPTIONS', '/x', 'host: localhost', 'access-control-request-method: PATCH', ...all));
  const answer = await ask(
    'origin: http://localhost:3000',
    'access-control-request-headers: x-a, authorization',
  );
  t.equal(answer.status, 204);
  t.equal(answer.header('access-control-allow-origin'), 'http://localhost:3000');
  t.equal(answer.header('access-control-allow-methods'), 'PATCH');
  t.equal(answer.header('access-control-allow-headers'), 'x-a, authorization');
  t.match(answer.header('vary'), /\bOrigin\b/);
  t.notMatch(answer.head, /\*|private-network/);
  const near = await ask('origin: https://app.example.com', 'access-control-request-private-network: true');
  t.equal(near.header('access-control-allow-private-network'), 'true');
  t.notMatch(answer.head, /content-length|transfer-encoding/i);
  const foreign = await ask('origin: https://evil.test');
  refused(t, foreign, 'origin-refused');
  t.notMatch(foreign.head, /access-control/i);
  refused(t, await ask(), 'caller-key-required', 'without an Origin it is no preflight');
  refused(
    t,
    await keyed.ask(lines('OPTIONS', '/', 'host: localhost', 'origin: http://localhost:3000')),
    'caller-key-required',
  );
});

t.test('an allowed origin may read answers and problems, and no other origin may', async (t) => {
  const origin = 'origin: http://localhost:3000';
  upstream.onRequest = () =>
    ok('ok', 'access-control-allow-origin: *', 'access-control-allow-credentials: true', 'vary: accept');
  const answer = await proxy.get('/', origin);
  t.same(answer.all('access-control-allow-origin'), ['http://localhost:3000']);
  t.equal(
    answer.header('access-control-allow-credentials'),
    undefined,
    'the CORS headers of the upstream are removed',
  );
  t.same(answer.all('vary'), ['accept', 'Origin']);
  t.same(
    (await proxy.get('/')).all('access-control-allow-origin'),
    ['*'],
    'the CORS headers of the upstream pass to other clients',
  );
  for (const target of ['/denied', '/%zz', '/a/../b', '/api/identity/v1/session']) {
    const problem = await proxy.get(target, origin);
    t.equal(problem.header('access-control-allow-origin'), 'http://localhost:3000', target);
    t.match(problem.header('vary'), /Origin/);
  }
  upstream.onRequest = ({ connection }) => connection.reset();
  const failure = await proxy.get('/', origin);
  t.same([failure.status, failure.header('access-control-allow-origin')], [502, 'http://localhost:3000']);
  const keyless = await keyed.get('/', origin);
  t.same([keyless.status, keyless.header('access-control-allow-origin')], [407, 'http://localhost:3000']);
  t.equal((await proxy.get('/denied')).header('access-control-allow-origin'), undefined);
});

t.test('with allowed origins each answer of the upstream says that it varies by Origin', async (t) => {
  upstream.onRequest = () => ok('ok', 'vary: accept');
  for (const more of [[], ['sec-fetch-site: same-site'], ['origin: http://localhost']]) {
    const answer = await proxy.get('/', ...more);
    t.same([answer.status, ...answer.all('vary')], [200, 'accept', 'Origin'], `${more}`);
    t.equal(answer.header('access-control-allow-origin'), undefined);
  }
  const without = await gatewayFor(t, { baseUrl: upstream.url });
  t.same((await without.get('/')).all('vary'), ['accept'], 'without allowed origins nothing is added');
});

t.test('a configured caller key is required of each request, and is not forwarded', async (t) => {
  for (const good of [
    ['x-bearerd-key: caller-key'],
    ['X-Bearerd-Key: caller-key'],
    ['proxy-authorization: Bearer caller-key'],
    ['Proxy-Authorization: bEARER  caller-key'],
    ['x-bearerd-key: other', 'proxy-authorization: Bearer caller-key'],
    ['x-bearerd-key: caller-key', 'connection: x-bearerd-key'],
    ['authorization: Bearer caller-key'],
  ]) {
    t.equal((await keyed.get('/', ...good)).status, 200, good.join());
    t.notMatch(upstream.last.head, /caller-key|bearerd-key|proxy-auth/i);
  }
  upstream.reset();
  for (const bad of [
    [],
    ['x-bearerd-key:'],
    ['x-bearerd-key: caller-ke'],
    ['x-bearerd-key: caller-keys'],
    ['x-bearerd-key: Caller-Key'],
    ['proxy-authorization: caller-key'],
    ['proxy-authorization: Basic caller-key'],
    ['proxy-authorization: Bearer'],
    ['cookie: x-bearerd-key=caller-key'],
  ]) {
    const response = await keyed.get('/?x-bearerd-key=caller-key', ...bad);
    refused(t, response, 'caller-key-required', bad.join());
    t.equal(response.header('proxy-authenticate'), 'Bearer realm="bearerd"');
    t.notMatch(response.head + response.text, /caller-key[^-]/);
  }
});

t.test('CONNECT and TRACE get 405 before anything else is looked at', async (t) => {
  for (const gateway of [proxy, keyed]) {
    for (const bytes of [
      lines('TRACE', '/', 'host: localhost'),
      lines('TRACE', '/', 'host: evil.test', 'origin: https://evil.test'),
      lines('TRACE', '/../..', 'host: localhost', 'host: localhost'),
      lines('TRACE', '/', 'host: localhost', 'expect: x'),
      lines('TRACE', '/', 'host: localhost', 'connection: upgrade', 'upgrade: websocket'),
      lines('TRACE', '/', 'host: localhost', 'transfer-encoding: chunked') + chunked('x'),
      lines('CONNECT', 'evil.test:443', 'host: evil.test:443'),
      `${lines('CONNECT', 'localhost:80', 'host: localhost', 'content-length: 5')}abcde`,
    ]) {
      const response = await gateway.ask(bytes);
      refused(t, response, 'method-refused', bytes);
      t.match(response.header('allow'), /^GET, HEAD/, 'RFC 9110 §15.5.6');
    }
  }
  const behind = await proxy.client();
  behind.send(request('GET', '/') + lines('CONNECT', 'a:1', 'host: a'));
  t.equal((await behind.response()).status, 200, 'an earlier pipelined request is answered first');
  t.equal((await behind.response()).status, 405);
  const tunnel = await proxy.client();
  t.equal((await tunnel.send(lines('CONNECT', 'a:1', 'host: a')).response()).status, 405);
  t.equal(await tunnel.end(), 'end');
});

t.test('the log line of a refused method has method, path and size of the answer', async (t) => {
  for (const [bytes, method, path] of [
    [lines('TRACE', '/a/b?c', 'host: localhost'), 'TRACE', '/a/b'],
    [lines('CONNECT', 'evil.test:443', 'host: evil.test:443'), 'CONNECT', 'evil.test:443'],
    [lines('CONNECT', 'user:word@evil.test:443', 'host: evil.test'), 'CONNECT', ''],
    [lines('SOURCE', '/a?b', 'host: localhost'), 'SOURCE', '/a'],
    ['GET / HTTP/3\r\n\r\n', '', ''],
  ] as const) {
    const before = proxy.requests().length;
    const { body } = await proxy.ask(bytes);
    await until(() => proxy.requests().length > before, 'the request does not end');
    t.match(proxy.requests()[before], { method, path, bytesOut: body.length }, bytes);
  }
});

t.test('a route refuses methods that it does not list', async (t) => {
  t.equal((await proxy.get('/read/x')).status, 200);
  upstream.reset();
  for (const method of ['POST', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    const response = await proxy.ask(request(method, '/read/x'));
    refused(t, response, 'method-refused', method);
    t.equal(response.header('allow'), 'GET, HEAD');
  }
  const none = await proxy.ask(request('HEAD', '/denied'));
  t.same(
    [none.status, none.header('content-type')],
    [403, 'application/problem+json'],
    'a HEAD gets the head of the problem',
  );
  refused(t, await proxy.get('/denied/x'), 'route-denied');
  const routed = await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_ROUTES: '/api=token' } });
  refused(t, await routed.get('/apiary'), 'no-route');
});

t.test('a request that the parser refuses gets a problem, and the connection ends', async (t) => {
  for (const bytes of [
    'FOO / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'get / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    'GET / HTTP/3.0\r\nhost: localhost\r\n\r\n',
    'GET / HTTP/1.1\r\nhost localhost\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET / HTTP/1.1\r\nhost: localhost\r\nx\x00y: 1\r\n\r\n',
  ]) {
    const client = await proxy.client();
    client.send(bytes);
    const response = await client.response().catch(() => undefined);
    if (bytes.startsWith('PRI')) t.ok(response === undefined || response.status === 400, bytes);
    else refused(t, response!, 'bad-request', JSON.stringify(bytes));
    t.ok(await client.end());
  }
  await until(
    () => proxy.events.some((event) => event.type === 'request' && event.code === 'bad-request'),
    'the problem holds no detail',
  );
});

t.test('a connection past the limit gets 503 overloaded, and its request is not forwarded', async (t) => {
  const small = await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_MAX_CONNECTIONS: '2' } });
  const [first, second] = [await small.client(), await small.client()];
  const third = await small.client();
  third.send(request('GET', '/third'));
  const response = await third.response();
  refused(t, response, 'overloaded');
  t.ok(Number(response.header('retry-after')) > 0);
  t.equal(await third.end(), 'end');
  t.equal((await first.send(request('GET', '/')).response()).status, 200);
  second.close();
  let again = await small.get('/');
  for (let i = 0; i < 100 && again.status === 503; i++) again = await small.get('/');
  t.equal(again.status, 200, 'a closed connection does not count');
  first.close();
});

t.test('the limit of requests that wait for a token is one for all credentials', async (t) => {
  const slow = await RawUpstream.startedFor(t);
  const login = Promise.withResolvers<Buffer>();
  slow.onLogin = () => login.promise;
  const yaml = `
limits: { waiting: 1 }
credentials:
  one: { type: session, clientId: a, clientSecret: b }
  two: { type: session, clientId: c, clientSecret: d }
routes: [{ prefix: /one, credential: one }, { prefix: /two, credential: two }]`;
  const proxy = await gatewayFor(t, { baseUrl: slow.url, yaml, loggedIn: false });
  const waiting = proxy.get('/one');
  const waits = () => proxy.gateway.status.requestsWaiting === 1;
  await until(waits, 'no request waits');
  refused(t, await proxy.get('/two'), 'overloaded');
  refused(t, await proxy.get('/one'), 'overloaded');
  login.resolve(grant('tok'));
  t.equal((await waiting).status, 200);
  t.equal((await proxy.get('/two')).status, 200);
});

t.test('a client must send its headers within a time limit', async (t) => {
  const problems: string[] = [];
  const listeners = new HttpListeners({
    handler: (_request, response: ServerResponse) => response.end('ok'),
    headerSizeBytes: 16_384,
    maxConnections: () => 10,
    shouldUpgrade: () => false,
    onUpgrade: () => {},
    departures: new Departures(),
    onRefused: ({ code }) => {
      problems.push(code);
      return undefined;
    },
  });
  const server = listeners.createServer();
  t.equal(server.headersTimeout, 60_000);
  t.equal(server.requestTimeout, 0, 'there is no limit for a whole body');
  server.headersTimeout = 100;
  await listeners.listen([{ kind: 'tcp', host: '127.0.0.1', port: 0 }], server);
  t.teardown(() => listeners.destroyAll());
  const client = await RawClient.to((server.address() as AddressInfo).port);
  const response = await client.send('GET / HTTP/1.1\r\nhost: loc').response();
  t.same([response.status, JSON.parse(response.text).code], [408, 'request-timeout']);
  t.equal(await client.end(), 'end');
  t.same(problems, ['request-timeout']);
});

const lan = Object.values(networkInterfaces())
  .flat()
  .find((face) => face?.family === 'IPv4' && !face.internal)?.address;

t.test(
  'on an address beyond loopback the caller key decides',
  { skip: lan === undefined && 'no such address' },
  async (t) => {
    const open = await gatewayFor(t, {
      baseUrl: upstream.url,
      env: {
        ...env,
        BEARERD_LISTEN: '0.0.0.0:0',
        BEARERD_ADMIN_LISTEN: '0.0.0.0:0',
        BEARERD_CALLER_KEY: 'caller-key',
      },
    });
    const at = (port: number, target: string, ...all: string[]) =>
      askAt(lan!, port, lines('GET', target, ...all));
    const key = 'x-bearerd-key: caller-key';
    t.equal(
      (await at(open.port, '/', `host: ${lan}:${open.port}`, key)).status,
      200,
      'the address of the connection is a valid Host',
    );
    t.equal((await at(open.port, '/', `host: ${lan}`)).status, 407);
    t.equal((await at(open.port, '/', 'host: 192.0.2.77', key)).status, 403);
    for (const target of ['/healthz', '/readyz', '/metrics']) {
      t.equal((await at(open.adminPort, target, `host: ${lan}`)).status, 200, target);
    }
    for (const target of [
      '/',
      '/status',
      '/events',
      '/requests',
      '/configuration',
      '/page/main.js',
      '/nothing',
    ]) {
      t.equal((await at(open.adminPort, target, `host: ${lan}`)).status, 407, target);
    }
    t.equal((await at(open.adminPort, '/status', `host: ${lan}`, key)).status, 200);
    t.equal(
      (await ask(open.adminPort, lines('GET', '/status', 'host: localhost'))).status,
      200,
      'a client on loopback needs no key',
    );
    await t.rejects(
      RawClient.to({ host: lan!, port: proxy.port }),
      { code: 'ECONNREFUSED' },
      'by default the proxy listens only on loopback',
    );
  },
);

async function askAt(host: string, port: number, bytes: string): Promise<RawResponse> {
  const client = await RawClient.to({ host, port });
  const response = await client.send(bytes).response();
  client.close();
  return response;
}

t.test('the admin listener has the same guards as the proxy', async (t) => {
  const admin = (bytes: string) => ask(proxy.adminPort, bytes);
  const code = async (bytes: string) => {
    const response = await admin(bytes);
    return [response.status, response.status === 200 ? undefined : JSON.parse(response.text).code];
  };
  const host = `host: localhost:${proxy.adminPort}`;
  t.same(await code(lines('GET', '/healthz', host)), [200, undefined]);
  t.same(await code(lines('GET', '/healthz?x=1', host)), [200, undefined]);
  t.same(await code(lines('GET', 'http://localhost/healthz?x', host)), [200, undefined]);
  t.same(await code('GET /healthz HTTP/1.0\r\n\r\n'), [200, undefined]);
  t.same(await code(lines('GET', '/readyz', host, `origin: http://localhost:${proxy.adminPort}`)), [
    200,
    undefined,
  ]);
  t.same(await code(lines('GET', '/readyz', host, 'origin: http://localhost:3000')), [200, undefined]);
  t.same(await code(lines('GET', '/readyz', 'host: evil.test')), [403, 'host-refused']);
  t.same(await code(lines('GET', 'http://evil.test/readyz', host)), [403, 'host-refused']);
  t.same(await code(lines('GET', '/readyz', host, host)), [400, 'bad-request']);
  t.same(await code(lines('GET', '/readyz')), [400, 'bad-request']);
  t.same(await code(lines('GET', '/readyz', host, 'origin: https://evil.test')), [403, 'origin-refused']);
  t.same(await code(lines('POST', '/renew', host, 'origin: null', 'content-length: 0')), [
    403,
    'origin-refused',
  ]);
  t.same(await code(lines('POST', '/renew', host, 'sec-fetch-site: cross-site')), [403, 'origin-refused']);
  t.same(await code(lines('TRACE', '/', 'host: evil.test')), [405, 'method-refused']);
  t.same(await code(lines('CONNECT', 'a:1', host)), [405, 'method-refused']);
  for (const bytes of [
    lines('TRACE', '/', host),
    lines('TRACE', '/a b', host),
    lines('CONNECT', 'a:1', host),
  ])
    t.equal((await admin(bytes)).header('allow'), 'GET, HEAD, POST', bytes);
  t.same(await code(lines('GET', '/nothing', host)), [404, 'no-route']);
  t.same(await code(lines('GET', '/%zz', host)), [404, 'no-route']);
  for (const odd of ['%zz', '%E4', '%2e%2e', 'x/y', 'x'.repeat(101), 'x'.repeat(20_000), '', 'main.js%00'])
    for (const method of ['GET', 'HEAD'])
      t.match(
        await admin(lines(method, `/page/${odd}`, host)).then(({ status, header }) => [
          status,
          header('content-type'),
        ]),
        [404, 'application/problem+json'],
        `${method} /page/${odd.slice(0, 20)}`,
      );
  t.same(await code(lines('GET', '/healthz', host, 'connection: upgrade', 'upgrade: websocket')), [
    200,
    undefined,
  ]);
  t.same(await code('FOO / HTTP/1.1\r\n\r\n'), [400, 'bad-request']);
  t.same(await code(lines('GET', '/healthz', host, `x: ${'x'.repeat(40_000)}`)), [431, 'headers-too-large']);
  for (const [method, target, allow] of [
    ['POST', '/healthz', 'GET, HEAD'],
    ['PROPFIND', '/', 'GET, HEAD'],
    ['DELETE', '/status', 'GET, HEAD'],
    ['GET', '/renew', 'POST'],
  ] as const) {
    const response = await admin(lines(method, target, host));
    t.same([response.status, response.header('allow')], [405, allow], `${method} ${target}`);
  }
  const answer = await ask(proxy.adminPort, lines('HEAD', '/healthz', host));
  t.same([answer.status, answer.header('content-length')], [200, '3']);
  for (const body of [
    `${lines('POST', '/renew', host, 'content-type: ;;', 'content-length: 2')}{]`,
    lines('POST', '/renew', host, 'transfer-encoding: chunked') + chunked('x'),
    lines('POST', '/renew', host),
  ]) {
    t.ok([200, 502].includes((await admin(body)).status), 'the body of POST /renew is ignored');
  }
});

t.test('while draining, requests under way end, and their connections are closed', async (t) => {
  const closing = await gatewayFor(t, { baseUrl: upstream.url });
  let finish = (): void => {};
  upstream.onRequest = () => new Promise((resolve) => (finish = () => resolve(ok('done'))));
  const [busy, idle] = [await closing.client(), await closing.client()];
  busy.send(request('GET', '/') + request('GET', '/too-late'));
  await until(() => upstream.requests.length === 1, 'no request');
  const drained = closing.gateway.drain(5_000, 'SIGTERM');
  finish();
  const response = await busy.response();
  t.same([response.text, response.header('connection')?.toLowerCase()], ['done', 'close']);
  t.equal(await busy.end(), 'end');
  t.equal(await idle.end(), 'end');
  t.equal(await drained, 0);
  t.equal(upstream.requests.length, 1);
});

t.test('none of these tests caused an internal error', async (t) => {
  for (const gateway of [proxy, keyed] satisfies TestGateway[]) t.same(gateway.internalErrors(), []);
});
