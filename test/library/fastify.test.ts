import { Readable } from 'node:stream';
import httpProxy from '@fastify/http-proxy';
import fastify, { type FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import type { ConfigObject } from '../../src/library/config-object.ts';
import bearerd from '../../src/library/fastify.ts';
import { startMockApi } from '../../src/mock/mock-api.ts';
import { request } from '../support/gateway.ts';
import { hostLogFor } from '../support/internal-errors.ts';
import { ask } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

const api = await startMockApi();
t.teardown(() => api.close());
const { clientId, clientSecret } = api.credentials;
const CONFIG: ConfigObject = {
  baseUrl: api.url,
  credentials: { token: { type: 'session', clientId, clientSecret } },
};

const log = hostLogFor(t);

async function listening(t: Test, add: (app: FastifyInstance) => void): Promise<number> {
  const app = fastify();
  t.teardown(() => app.close());
  add(app);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as { port: number }).port;
}

t.test(
  'paths below the prefix go upstream without the prefix, and all others to the host’s routes',
  async (t) => {
    const upstream = await RawUpstream.startedFor(t);
    const config = { ...CONFIG, baseUrl: `${upstream.url}/base` };
    const port = await listening(t, (app) => {
      app.get('/own', async () => 'own');
      app.register(bearerd, { log, prefix: '/api', config });
    });
    const get = (target: string) => ask(port, request('GET', target));
    t.match(await get('/own'), { status: 200 });
    t.equal((await get('/other')).status, 404);
    for (const [asked, sent] of [
      ['/api/companies/acme?x=%2F', '/base/companies/acme?x=%2F'],
      ['/api/', '/base/'],
      ['/api?x=1', '/base?x=1'],
    ] as const) {
      t.equal((await get(asked)).status, 200, asked);
      t.equal(upstream.requests.at(-1)?.target, sent);
      t.match(upstream.requests.at(-1)?.header('authorization'), /^Bearer tok-/);
    }
    for (const odd of ['/api/../own', '/api/..%2Fown', '/api/x/../../own'])
      t.match((await get(odd)).status, /^(?:400|404)$/, odd);
    t.equal((await get('/api/api/identity/v1/session')).status, 403, 'the session path is closed');
  },
);

t.test('a Location of the upstream is mapped to a path below the prefix', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onRequest = () => head('302 Found', `location: ${upstream.url}/next?x=1`, 'content-length: 0');
  const port = await listening(t, (app) => {
    app.register(bearerd, { log, prefix: '/api', config: { ...CONFIG, baseUrl: upstream.url } });
  });
  const response = await ask(port, request('GET', '/api/first'));
  t.equal(response.header('location'), '/api/next?x=1');
});

t.test('routes by host work below the prefix, and a caller may be limited to them', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const routes = [
    { prefix: '/', credential: 'none' },
    { host: 'orders.localhost', prefix: '/', credential: 'none', rewrite: '/orders' },
  ];
  const callers = { agent: { key: 'agent-key-1', routes: '//orders.localhost/' } };
  const port = await listening(t, (app) => {
    app.register(bearerd, {
      log,
      prefix: '/api',
      config: { ...CONFIG, baseUrl: upstream.url, routes, callers },
    });
  });
  const status = async (host: string) =>
    (await ask(port, `GET /api/7 HTTP/1.1\r\nhost: ${host}\r\nx-bearerd-key: agent-key-1\r\n\r\n`)).status;
  t.equal(await status('orders.localhost'), 200);
  t.equal(upstream.last.target, '/orders/7');
  t.equal(await status('localhost'), 403);
});

t.test('bodies of any type and size pass unchanged, and no parser of the host reads them', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const port = await listening(t, (app) => {
    app.addContentTypeParser('text/x-own', (_request, _payload, done) => done(new Error('read')));
    app.register(bearerd, { log, config: { ...CONFIG, baseUrl: upstream.url } });
  });
  const post = async (body: string, ...lines: string[]) => {
    const { status } = await ask(
      port,
      request('POST', '/x', `content-length: ${body.length}`, ...lines) + body,
    );
    return [status, (await upstream.requests.at(-1)!.message).body.toString()];
  };
  t.same(await post('{"broken', 'content-type: application/json'), [200, '{"broken']);
  t.same(await post('abc', 'content-type: text/x-own'), [200, 'abc']);
  t.same(await post('abc'), [200, 'abc']);
  const large = 'x'.repeat(3 * 1024 * 1024);
  t.same(
    await post(large, 'content-type: application/json'),
    [200, large],
    'above the body limit of the host',
  );
});

t.test('the hooks of the host run first, and may refuse a request', async (t) => {
  const port = await listening(t, (app) => {
    for (const hook of ['onRequest', 'preHandler'] as const) {
      app.addHook(hook, async (request, reply) => {
        if (request.headers[`x-no-${hook.toLowerCase()}`] !== undefined) await reply.code(401).send('no');
      });
    }
    app.register(bearerd, { log, prefix: '/api', config: CONFIG });
  });
  t.equal((await ask(port, request('GET', '/api/echo'))).status, 200);
  t.equal((await ask(port, request('GET', '/api/echo', 'x-no-onrequest: 1'))).status, 401);
  t.equal((await ask(port, request('GET', '/api/echo', 'x-no-prehandler: 1'))).status, 401);
});

