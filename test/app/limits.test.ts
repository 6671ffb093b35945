import t, { type Test } from 'tap';
import { FakeClock } from '../support/fake-clock.ts';
import { configOf, type GatewayOptions, gatewayFor, request } from '../support/gateway.ts';
import { ask, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// Limits of routes and callers: N requests in a duration, and 429 past that.

const upstream = await RawUpstream.startedFor(t);
t.beforeEach(() => upstream.reset());

const WS = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-key: abc',
  'sec-websocket-version: 13',
];
const SWITCH = head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket');
const ADMIN = { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };

/** A proxy that is logged in, and whose clock moves only by `pass`; its token does not expire. */
async function limitedFor(t: Test, yaml: string, options: Partial<GatewayOptions> = {}) {
  const clock = new FakeClock();
  const all = { baseUrl: upstream.url, yaml, env: ADMIN, clock, ...options };
  const proxy = await gatewayFor(t, all);
  const admin = (target: string) => ask(proxy.adminPort, request('GET', target));
  return {
    ...proxy,
    admin,
    pass: (ms: number) => clock.advance(ms),
    statuses: async (target: string, times: number, ...lines: string[]) => {
      const found: number[] = [];
      for (let n = 0; n < times; n++) found.push((await proxy.get(target, ...lines)).status);
      return found;
    },
    left: async () => {
      const { limits = [] } = JSON.parse((await admin('/status')).text);
      return limits.map((each: { left: number }) => each.left) as number[];
    },
    reload: async (changed: string) => proxy.gateway.reconfigure(await configOf({ ...all, yaml: changed })),
  };
}

const ROUTES = `
routes:
  - { prefix: /, credential: none }
  - { prefix: /few, credential: none, limit: 3/1m }
  - { prefix: /get, credential: none, limit: 2/1m, methods: [GET] }
  - { prefix: /own, credential: token, limit: 2/1m, clientAuthorization: reject }
  - { prefix: /shut, credential: deny, limit: 2/1m }
`;

t.test('a request past the limit gets 429 and is not forwarded; one after Retry-After passes', async (t) => {
  const { get, statuses, pass, requests } = await limitedFor(t, ROUTES);
  t.same(await statuses('/few/x', 3), [200, 200, 200]);
  const refused = await get('/few/x?q=1');
  t.equal(refused.status, 429);
  t.equal(refused.header('retry-after'), '20');
  t.equal(refused.header('proxy-status'), 'bearerd; error=http_request_denied');
  t.equal(refused.header('content-type'), 'application/problem+json');
  t.match(JSON.parse(refused.text), {
    code: 'rate-limited',
    status: 429,
    type: 'urn:bearerd:problem:rate-limited',
  });
  t.equal(upstream.requests.length, 3, 'the request past the limit is not forwarded');
  t.match(requests().at(-1), {
    code: 'rate-limited',
    status: 429,
    route: '/few',
    limitedBy: 'route',
    remedy: /limit of the route/,
  });
  t.same(await statuses('/other', 5), [200, 200, 200, 200, 200], 'another route has no limit');
  await pass(18_500);
  t.equal((await get('/few')).header('retry-after'), '2', 'Retry-After is rounded up');
  await pass(1_499);
  t.equal((await get('/few')).header('retry-after'), '1', 'Retry-After is at least one');
  await pass(1);
  t.same(await statuses('/few', 2), [200, 429]);
});

t.test('a request that a guard refuses does not count', async (t) => {
  const yaml = `${ROUTES}\ncallers: { ada: { key: k3y-ada, limit: 2/1m, routes: [/, /few, /get, /own, /shut] } }\nallowedOrigins: [http://page.example]`;
  const { port, get, left } = await limitedFor(t, yaml);
  const key = 'x-bearerd-key: k3y-ada';
  const before = await left();
  const refused = {
    'host-refused': await ask(port, `GET /few HTTP/1.1\r\nhost: evil.example\r\n${key}\r\n\r\n`),
    'origin-refused': await get('/few', key, 'origin: http://evil.example'),
    'caller-key-required': await get('/few'),
    'route-denied': await get('/shut', key),
    'bad-path': await get('/few/../x', key),
    'method-refused': await ask(port, request('DELETE', '/get', key)),
    'client-authorization': await get('/own', key, 'authorization: Bearer mine'),
    'expectation-failed': await get('/few', key, 'expect: the-best'),
  };
  for (const [code, response] of Object.entries(refused)) {
    t.equal(JSON.parse(response.text).code, code);
  }
  const preflight = ['origin: http://page.example', 'access-control-request-method: GET'];
  t.equal((await ask(port, request('OPTIONS', '/few', ...preflight))).status, 204);
  t.equal((await ask(port, request('OPTIONS', '*', key))).status, 204);
  t.same(await left(), before);
  t.equal((await get('/few', key)).status, 200);
  t.not((await left()).join(), before.join(), 'a request that passes counts');
});

