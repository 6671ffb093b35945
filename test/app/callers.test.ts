import { networkInterfaces } from 'node:os';
import t from 'tap';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import { ask, RawClient, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// Named callers: each has a key of its own, in any place where a program can put a key.

const AGENT = 'k3y-agent';
const BUILD = 'k3y-build:with a colon';
const OWNER = 'k3y-owner';
const YAML = `
credentials:
  custom: { type: apiKey, key: real-secret, header: X_Api-Key, scheme: '' }
  other: { type: apiKey, key: other-secret, header: X-Other, scheme: Token }
  asked: { type: apiKey, key: query-secret, in: query, name: api_key }
  baked: { type: apiKey, key: cookie-secret, in: cookie, name: sid }
routes:
  - { prefix: /, credential: token }
  - { prefix: /api, credential: token }
  - { prefix: /api/admin, credential: token, methods: [GET] }
  - { prefix: /custom, credential: custom }
  - { prefix: /other, credential: other }
  - { prefix: /asked, credential: asked }
  - { prefix: /keep-asked, credential: asked, clientAuthorization: keep }
  - { prefix: /reject-asked, credential: asked, clientAuthorization: reject }
  - { prefix: /baked, credential: baked }
  - { prefix: /keep, credential: token, clientAuthorization: keep }
  - { prefix: /keep-custom, credential: custom, clientAuthorization: keep }
  - { prefix: /reject, credential: token, clientAuthorization: reject }
  - { prefix: /reject-custom, credential: custom, clientAuthorization: reject }
  - { prefix: /none, credential: none, clientAuthorization: keep }
callers:
  agent: { key: ${AGENT}, routes: [/api, /custom] }
  build: { key: '${BUILD}' }
`;

const upstream = await RawUpstream.startedFor(t);
const env = { BEARERD_CALLER_KEY: OWNER, BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };
const options = { baseUrl: upstream.url, yaml: YAML, env };
const proxy = await gatewayFor(t, options);
t.beforeEach(() => upstream.reset());

const basic = (name: string, key: string) => `Basic ${Buffer.from(`${name}:${key}`).toString('base64')}`;
/** The status, the code if bearerd answered, and the caller in the log. */
async function asked(target: string, ...lines: string[]) {
  const { status, text, header } = await proxy.get(target, ...lines);
  const code = header('proxy-status')?.startsWith('bearerd') ? [JSON.parse(text).code] : [];
  return [status, ...code, proxy.requests().at(-1)?.caller];
}

const PLACES: Record<string, (key: string) => string> = {
  'X-Bearerd-Key': (key) => `x-bearerd-key: ${key}`,
  'Proxy-Authorization: Bearer': (key) => `proxy-authorization: bearer  ${key}`,
  'Proxy-Authorization: Basic': (key) => `proxy-authorization: ${basic('', key)}`,
  'Authorization: Bearer': (key) => `authorization: Bearer ${key}`,
  'Authorization: Basic': (key) => `authorization: ${basic('anybody', key)}`,
  'Authorization: Basic, the key as user name': (key) => `authorization: ${basic(key, '')}`,
  'Proxy-Authorization: Basic, the key as user name': (key) => `proxy-authorization: ${basic(key, 'x')}`,
  'Authorization: Token': (key) => `authorization: Token ${key}`,
  'Authorization alone': (key) => `authorization: ${key}`,
};

for (const [place, line] of Object.entries(PLACES)) {
  t.test(`a caller is identified by its key in ${place}, and the key is not forwarded`, async (t) => {
    for (const [key, name] of [
      [AGENT, 'agent'],
      [BUILD, 'build'],
      [OWNER, ''],
    ] as const) {
      for (const [target, credential] of [
        ['/api/x', 'Authorization: Bearer tok-1'],
        ['/custom/x', 'X_Api-Key: real-secret'],
      ] as const) {
        t.same(await asked(target, line(key)), [200, name], `${name} ${target}`);
        t.match(upstream.last.head, credential);
        t.notMatch(upstream.last.head, /k3y|bearerd-key|proxy-auth/i);
        t.notMatch(upstream.last.head, Buffer.from(`anybody:${key}`).toString('base64'));
      }
    }
    for (const wrong of ['', 'x', 'k3y', `${AGENT}x`, AGENT.toUpperCase(), `${AGENT}, ${BUILD}`]) {
      t.same(await asked('/api/x', line(wrong)), [407, 'caller-key-required', undefined], wrong);
    }
  });
}

t.test("a caller is identified by its key in the header of the route's credential", async (t) => {
  for (const line of [`x_api-key: ${AGENT}`, `X-API-KEY: ${AGENT}`, `X_API_KEY: ${AGENT}`]) {
    t.same(await asked('/custom', line), [200, 'agent'], line);
    t.notMatch(upstream.last.head, /k3y/);
    t.match(upstream.last.all('x_api-key'), ['real-secret']);
  }
  for (const line of [`x-other: Token ${BUILD}`, `x-other: ${BUILD}`, `x-other: ${basic('u', BUILD)}`]) {
    t.same(await asked('/other', line), [200, 'build'], line);
    t.match(upstream.last.all('x-other'), ['Token other-secret']);
  }
});

t.test("a caller is identified by its key in the query parameter of the route's credential", async (t) => {
  const key = encodeURIComponent(BUILD);
  for (const [sent, upstreamGets] of [
    [`?api_key=${key}`, '?api_key=query-secret'],
    [`?a=1&api%5Fkey=${key}&b=%2f&b`, '?a=1&b=%2f&b&api_key=query-secret'],
    [`?a;api_key=${BUILD.replaceAll(' ', '+')};b`, '?a;b&api_key=query-secret'],
  ] as const) {
    t.same(await asked(`/asked${sent}`), [200, 'build'], sent);
    t.equal(upstream.last.target, `/asked${upstreamGets}`);
  }
  for (const prefix of ['/keep-asked', '/reject-asked']) {
    t.same(await asked(`${prefix}?x&api_key=${key}`), [200, 'build'], prefix);
    t.equal(upstream.last.target, `${prefix}?x&api_key=query-secret`);
  }
  t.same(await asked(`/keep-asked?api_key=${key}&api_key=mine`), [200, 'build']);
  t.equal(upstream.last.target, '/keep-asked?api_key=mine');
  t.same(await asked(`/reject-asked?api_key=${key}&api_key=mine`), [400, 'client-authorization', 'build']);
  t.same(await asked('/asked?y=%zz&x=1', `x-bearerd-key: ${BUILD}`), [200, 'build']);
  t.equal(
    upstream.last.target,
    '/asked?y=%zz&x=1&api_key=query-secret',
    'the rest of the query keeps its bytes',
  );

  upstream.reset();
  for (const target of [
    `/asked?API_KEY=${key}`,
    '/asked?api_key=guess',
    '/asked?api_key',
    `/api?other=${key}`,
  ]) {
    t.same(await asked(target), [407, 'caller-key-required', undefined], target);
  }
  t.same(await asked(`/api?api_key=${key}`), [407, 'caller-key-required', 'build']);
  t.same(await asked('/baked', `cookie: sid=${AGENT}`), [407, 'caller-key-required', undefined]);
  t.same(upstream.requests, []);
  t.same(await asked(`/api?api_key=${AGENT}&z`, `x-bearerd-key: ${BUILD}`), [200, 'build']);
  t.equal(upstream.last.target, '/api?z', 'a second key is not forwarded either');
});

t.test(
  "a key in the header of another route's credential is refused, and the answer does not reveal that route",
  async (t) => {
    upstream.reset();
    t.same(await asked('/api', `x_api-key: ${AGENT}`), [407, 'caller-key-required', 'agent']);
    t.same(await asked('/custom', `x-other: ${AGENT}`), [407, 'caller-key-required', 'agent']);
    t.same(upstream.requests, []);
    // Of two keys, the one in the place of this route counts.
    t.same(await asked('/other', `x_api-key: ${AGENT}`, `x-other: ${BUILD}`), [200, 'build']);
    t.notMatch(upstream.last.head, /k3y/, 'the other key is not forwarded either');
  },
);

t.test('a client without a key gets the same answer, whatever the path', async (t) => {
  const answers = new Set<string>();
  for (const target of [
    '/api',
    '/custom',
    '/none',
    '/nowhere',
    '/api/admin',
    '/a/../b',
    '/API',
    '/%zz',
    '*',
  ]) {
    for (const line of ['x: y', 'x_api-key: guess', 'x-other: guess', 'authorization: Bearer guess']) {
      const method = target === '*' ? 'OPTIONS' : 'DELETE';
      const { head: answer, text } = await proxy.ask(request(method, target, line));
      // The request's ID is in the body, and its length varies.
      const head = answer.replaceAll(/^(?:date|content-length):.*\r\n/gim, '');
      answers.add(head + text.replace(/,"instance":"[^"]*"/, ''));
    }
  }
  t.equal(answers.size, 1);
  t.match([...answers][0], /^HTTP\/1.1 407 /);
  t.same(proxy.requests().at(-1)?.route, '');
});

t.test('a caller with routes gets 403 elsewhere, whether there is a route or not', async (t) => {
  const key = `x-bearerd-key: ${AGENT}`;
  t.same(await asked('/api/x', key), [200, 'agent']);
  upstream.reset();
  for (const target of ['/', '/api/admin', '/api/admin/x', '/apiary', '/other', '/none', '/nowhere']) {
    t.same(await asked(target, key), [403, 'route-denied', 'agent'], target);
    const { head: answer } = await proxy.ask(request('PUT', target, key));
    t.match(answer, /^HTTP\/1.1 403 /, `PUT ${target}`);
    t.notMatch(answer, /^allow:/im);
  }
  t.same(await asked('/api/../other', key), [400, 'bad-path', 'agent']);
  t.same(await asked('/api/identity/v1/session', key), [403, 'route-denied', 'agent']);
  t.same(upstream.requests, []);
  for (const free of [`x-bearerd-key: ${BUILD}`, `x-bearerd-key: ${OWNER}`]) {
    t.equal((await proxy.get('/api/admin', free)).status, 200, free);
  }
});

t.test("a caller key does not count as the client's credential for keep and reject", async (t) => {
  const keys = [`authorization: Bearer ${BUILD}`, `authorization: ${basic('u', BUILD)}`];
  for (const key of keys) {
    for (const target of ['/keep', '/reject', '/keep-custom', '/reject-custom']) {
      t.same(await asked(target, key), [200, 'build'], `${target} ${key}`);
      t.match(upstream.last.head, /Bearer tok-1|real-secret/);
      t.notMatch(upstream.last.head, /k3y|Basic/);
    }
  }
  for (const target of ['/keep-custom', '/reject-custom']) {
    t.same(await asked(target, `x-api-key: ${BUILD}`), [200, 'build']);
    t.same(upstream.last.all('x_api-key'), ['real-secret']);
    t.notMatch(upstream.last.head, /k3y/);
  }
  t.same(await asked('/none', keys[0]!), [200, 'build']);
  t.notMatch(upstream.last.head, /k3y|authorization/i);

  const own = 'authorization: Bearer mine';
  t.same(await asked('/keep', `x-bearerd-key: ${BUILD}`, own), [200, 'build']);
  t.same(upstream.last.all('authorization'), ['Bearer mine']);
  t.same(
    await asked('/keep', keys[0]!, own),
    [200, 'build'],
    'a caller key and a credential are not two credentials',
  );
  t.same(upstream.last.all('authorization'), ['Bearer mine']);
  t.same(await asked('/keep-custom', keys[0]!, 'x-api-key: mine'), [200, 'build']);
  t.notMatch(upstream.last.head, /k3y|real-secret/);
  t.same(await asked('/reject', keys[0]!, own), [400, 'client-authorization', 'build']);
  t.same(await asked('/keep', keys[0]!, own, own), [400, 'bad-request', 'build']);
});

t.test('an upgrade needs a caller key like any request, and the key is not forwarded', async (t) => {
  upstream.onHead = ({ connection }) => {
    connection.send(head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket'));
  };
  const upgrade = ['connection: upgrade', 'upgrade: websocket'];
  const client = await proxy.client();
  client.send(request('GET', '/custom', ...upgrade, `x-api-key: ${AGENT}`));
  t.equal((await client.response()).status, 101);
  t.notMatch(upstream.last.head, /k3y/);
  client.close();
  for (const [line, status] of [
    ['x-api-key: guess', 407],
    [`x-other: ${AGENT}`, 407],
  ] as const) {
    const refused = await proxy.client();
    refused.send(request('GET', '/custom', ...upgrade, line));
    t.equal((await refused.response()).status, status, line);
    refused.close();
  }
});

t.test(
  'TRACE, a foreign Host, a foreign Origin and a preflight are answered before the caller key is checked',
  async (t) => {
    t.equal((await proxy.ask(request('TRACE', '/'))).status, 405);
    t.match((await ask(proxy.port, 'GET / HTTP/1.1\r\nhost: evil.test\r\n\r\n')).text, /host-refused/);
    t.match((await proxy.get('/', 'origin: https://evil.test')).text, /origin-refused/);
  },
);

const admin = (target: string, ...lines: string[]) => ask(proxy.adminPort, request('GET', target, ...lines));

t.test('metrics, log and status show callers only by their configured names', async (t) => {
  await proxy.get('/api/named', `x-bearerd-key: ${AGENT}`);
  for (let n = 0; n < 20; n++) await proxy.get('/api/named', `x-bearerd-key: made-up-${n}`);
  const { text } = await admin('/metrics');
  const callers = new Set(
    [...text.matchAll(/^bearerd_requests_total\{.*caller="([^"]*)"/gm)].map(([, c]) => c),
  );
  t.same([...callers].sort(), ['', 'agent', 'build']);
  t.match(
    text,
    /bearerd_requests_total\{route="\/api",credential="token",method="GET",code="200",caller="agent"\} \d/,
  );
  const shown = JSON.parse((await admin('/requests')).text) as { path: string; caller: string }[];
  t.match(
    shown.find(({ path, caller }) => path === '/api/named' && caller !== ''),
    { caller: 'agent' },
  );
  const configuration = (await admin('/configuration')).text;
  t.match(configuration, /agent:\\n {4}key: \\"\*\*\*\\"|agent:\\n {4}key: '?\*\*\*/);
  t.notMatch(configuration + text, /k3y/);
});

const lan = Object.values(networkInterfaces())
  .flat()
  .find((face) => face?.family === 'IPv4' && !face.internal)?.address;

t.test(
  "a named caller's key does not open an admin listener that other machines can reach",
  { skip: lan === undefined && 'no such address' },
  async (t) => {
    const adminOf = async (more: Record<string, string>) => {
      const { adminPort } = await gatewayFor(t, {
        ...options,
        env: { BEARERD_ADMIN_LISTEN: '0.0.0.0:0', ...more },
      });
      return async (target: string, ...lines: string[]) => {
        const client = await RawClient.to({ host: lan!, port: adminPort });
        const { status } = await client.send(request('GET', target, ...lines)).response();
        client.close();
        return status;
      };
    };
    const keyed = await adminOf({ BEARERD_CALLER_KEY: OWNER });
    const named = await adminOf({});
    for (const line of ['x: y', `x-bearerd-key: ${AGENT}`, `authorization: ${basic('u', BUILD)}`]) {
      for (const target of ['/status', '/requests', '/configuration', '/']) {
        t.same([await keyed(target, line), await named(target, line)], [407, 407], `${target} ${line}`);
      }
      t.equal(await named('/metrics', line), 200, line);
    }
    t.equal(await keyed('/requests', `x-bearerd-key: ${OWNER}`), 200);
    t.equal(await keyed('/requests', `authorization: ${basic('me', OWNER)}`), 200);
    t.equal(await named('/requests', `x-bearerd-key: ${OWNER}`), 407);
  },
);

t.test('a reload adds, removes and changes callers without disturbing requests under way', async (t) => {
  const changing = await gatewayFor(t, options);
  const yaml = (callers: string) => YAML.slice(0, YAML.indexOf('callers:')) + callers;
  const reload = async (callers: string) =>
    changing.gateway.reconfigure(await configOf({ ...options, yaml: yaml(callers) }));
  const status = async (key: string, target = '/api') =>
    (await changing.get(target, `x-bearerd-key: ${key}`)).status;

  upstream.onHead = ({ connection, target }) => {
    if (target === '/api/slow') connection.send(head('200 OK', 'content-length: 6')).send('one');
    else if (target === '/api/tunnel') {
      connection.send(head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket'));
    } else connection.send(ok('ok'));
  };
  const slow = await changing.client();
  slow.send(request('GET', '/api/slow', `x-bearerd-key: ${AGENT}`));
  const tunnel = await changing.client();
  tunnel.send(
    request(
      'GET',
      '/api/tunnel',
      'connection: upgrade',
      'upgrade: websocket',
      `authorization: Bearer ${AGENT}`,
    ),
  );
  await tunnel.response();
  await until(
    () => upstream.requests.some(({ target }) => target === '/api/slow'),
    'the slow request is not under way',
  );

  await reload(`callers: { build: { key: '${BUILD}' }, late: { key: late-key, routes: [/api] } }`);
  t.same([await status(AGENT), await status(BUILD), await status('late-key')], [407, 200, 200]);
  await reload(`callers: { build: { key: changed }, late: { key: late-key, routes: [/custom] } }`);
  t.same([await status(BUILD), await status('changed'), await status('late-key')], [407, 200, 403]);
  await reload('');
  t.same([await status('changed'), await status(OWNER)], [407, 200]);

  const [slowUpstream, tunnelUpstream] = upstream.requests.filter(({ target }) => target !== '/api');
  slowUpstream!.connection.send('two');
  t.equal((await slow.response()).text, 'onetwo');
  tunnelUpstream!.connection.send('still here');
  t.equal(await tunnel.bytes(10), 'still here');
  tunnel.close();
  slow.close();
});