t.test('the plugin is encapsulated', async (t) => {
  const port = await listening(t, (app) => {
    app.register(bearerd, { log, prefix: '/api', config: CONFIG });
    app.post('/own', async ({ body }) => body);
  });
  const body = '{"a":1}';
  const lines = ['content-type: application/json', `content-length: ${body.length}`];
  const { status, body: echoed } = await ask(port, request('POST', '/own', ...lines) + body);
  t.same([status, echoed.toString()], [200, body]);
});

t.test(
  'the plugin ends with the application, and a faulty configuration fails the registration',
  async (t) => {
    const app = fastify();
    app.register(bearerd, { log, config: CONFIG });
    await app.listen({ host: '127.0.0.1', port: 0 });
    await app.close();
    const { logins } = api.stats;
    api.revokeAll();
    t.equal(api.stats.logins, logins, 'no login after the close');

    for (const options of [
      { config: { ...CONFIG, baseUrl: 'nowhere' } },
      { config: { ...CONFIG, listen: '127.0.0.1:0' } },
      { config: CONFIG, prefix: '/:tenant' },
    ]) {
      const faulty = fastify();
      faulty.register(bearerd, { log, ...options });
      await t.rejects(Promise.resolve(faulty.ready()), JSON.stringify(options.prefix ?? options.config));
      await faulty.close();
    }
  },
);

t.test('a client on another machine needs a caller key, unless that is allowed', async (t) => {
  const app = fastify();
  t.teardown(() => app.close());
  // As if the connection came in at another address of this machine.
  app.addHook('onRequest', async ({ raw }) => {
    Object.defineProperty(raw.socket, 'localAddress', { value: '192.0.2.1' });
  });
  app.register(bearerd, { log, prefix: '/closed', config: CONFIG });
  app.register(bearerd, { log, prefix: '/open', config: { ...CONFIG, allowRemoteCallers: true } });
  app.register(bearerd, { log, prefix: '/keyed', config: { ...CONFIG, callerKey: 'caller-key-1' } });
  const callers = { shop: { key: 'shop-key-1', routes: '/' }, none: { key: 'none-key-1', routes: '/none' } };
  const routes = [
    { prefix: '/', credential: 'token' },
    { prefix: '/none', credential: 'none' },
  ];
  app.register(bearerd, { log, prefix: '/named', config: { ...CONFIG, callers, routes } });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  t.equal((await ask(port, request('GET', '/closed/echo'))).status, 407);
  t.equal((await ask(port, request('GET', '/open/echo'))).status, 200);
  t.equal((await ask(port, request('GET', '/keyed/echo'))).status, 407);
  t.equal((await ask(port, request('GET', '/keyed/echo', 'x-bearerd-key: caller-key-1'))).status, 200);
  t.equal((await ask(port, request('GET', '/named/echo', 'x-bearerd-key: shop-key-1'))).status, 200);
  t.equal((await ask(port, request('GET', '/named/echo', 'x-bearerd-key: none-key-1'))).status, 403);
});

t.test('with a lenient parser of the host, bearerd still refuses ambiguous requests', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const app = fastify({ http: { insecureHTTPParser: true } });
  t.teardown(() => app.close());
  app.register(bearerd, { log, prefix: '/api', config: { ...CONFIG, baseUrl: upstream.url } });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const body = '3\r\nabc\r\n0\r\n\r\n';
  for (const lines of [
    ['transfer-encoding: chunked', 'content-length: 3'],
    ['content-length: 3', 'transfer-encoding: chunked'],
    ['content-length: 3', 'content-length: 3'],
    ['content-length: +3'],
    ['transfer-encoding: chunked', 'transfer-encoding: chunked'],
    ['transfer-encoding: xchunked'],
    ['transfer-encoding:'],
    ['content-length: 3', 'transfer-encoding:'],
    ['x-a: a\x01b', 'content-length: 3'],
    ['x-a: a\x00b', 'content-length: 3'],
    ['x-a: \x7f', 'content-length: 3'],
    ['x-a: a\rx-b: b', 'content-length: 3'],
  ]) {
    const { status } = await ask(port, request('POST', '/api/x', ...lines) + body);
    t.equal(status, 400, JSON.stringify(lines));
  }
  t.same(upstream.requests, []);
  const { status } = await ask(port, `${request('POST', '/api/x', 'transfer-encoding: chunked')}${body}`);
  t.equal(status, 200);
});