t.test('a request without a route does not count', async (t) => {
  const yaml = `routes: [{ prefix: /a, credential: none }]\ncallers: { ada: { key: k3y-ada, limit: 1/1h } }`;
  const { statuses } = await limitedFor(t, yaml);
  const key = 'x-bearerd-key: k3y-ada';
  t.same(await statuses('/b', 3, key), [404, 404, 404]);
  t.same(await statuses('/a', 2, key), [200, 429]);
});

t.test('routes with the same prefix and different hosts have separate limits', async (t) => {
  const yaml = `
routes:
  - { prefix: /, credential: none, limit: 1/1h }
  - { host: a.localhost, prefix: /, credential: none, limit: 2/1h }`;
  const { port, statuses, left, requests } = await limitedFor(t, yaml);
  t.same(await statuses('/x', 2), [200, 429]);
  const atHost = async () => (await ask(port, 'GET /x HTTP/1.1\r\nhost: a.localhost\r\n\r\n')).status;
  t.same([await atHost(), await atHost(), await atHost()], [200, 200, 429]);
  t.same(requests().at(-1)?.route, '//a.localhost/');
  t.same(await left(), [0, 0]);
});

t.test('a limit of a caller counts only the requests of this caller, on all routes', async (t) => {
  const yaml = `${ROUTES}\ncallers: { ada: { key: k3y-ada, limit: 3/1m }, bob: { key: k3y-bob } }\ncallerKey: k3y-all`;
  const { get, statuses, requests } = await limitedFor(t, yaml);
  const ada = 'x-bearerd-key: k3y-ada';
  t.same([...(await statuses('/a', 2, ada)), ...(await statuses('/b', 2, ada))], [200, 200, 200, 429]);
  t.match(requests().at(-1), { caller: 'ada', limitedBy: 'caller' });
  t.match(JSON.parse((await get('/c', ada)).text).detail, /^This caller /);
  t.same(await statuses('/a', 5, 'x-bearerd-key: k3y-bob'), [200, 200, 200, 200, 200]);
  t.same(await statuses('/a', 5, 'x-bearerd-key: k3y-all'), [200, 200, 200, 200, 200]);
});

t.test('a request that one limit refuses does not count against the other', async (t) => {
  const yaml = `${ROUTES}\ncallers: { ada: { key: k3y-ada, limit: 5/1m }, bob: { key: k3y-bob, limit: 1/1h } }`;
  const { get, statuses, left } = await limitedFor(t, yaml);
  const ada = 'x-bearerd-key: k3y-ada';
  t.same(await statuses('/few', 9, ada), [200, 200, 200, 429, 429, 429, 429, 429, 429]);
  t.same(await statuses('/', 3, ada), [200, 200, 429], 'two requests of the caller were left');
  const bob = 'x-bearerd-key: k3y-bob';
  t.same(await statuses('/get', 4, bob), [200, 429, 429, 429]);
  const [, ofGet] = await left();
  t.equal(ofGet, 1, 'one request of the route was left');
  t.equal((await get('/few', bob)).header('retry-after'), '3600', 'the longer wait counts');
});

t.test(
  'a request that gets no token counts, and a request past the limit does not wait for a login',
  async (t) => {
    upstream.onLogin = () => head('500 Down', 'content-length: 0');
    const env = { ...ADMIN, BEARERD_TOKEN_WAIT: '1ms' };
    const { statuses, gateway } = await limitedFor(t, ROUTES, {
      env,
      loggedIn: false,
      clock: undefined as never,
    });
    t.same(await statuses('/own', 3), [503, 503, 429]);
    t.equal(gateway.inFlight, 0);
  },
);

