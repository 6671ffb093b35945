import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { RequestEvent } from '../../src/base/events.ts';
import { configOf, type GatewayOptions, gatewayFor, request } from '../support/gateway.ts';
import { readTls } from '../support/h2-upstream.ts';
import { ask, RawClient, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream, SESSION_PATH } from '../support/raw-upstream.ts';

// The host name of a request selects its route table. For the tables alone see test/routes/routes-by-host.test.ts.

const YAML = `
callers: {}
credentials:
  orders: { type: apiKey, key: key-of-orders }
  crm: { type: apiKey, key: key-of-crm }
routes:
  - { prefix: /, credential: token }
  - { host: Orders.localhost, prefix: /, credential: orders, rewrite: /orders-v1 }
  - { host: orders.localhost, prefix: /closed, credential: deny }
  - { host: crm.localhost, prefix: /api, credential: crm, methods: [GET, POST] }
  - { host: intranet.example, prefix: /, credential: none }
`;
const upstream = await RawUpstream.startedFor(t);
const options: GatewayOptions = {
  baseUrl: upstream.url,
  yaml: YAML,
  env: { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' },
};
const proxy = await gatewayFor(t, options);
t.beforeEach(() => upstream.reset());

const lines = (target: string, ...all: string[]) =>
  `GET ${target} HTTP/1.1\r\n${all.map((line) => `${line}\r\n`).join('')}\r\n`;

/** The next line about a request in the log; it comes after the answer. */
async function nextOf(requests: () => readonly RequestEvent[], before: number): Promise<RequestEvent> {
  await until(() => requests().length > before, 'the request does not end');
  return requests()[before]!;
}

/** The result of a request: the route in the log, and the request at the upstream, or the problem code. */
async function outcome(bytes: string): Promise<string> {
  const before = upstream.requests.length;
  const told = proxy.requests().length;
  const client = await proxy.client();
  const { text, header } = await client.send(bytes).response();
  client.close();
  const { route } = await nextOf(proxy.requests, told);
  const own = header('content-type') === 'application/problem+json';
  if (own) return [route, JSON.parse(text).code].filter(Boolean).join(' ');
  const sent = upstream.requests.slice(before)[0];
  return `${route} ${sent?.target} ${sent?.header('authorization') ?? '-'}`;
}

const ORDERS = '//orders.localhost/ /orders-v1/x Bearer key-of-orders';
const OTHERS = '/ /x Bearer tok-1';

t.test('the Host selects the table, in any letter case, with any port, with a final dot', async (t) => {
  for (const host of [
    'orders.localhost',
    'ORDERS.Localhost',
    'orders.localhost:9180',
    'orders.localhost:',
    'orders.localhost.',
    'orders.localhost.:80',
  ])
    t.equal(await outcome(lines('/x', `host: ${host}`)), ORDERS, host);
  for (const host of ['localhost', '127.0.0.1:9180', '[::1]', 'other.localhost', 'a.orders.localhost'])
    t.equal(await outcome(lines('/x', `host: ${host}`)), OTHERS, host);
  t.equal(await outcome(lines('/x', 'host: intranet.example:80')), '//intranet.example/ /x -');
});

t.test('a request for a host matches only the routes of that host', async (t) => {
  t.equal(
    await outcome(lines('/api/x', 'host: crm.localhost')),
    '//crm.localhost/api /api/x Bearer key-of-crm',
  );
  t.equal(await outcome(lines('/x', 'host: crm.localhost')), 'no-route');
  t.equal(
    await outcome(lines('/closed/x', 'host: orders.localhost')),
    '//orders.localhost/closed route-denied',
  );
  t.equal(await outcome(lines('/closed/x', 'host: localhost')), '/ /closed/x Bearer tok-1');
  t.equal(await outcome(lines('/CLOSED', 'host: orders.localhost')), '//orders.localhost/ bad-path');
  t.equal(await outcome(lines(SESSION_PATH, 'host: orders.localhost')), 'route-denied');
  const put = lines('/api', 'host: crm.localhost').replace('GET', 'PUT');
  t.equal(await outcome(put), '//crm.localhost/api method-refused');
});

t.test('the host of a route is allowed as Host, and no similar name is', async (t) => {
  for (const host of ['intranet.example', 'Intranet.Example.'])
    t.equal(await outcome(lines('/', `host: ${host}`)), '//intranet.example/ / -', host);
  for (const host of ['example', 'a.intranet.example', 'intranet.example.evil.test', 'evil.test'])
    t.equal(await outcome(lines('/', `host: ${host}`)), 'host-refused', host);
  for (const host of ['intranet.example@evil.test', 'intranet.example,x', 'intranet.example/x'])
    t.match(await outcome(lines('/', `host: ${host}`)), /^(?:host-refused|bad-request)$/, host);
});

t.test('the host of an absolute target takes precedence over Host', async (t) => {
  for (const [authority, host, what] of [
    ['orders.localhost', 'orders.localhost', ORDERS],
    ['Orders.localhost.:1', 'crm.localhost', ORDERS],
    ['orders.localhost:9180', 'localhost', ORDERS],
    ['localhost', 'orders.localhost', OTHERS],
    ['127.0.0.1', 'crm.localhost', OTHERS],
    ['orders.localhost', 'evil.test', 'host-refused'],
    ['evil.test', 'orders.localhost', 'host-refused'],
    ['user@orders.localhost', 'orders.localhost', 'host-refused'],
  ] as const)
    t.equal(await outcome(lines(`http://${authority}/x`, `host: ${host}`)), what, `${authority} ${host}`);
  t.equal(
    await outcome(lines('//orders.localhost/x', 'host: localhost')),
    '/ //orders.localhost/x Bearer tok-1',
  );
});

t.test('two Host lines are refused, and HTTP/1.0 without Host uses the routes without a host', async (t) => {
  const two = lines('/x', 'host: orders.localhost', 'host: orders.localhost');
  t.equal(await outcome(two), 'bad-request');
  t.equal(await outcome(lines('/x', 'host: localhost', 'host: orders.localhost')), 'bad-request');
  t.equal(await outcome('GET /x HTTP/1.0\r\n\r\n'), OTHERS);
  t.equal(await outcome('GET /x HTTP/1.0\r\nhost: orders.localhost\r\n\r\n'), ORDERS);
  t.equal(await outcome('GET http://orders.localhost/x HTTP/1.0\r\n\r\n'), ORDERS);
});

t.test('a page of the same origin may call, and a page of another host may not', async (t) => {
  const from = (origin: string, host: string, target = '/x') =>
    outcome(lines(target, `host: ${host}`, `origin: ${origin}`));
  t.equal(await from('http://orders.localhost:9180', 'orders.localhost:9180'), ORDERS);
  t.equal(await from('http://intranet.example', 'intranet.example', '/'), '//intranet.example/ / -');
  for (const [origin, host] of [
    ['http://crm.localhost:9180', 'orders.localhost:9180'],
    ['http://orders.localhost', 'orders.localhost:9180'],
    ['http://localhost:9180', 'orders.localhost:9180'],
    ['http://orders.localhost:9180', 'localhost:9180'],
    ['http://intranet.example', 'localhost'],
    ['http://intranet.example.evil.test', 'intranet.example'],
  ] as const)
    t.equal(await from(origin, host), 'origin-refused', `${origin} ${host}`);
  t.equal(
    await from('http://crm.localhost', 'crm.localhost', 'http://orders.localhost/x'),
    'origin-refused',
    'the host of the request is not the origin of the page',
  );
});

t.test('an upgrade uses the routes of its host', async (t) => {
  const WS = ['connection: upgrade', 'upgrade: websocket'];
  upstream.onRequest = () => head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket');
  const told = proxy.requests().length;
  const client = await proxy.client();
  const { status } = await client.send(lines('/x', 'host: orders.localhost', ...WS)).response();
  t.equal(status, 101);
  t.equal(upstream.last.target, '/orders-v1/x');
  t.equal(upstream.last.header('authorization'), 'Bearer key-of-orders');
  client.close();
  await until(() => proxy.gateway.inFlight === 0, 'the tunnel does not end');
  t.equal((await nextOf(proxy.requests, told)).route, '//orders.localhost/');
  t.equal(await outcome(lines('/x', 'host: crm.localhost', ...WS)), 'no-route');
});

t.test('a Location is mapped to the path that a client of the same host would call', async (t) => {
  const location = async (host: string, target: string, value: string) => {
    upstream.onRequest = () => head('302 Found', 'content-length: 0', `location: ${value}`);
    return (await proxy.ask(lines(target, `host: ${host}`))).header('location');
  };
  const { url } = upstream;
  t.equal(await location('orders.localhost', '/x', `${url}/orders-v1/7?a`), '/7?a');
  t.equal(await location('localhost', '/x', `${url}/orders-v1/7`), '/orders-v1/7');
  t.equal(await location('crm.localhost', '/api', `${url}/api/7`), '/api/7');
  t.equal(await location('crm.localhost', '/api', `${url}/orders-v1/7`), `${url}/orders-v1/7`);
  t.equal(await location('crm.localhost', '/api', '/orders-v1/7'), `${url}/orders-v1/7`);
});

t.test('the admin listener does not accept the host of a route as Host', async (t) => {
  const status = async (host: string) =>
    (await ask(proxy.adminPort, `GET /healthz HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).status;
  for (const host of ['orders.localhost', 'CRM.localhost.:80', 'intranet.example'])
    t.equal(await status(host), 403, host);
  for (const host of ['localhost', '127.0.0.1', '[::1]', 'other.localhost']) t.equal(await status(host), 200);
  const yaml = `${YAML}  - { host: localhost, prefix: /, credential: none }\nallowedHosts: [crm.localhost, '*.example']`;
  const { adminPort } = await gatewayFor(t, { ...options, yaml });
  const there = async (host: string) =>
    (await ask(adminPort, `GET /healthz HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).status;
  t.same(await Promise.all(['localhost', 'crm.localhost', 'a.example'].map(there)), [200, 200, 200]);
  t.same(await Promise.all(['orders.localhost', 'intranet.example'].map(there)), [403, 403]);
});

t.test('on a Unix socket the Host selects the table', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'bearerd-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const path = join(dir, 's');
  const { requests } = await gatewayFor(t, { ...options, env: { BEARERD_LISTEN: `unix:${path}` } });
  const routeOf = async (bytes: string) => {
    const client = await RawClient.to(path);
    const told = requests().length;
    const { status } = await client.send(bytes).response();
    client.close();
    return `${status} ${(await nextOf(requests, told)).route}`;
  };
  t.equal(await routeOf(lines('/x', 'host: orders.localhost')), '200 //orders.localhost/');
  t.equal(await routeOf(lines('/x', 'host: Intranet.Example.:80')), '200 //intranet.example/');
  t.equal(await routeOf(lines('/x', 'host: crm.localhost')), '404 ');
  for (const host of ['unix', 'localhost', '%2Frun%2Fbearerd.sock', 'a b', ''])
    t.equal(await routeOf(lines('/x', `host: ${host}`)), '200 /', host);
  t.equal(await routeOf(lines('http://orders.localhost/x', 'host: unix')), '200 //orders.localhost/');
});

t.test('with TLS the Host selects the table, too', async (t) => {
  const pem = (name: string) => new URL(`../support/tls/${name}`, import.meta.url).pathname;
  const { port, requests } = await gatewayFor(t, {
    ...options,
    env: {
      BEARERD_LISTEN_TLS_CERT_FILE: pem('server.pem'),
      BEARERD_LISTEN_TLS_KEY_FILE: pem('server.key'),
    },
  });
  const client = await RawClient.secure(port, { ca: readTls('ca.pem') });
  const from = 'origin: https://orders.localhost';
  t.equal((await client.send(lines('/x', 'host: orders.localhost', from)).response()).status, 200);
  t.equal((await nextOf(requests, 0)).route, '//orders.localhost/');
  client.close();
});

t.test('requests on one connection may be for different hosts', async (t) => {
  const client = await proxy.client();
  for (const [host, route] of [
    ['orders.localhost', '//orders.localhost/'],
    ['localhost', '/'],
    ['intranet.example', '//intranet.example/'],
  ]) {
    const told = proxy.requests().length;
    await client.send(lines('/x', `host: ${host}`)).response();
    t.equal((await nextOf(proxy.requests, told)).route, route);
  }
  client.close();
});

t.test('a reload adds and removes hosts', async (t) => {
  const { gateway, port, requests } = await gatewayFor(t, options);
  const routeOf = async (host: string) => {
    const told = requests().length;
    const { status } = await ask(port, lines('/x', `host: ${host}`));
    const { route } = await nextOf(requests, told);
    return status === 200 ? route : status;
  };
  const reload = async (routes: string) =>
    gateway.reconfigure(await configOf({ ...options, env: { ...options.env, BEARERD_ROUTES: routes } }));
  t.equal(await routeOf('new.example'), 403);
  await reload('/=token,//new.example/=crm');
  t.equal(await routeOf('new.example'), '//new.example/');
  t.equal(await routeOf('orders.localhost'), '/');
  t.equal(await routeOf('intranet.example'), 403);
  await reload('/=token');
  t.equal(await routeOf('new.example'), 403);
});

t.test('a request under way at a reload keeps its route', async (t) => {
  const { gateway, client, requests } = await gatewayFor(t, options);
  let answer = () => {};
  upstream.onRequest = () =>
    new Promise((resolve) => {
      answer = () => resolve(head('302 Found', 'content-length: 0', `location: ${upstream.url}/orders-v1/7`));
    });
  const asking = await client();
  asking.send(lines('/x', 'host: orders.localhost'));
  await until(() => upstream.requests.length === 1, 'no request');
  gateway.reconfigure(await configOf({ ...options, env: { ...options.env, BEARERD_ROUTES: '/=token' } }));
  answer();
  t.equal((await asking.response()).header('location'), '/7');
  await until(() => requests().length === 1, 'the request does not end');
  t.equal(requests()[0]?.route, '//orders.localhost/');
  asking.close();
});

t.test('the routes of a caller are bound to their hosts', async (t) => {
  const yaml = YAML.replace(
    '{}',
    '{ agent: { key: k3y, routes: [//orders.localhost/] }, all: { key: k4y } }',
  );
  const { port, requests } = await gatewayFor(t, { ...options, yaml });
  const status = async (host: string, target = '/x') =>
    (await ask(port, lines(target, `host: ${host}`, 'x-bearerd-key: k3y'))).status;
  t.equal(await status('orders.localhost'), 200);
  t.equal(await status('orders.localhost', '/closed'), 403);
  t.equal(await status('localhost'), 403);
  t.equal(await status('intranet.example'), 403);
  t.equal(await status('crm.localhost'), 403, 'with a route and without');
  await until(() => requests().length === 5, 'some requests do not end');
  t.same(
    requests().map(({ caller }) => caller),
    Array.from({ length: 5 }, () => 'agent'),
  );
});

t.test(
  'log, metrics and status name a route with its host, and the number of series stays bounded',
  async (t) => {
    const { gateway, adminPort, ask: send } = await gatewayFor(t, options);
    for (let i = 0; i < 20; i++) {
      for (const host of [
        'orders.localhost',
        'localhost',
        `h${i}.localhost`,
        `h${i}.test`,
        `crm.localhost:${i}`,
      ])
        await send(lines(`/x${i}`, `host: ${host}`));
    }
    await until(() => gateway.status.requestsAnswered === 100, 'some requests do not end');
    const { text } = await ask(adminPort, request('GET', '/metrics'));
    const labels = new Set(
      [...text.matchAll(/^bearerd_requests_total\{route="([^"]*)"/gm)].map(([, name]) => name),
    );
    t.same([...labels].sort(), ['', '/', '//orders.localhost/']);
    t.same(
      gateway.status.routes.map(({ prefix, requests }) => [prefix, requests]),
      [
        ['/', 40],
        ['//orders.localhost/', 20],
        ['//orders.localhost/closed', 0],
        ['//crm.localhost/api', 0],
        ['//intranet.example/', 0],
      ],
    );
  },
);

t.test('a failure of an upstream is logged with the host of its route', async (t) => {
  const { events, ask: send } = await gatewayFor(t, options);
  upstream.onRequest = ({ connection }) => connection.reset();
  t.equal((await send(lines('/x', 'host: orders.localhost'))).status, 502);
  t.match(
    events.filter(({ type }) => type === 'upstream-failed'),
    [{ route: '//orders.localhost/' }],
  );
  upstream.onRequest = () => ok('ok');
});