t.test('app.inject counts as a client on loopback, and gets the same answers', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const app = fastify();
  t.teardown(() => app.close());
  app.register(bearerd, { log, prefix: '/api', config: { ...CONFIG, baseUrl: upstream.url } });
  upstream.onRequest = ({ target }) => ok(`<${target}>`, 'x-a: \xe6', 'set-cookie: a=1', 'set-cookie: b=2');
  const got = await app.inject('/api/x?y=1');
  t.match(got, { statusCode: 200, body: '</x?y=1>' });
  t.same(got.headers['set-cookie'], ['a=1', 'b=2']);
  t.match(upstream.last.header('authorization'), /^Bearer tok-/);
  const sent = async () => {
    const { body, framing } = await upstream.last.message;
    return [body.toString(), framing];
  };
  for (const payload of ['abc', Buffer.from('abc'), Readable.from([Buffer.from('a'), Buffer.from('bc')])]) {
    t.equal((await app.inject({ method: 'POST', url: '/api/x', payload })).statusCode, 200);
    t.same(await sent(), ['abc', payload instanceof Readable ? 'chunked' : 'length']);
  }
  t.equal((await app.inject({ method: 'HEAD', url: '/api/x' })).statusCode, 200);
  const refused = await app.inject('/api/api/identity/v1/session');
  t.match(refused, { statusCode: 403, headers: { 'content-type': 'application/problem+json' } });
  t.equal((await app.inject({ url: '/api/x', headers: { host: 'evil.test' } })).statusCode, 403);
  upstream.onRequest = ({ connection }) =>
    connection.send(`${head('200 OK', 'content-length: 9')}half`).end();
  await t.rejects(app.inject('/api/x'), 'an answer that breaks off rejects');
});

t.test('a body of app.inject whose length is not its Content-Length is not forwarded', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const app = fastify();
  t.teardown(() => app.close());
  app.register(bearerd, { log, config: { ...CONFIG, baseUrl: upstream.url } });
  const post = async (payload: string, headers: Record<string, string>) =>
    (await app.inject({ method: 'POST', url: '/x', payload, headers })).statusCode;
  const smuggled = 'abcGET /admin HTTP/1.1\r\nhost: x\r\n\r\n';
  t.equal(await post(smuggled, { 'content-length': '3' }), 400, 'too long');
  t.equal(await post('ab', { 'content-length': '3' }), 400, 'too short');
  t.equal(await post('abc', { 'content-length': '3', 'transfer-encoding': 'chunked' }), 400);
  t.equal(await post('abc', { 'x-a': 'a\u010d\u010ax-b: b' }), 400, 'characters that would become CR and LF');
  t.equal(await post('abc', { 'content-length': '3' }), 200);
  t.notOk(upstream.requests.some(({ target }) => target === '/admin'));
});

t.test("a path that the host's router cannot decode gets the answer of bearerd", async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const seen: string[] = [];
  const app = fastify();
  t.teardown(() => app.close());
  app.addHook('onRequest', async ({ url }, reply) => {
    seen.push(url);
    if (url.startsWith('/api/closed')) await reply.code(401).send('no');
  });
  app.get('/own/*', async () => 'own');
  const config = { ...CONFIG, baseUrl: upstream.url };
  app.register(bearerd, { log, prefix: '/api', config });
  app.register(bearerd, { log, prefix: '/two', config });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  for (const [target, status, sent] of [
    ['/api/caf%E4', 200, '/caf%E4'],
    ['/api/%E4/%C3%A4?q=%E4', 200, '/%E4/%C3%A4?q=%E4'],
    ['/two/caf%E4', 200, '/caf%E4'],
    ['/api/%zz', 400, undefined],
    ['/api/%', 400, undefined],
    ['/api/x%2', 400, undefined],
    ['/api/closed/%E4', 401, undefined],
    ['/api/%E4/..%2fclosed', 400, undefined],
  ] as const) {
    for (const answer of [await ask(port, request('GET', target)), await injected(app, target)]) {
      t.equal(answer.status, status, target);
      if (status === 400) t.match(answer.text, /"code":"bad-path"/, target);
      if (sent !== undefined) t.equal(upstream.last.target, sent);
    }
  }
  t.ok(seen.includes('/api/caf%25E4'), 'the hooks of the host see the escaped path');
  t.match(
    (await ask(port, request('GET', '/own/%zz'))).text,
    /FST_ERR_BAD_URL/,
    'other paths get the answer of the host',
  );
});

async function injected(app: FastifyInstance, url: string) {
  const { statusCode, body } = await app.inject(url);
  return { status: statusCode, text: body };
}

t.test('the host may use @fastify/http-proxy or @fastify/reply-from itself', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const hosts: readonly (readonly [string, (app: FastifyInstance) => unknown])[] = [
    ['http-proxy', (app) => app.register(httpProxy, { upstream: api.url, prefix: '/own' })],
    ['reply-from, at the top', (app) => app.decorateReply('from', null as never)],
  ];
  for (const [name, own] of hosts) {
    upstream.reset();
    const port = await listening(t, (app) => {
      own(app);
      app.register(bearerd, { log, prefix: '/api', config: { ...CONFIG, baseUrl: upstream.url } });
    });
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE'])
      t.equal((await ask(port, request(method, '/api/x', 'content-length: 0'))).status, 200, name);
    t.same(
      upstream.requests.map(({ method, target }) => `${method} ${target}`),
      ['GET /x', 'HEAD /x', 'POST /x', 'DELETE /x'],
      name,
    );
  }
});