t.test('a request that is sent again after a 401 counts once', async (t) => {
  const refusedOnce = new Set<string>();
  upstream.onRequest = ({ target }) => {
    if (refusedOnce.has(target)) return ok('ok');
    refusedOnce.add(target);
    return head('401 No', 'content-length: 0');
  };
  const { statuses } = await limitedFor(t, ROUTES, { clock: undefined as never });
  t.same(await statuses('/own/once', 3), [200, 200, 429]);
  t.equal(upstream.requests.length, 3);
});

t.test('a tunnel counts once', async (t) => {
  upstream.onRequest = () => SWITCH;
  const { client, get, gateway } = await limitedFor(t, ROUTES);
  for (let n = 0; n < 3; n++) {
    const tunnel = await client();
    t.equal((await tunnel.send(request('GET', '/few', ...WS)).response()).status, 101);
    tunnel.send('a '.repeat(1_000));
    tunnel.close();
  }
  t.equal((await get('/few', ...WS)).status, 429);
  await until(() => gateway.inFlight === 0, 'a tunnel does not end');
});

t.test('a reload keeps the count of an unchanged limit, and restarts that of a changed one', async (t) => {
  const callers = '\ncallers: { ada: { key: k3y-ada, limit: 2/1m } }\ncallerKey: k3y-all';
  const { statuses, reload, left } = await limitedFor(t, ROUTES + callers);
  const all = 'x-bearerd-key: k3y-all';
  const ada = 'x-bearerd-key: k3y-ada';
  await statuses('/few', 4, all);
  await statuses('/', 3, ada);
  await reload(
    `log: { level: warn }${ROUTES.replace('3/1m', '3/60s')}${callers.replace('k3y-ada', 'k3y-new')}`,
  );
  t.same(await statuses('/few', 1, all), [429], 'the same limit, written differently');
  t.same(await statuses('/', 1, 'x-bearerd-key: k3y-new'), [429], 'the same caller with another key');
  await reload(ROUTES.replace('3/1m', '4/1m') + callers);
  t.same(await statuses('/few', 5, all), [200, 200, 200, 200, 429], 'another number');
  t.same(await statuses('/', 1, ada), [429], 'the limit of the caller is unchanged');
  await reload(ROUTES.replace('3/1m', '4/2m') + callers);
  t.same(await statuses('/few', 1, all), [200], 'another duration');
  await reload(ROUTES.replace(', limit: 3/1m', '') + callers);
  t.same(await statuses('/few', 9, all), Array(9).fill(200), 'none');
  await reload(ROUTES);
  t.same(await left(), [3, 2, 2, 2], 'one again');
});

t.test('metrics, log, status and page show limits only by configured names', async (t) => {
  const yaml = `${ROUTES}\ncallers: { ada: { key: k3y-ada, limit: 3/1m } }`;
  const { statuses, admin } = await limitedFor(t, yaml);
  await statuses('/few/made/up', 5, 'x-bearerd-key: k3y-ada');
  const { text } = await admin('/metrics');
  t.match(text, 'bearerd_rate_limited_total{route="/few",caller="ada"} 2\n');
  t.equal([...text.matchAll(/^bearerd_rate_limited_total\{/gm)].length, 1);
  t.match(JSON.parse((await admin('/status')).text).limits, [
    { route: '/few', limit: '3/1m', left: 0 },
    { route: '/get', limit: '2/1m', left: 2 },
    { route: '/own' },
    { route: '/shut' },
    { caller: 'ada', limit: '3/1m', left: 0 },
  ]);
  t.match((await admin('/requests')).text, 'rate-limited');
  t.match((await admin('/configuration')).text, /limit: 3\/1m/);
});

t.test('without a configured limit the status has none, and admission does no extra work', async (t) => {
  const { admin } = await limitedFor(t, 'routes: [{ prefix: /, credential: none }]');
  t.notOk('limits' in JSON.parse((await admin('/status')).text));
  t.notMatch((await admin('/metrics')).text, /^bearerd_rate_limited_total\{/m);
});
