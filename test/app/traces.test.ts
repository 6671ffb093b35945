import t, { type Test } from 'tap';
import { OpenTelemetry } from '../../src/integrations/otel/open-telemetry.ts';
import { tracingWish } from '../../src/integrations/otel/wish.ts';
import { type GatewayOptions, gatewayFor, request } from '../support/gateway.ts';
import { Http2Upstream, readTls } from '../support/h2-upstream.ts';
import { OtlpCollector, type ReceivedSpan } from '../support/otlp-collector.ts';
import { RawClient, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// The spans of requests, as a collector receives them.

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const TRACEPARENT = `traceparent: 00-${TRACE}-${PARENT}-01`;
const NEW = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])$/;

/** Otherwise each test would wait five seconds for the export. */
process.env.OTEL_BSP_SCHEDULE_DELAY = '20';

async function traced(t: Test, options: Partial<GatewayOptions> = {}) {
  const [upstream, collector] = await Promise.all([RawUpstream.startedFor(t), OtlpCollector.startedFor(t)]);
  const proxy = await gatewayFor(t, {
    baseUrl: upstream.url,
    ...options,
    tracing: (events) => {
      process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url;
      const wish = tracingWish(process.env);
      const tracing = new OpenTelemetry(wish.kind === 'on' ? wish.collector : '', events.emit);
      events.subscribe(tracing.observe);
      t.teardown(() => tracing.close());
      return tracing;
    },
  });
  /** The spans of one request: the server span, then the client spans in order. */
  const spans = async (size: number): Promise<ReceivedSpan[]> => {
    const all = await collector.trace(size);
    t.equal(all.length, size);
    collector.spans.length = 0;
    return all;
  };
  return { upstream, collector, proxy, spans };
}

t.test(
  'a trace is continued: the client’s span is the parent, and the upstream gets the ID of the client span',
  async (t) => {
    const { upstream, proxy, spans } = await traced(t);
    await proxy.get('/a/b?c=d', TRACEPARENT, 'tracestate: x=1,y=caf\xe9', 'X: 1', 'Tracestate: z=2');
    const [server, client] = await spans(2);
    t.match(server, { traceId: TRACE, parentSpanId: PARENT, kind: 'server', name: 'GET /', failed: false });
    t.match(client, {
      traceId: TRACE,
      parentSpanId: server!.spanId,
      kind: 'client',
      name: 'GET',
      failed: false,
    });
    t.same(upstream.last.all('traceparent'), [`00-${TRACE}-${client!.spanId}-01`]);
    t.same(upstream.last.all('tracestate'), ['x=1,y=caf\xe9', 'z=2'], 'tracestate passes byte for byte');
    t.match(upstream.last.header('authorization'), /^Bearer tok-/);
    t.match(proxy.requests()[0]?.trace, { traceId: TRACE, spanId: server!.spanId });
  },
);

t.test('spans have the attributes of the HTTP conventions and of bearerd, and no query', async (t) => {
  const { upstream, proxy, spans } = await traced(t, {
    yaml: 'routes: [{ prefix: /api, credential: token, rewrite: /v1 }]\n',
  });
  await proxy.get('/api/x%20y?secret=1', TRACEPARENT);
  const [server, client] = await spans(2);
  const bearerd = { 'bearerd.route': '/api', 'bearerd.credential': 'token' };
  t.same(server!.attributes, {
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'http.route': '/api',
    'network.protocol.version': '1.1',
    'url.path': '/api/x%20y',
    'url.scheme': 'http',
    ...bearerd,
  });
  t.same(client!.attributes, {
    'http.request.method': 'GET',
    'http.response.status_code': 200,
    'server.address': '127.0.0.1',
    'server.port': upstream.port,
    'url.full': `${upstream.url}/v1/x%20y`,
    ...bearerd,
  });
  t.equal(server!.name, 'GET /api');
  t.match(server!.resource, {
    'service.name': 'bearerd',
    'service.version': /^\d/,
    'telemetry.sdk.language': 'nodejs',
  });
});

t.test('for a client that speaks TLS the scheme is https', async (t) => {
  const pem = (name: string) => new URL(`../support/tls/${name}`, import.meta.url).pathname;
  const env = {
    BEARERD_LISTEN_TLS_CERT_FILE: pem('server.pem'),
    BEARERD_LISTEN_TLS_KEY_FILE: pem('server.key'),
  };
  const { proxy, spans } = await traced(t, { env });
  const client = await RawClient.secure(proxy.port, { ca: readTls('ca.pem') });
  t.equal((await client.send(request('GET', '/x')).response()).status, 200);
  client.close();
  const [server] = await spans(2);
  t.equal(server!.attributes['url.scheme'], 'https');
});

t.test('a trace begins if traceparent is missing or malformed', async (t) => {
  const { upstream, proxy, spans } = await traced(t);
  for (const lines of [
    [],
    ['traceparent:'],
    ['traceparent: x'],
    [`traceparent: 00-${TRACE}-${PARENT}`],
    [`traceparent: 00-${TRACE.toUpperCase()}-${PARENT}-01`],
    [`traceparent: 00-${'0'.repeat(32)}-${PARENT}-01`],
    [`traceparent: 00-${TRACE}-${'0'.repeat(16)}-01`],
    [`traceparent: ff-${TRACE}-${PARENT}-01`],
    [`traceparent: 00-${TRACE}-${PARENT}-01-x`],
    [TRACEPARENT, TRACEPARENT],
  ]) {
    await proxy.get(
      '/',
      ...lines,
      'tracestate: x=1',
      `Connection: ${lines.length > 0 ? 'traceparent' : 'close'}`,
    );
    const [server, client] = await spans(2);
    const [, traceId, spanId] = NEW.exec(upstream.last.all('traceparent').join())!;
    t.same([traceId, spanId], [server!.traceId, client!.spanId], lines.join());
    t.not(traceId, TRACE, lines.join());
    t.equal(server!.parentSpanId, undefined);
    t.same(upstream.last.all('tracestate'), [], 'the tracestate of a malformed trace is dropped');
  }
  await proxy.get('/', `traceparent: cc-${TRACE}-${PARENT}-01-what-the-future-will-be.like`);
  t.equal((await spans(2))[0]!.traceId, TRACE, 'a later version of traceparent is read as version 00');
});

t.test('each attempt is a client span: the second after a 401, or after a stale connection', async (t) => {
  const { upstream, proxy, spans } = await traced(t);
  const sent: string[] = [];
  upstream.onRequest = ({ header }) => {
    sent.push(header('traceparent')!);
    return sent.length === 1 ? head('401 No', 'content-length: 0') : ok('x');
  };
  t.equal((await proxy.get('/', TRACEPARENT)).status, 200);
  const [server, first, second] = await spans(3);
  t.match(server, { failed: false, attributes: { 'http.response.status_code': 200 } });
  t.match(first, { failed: true, parentSpanId: server!.spanId, attributes: { 'error.type': '401' } });
  t.match(second, {
    failed: false,
    parentSpanId: server!.spanId,
    attributes: { 'http.request.resend_count': 1 },
  });
  t.notOk('http.request.resend_count' in first!.attributes);
  t.same(
    sent,
    [first, second].map((span) => `00-${TRACE}-${span!.spanId}-01`),
  );
  upstream.onRequest = ({ connection }) => {
    if (connection.requests.length === 1) return ok('x');
    connection.reset();
    return undefined;
  };
  t.equal((await proxy.get('/')).status, 200);
  const [, stale, fresh] = await spans(3);
  t.match(stale, { failed: true, attributes: { 'error.type': 'upstream-unreachable' } });
  t.match(fresh, { failed: false, attributes: { 'http.request.resend_count': 1 } });
});

t.test('spans of a failed request have the error of the upstream, or the code of bearerd', async (t) => {
  const { upstream, proxy, spans } = await traced(t);
  const outcome = (span: ReceivedSpan | undefined) => [
    span?.failed,
    span?.attributes['error.type'],
    span?.attributes['http.response.status_code'],
  ];
  upstream.onRequest = () => head('503 Busy', 'content-length: 0');
  await proxy.get('/');
  t.same((await spans(2)).map(outcome), [
    [true, '503', 503],
    [true, '503', 503],
  ]);
  upstream.onRequest = () => head('404 No', 'content-length: 0');
  await proxy.get('/');
  t.same(
    (await spans(2)).map(outcome),
    [
      [false, undefined, 404],
      [true, '404', 404],
    ],
    'a 4xx is no error of the server span',
  );
  upstream.onRequest = ({ connection }) => connection.reset();
  await proxy.ask(request('POST', '/', 'content-length: 0'));
  t.same((await spans(2)).map(outcome), [
    [true, 'upstream-unreachable', 502],
    [true, 'upstream-unreachable', undefined],
  ]);
  upstream.onRequest = ({ connection }) => {
    connection.send(`${head('200 OK', 'content-length: 9')}abc`);
    connection.end();
  };
  await proxy.get('/').catch(() => {});
  t.same((await spans(2)).map(outcome), [
    [true, 'upstream-unreachable', 200],
    [true, 'upstream-unreachable', 200],
  ]);
  upstream.stop();
  await proxy.get('/');
  const [, unsent] = await spans(2);
  t.same(outcome(unsent), [true, 'upstream-unreachable', undefined], 'no connection was made');
});

t.test('if a client leaves, the server span and the cancelled client span say so', async (t) => {
  const { upstream, proxy, spans } = await traced(t);
  upstream.onRequest = () => undefined;
  const client = await proxy.client();
  client.send(request('GET', '/'));
  await until(() => upstream.requests.length === 1, 'the request does not reach the upstream');
  client.close();
  const [server, sending] = await spans(2);
  t.match(server, { failed: false, attributes: { 'bearerd.aborted': true } });
  t.match(sending, { failed: true, attributes: { 'error.type': 'cancelled' } });
});

t.test('an answer of bearerd is a server span with the problem code', async (t) => {
  const yaml = 'routes: [{ prefix: /open, credential: none }, { prefix: /no, credential: deny }]\n';
  const { proxy, spans } = await traced(t, { yaml });
  for (const [target, code, route] of [
    ['/a/../b', 'bad-path', undefined],
    ['/x', 'no-route', undefined],
    ['/no', 'route-denied', '/no'],
  ] as const) {
    const { status } = await proxy.get(target, TRACEPARENT);
    const [server] = await spans(1);
    t.match(server, {
      traceId: TRACE,
      failed: false,
      attributes: { 'bearerd.code': code, 'http.response.status_code': status },
    });
    t.equal(server!.attributes['http.route'], route);
  }
  await proxy.ask(request('PROPFIND', '/open'));
  const [server, client] = await spans(2);
  t.same([server!.name, client!.name], ['HTTP /open', 'HTTP']);
  for (const { attributes } of [server!, client!])
    t.match(attributes, { 'http.request.method': '_OTHER', 'http.request.method_original': 'PROPFIND' });
});

t.test('for a route with a host, http.route has the path and bearerd.route the full name', async (t) => {
  const yaml = 'routes: [{ host: orders.localhost, prefix: /open, credential: none }]\n';
  const { proxy, spans } = await traced(t, { yaml });
  await proxy.ask('GET /open/x HTTP/1.1\r\nhost: orders.localhost\r\n\r\n');
  const [server, client] = await spans(2);
  t.equal(server!.name, 'GET /open');
  t.match(server!.attributes, { 'http.route': '/open', 'bearerd.route': '//orders.localhost/open' });
  t.match(client!.attributes, { 'bearerd.route': '//orders.localhost/open' });
});

t.test('a handshake is traced like a request, and its span lasts as long as the tunnel', async (t) => {
  const { upstream, collector, proxy, spans } = await traced(t);
  upstream.onRequest = () => head('101 Go', 'connection: upgrade', 'upgrade: websocket');
  const client = await proxy.client();
  client.send(request('GET', '/ws', 'connection: upgrade', 'upgrade: websocket', TRACEPARENT));
  t.equal((await client.response()).status, 101);
  t.equal(collector.spans.length, 0);
  client.close();
  const [server, sending] = await spans(2);
  for (const span of [server, sending])
    t.match(span, { traceId: TRACE, failed: false, attributes: { 'http.response.status_code': 101 } });
  t.same(upstream.last.all('traceparent'), [`00-${TRACE}-${sending!.spanId}-01`]);
});

t.test('an HTTP/2 upstream gets traceparent, too', async (t) => {
  const h2 = await Http2Upstream.startedFor(t);
  const { proxy, spans } = await traced(t, { baseUrl: h2.url, env: h2.env });
  t.equal((await proxy.get('/x?q', TRACEPARENT, 'tracestate: a=b')).status, 200);
  const [server, client] = await spans(2);
  t.match(
    [server, client],
    [{ failed: false }, { failed: false, attributes: { 'url.full': `${h2.url}/x` } }],
  );
  const { header } = h2.requests[0]!;
  t.same([header('traceparent'), header('tracestate')], [`00-${TRACE}-${client!.spanId}-01`, 'a=b']);
});

t.test('no span, export or log line holds a token, a key or a query', async (t) => {
  const yaml = `
credentials: { key: { type: apiKey, key: canary-key, in: query, name: k } }
routes: [{ prefix: /q, credential: key }, { prefix: /, credential: token }]
`;
  const { upstream, collector, proxy, spans } = await traced(t, { yaml });
  upstream.onRequest = ({ target }) => head('302 Found', `location: ${target}`, 'content-length: 0');
  await proxy.get('/q/x?canary-query=1#', 'authorization: Bearer canary-own').catch(() => {});
  await proxy.get('/q/x?canary-query=1', 'authorization: Bearer canary-own', 'cookie: canary=1');
  await proxy.get('/?canary-query', 'x-bearerd-key: canary-caller', 'baggage: canary=1');
  t.equal(upstream.last.header('baggage'), 'canary=1', 'baggage passes as sent');
  await spans(5);
  const seen = collector.requests.map(({ text, headers }) => text + JSON.stringify(headers)).join();
  t.notMatch(seen, /canary|tok-\d|client-secret|Bearer/);
});

t.test('a trace that is not sampled is not exported, and traceparent says so', async (t) => {
  process.env.OTEL_TRACES_SAMPLER = 'always_off';
  t.teardown(() => {
    delete process.env.OTEL_TRACES_SAMPLER;
  });
  const { upstream, collector, proxy } = await traced(t);
  await proxy.get('/', TRACEPARENT);
  t.match(upstream.last.header('traceparent'), new RegExp(`^00-${TRACE}-(?!${PARENT})[0-9a-f]{16}-00$`));
  await proxy.get('/');
  t.match(upstream.last.header('traceparent'), /-00$/);
  delete process.env.OTEL_TRACES_SAMPLER;
  const parentBased = await traced(t);
  await parentBased.proxy.get('/', `traceparent: 00-${TRACE}-${PARENT}-00`);
  t.match(parentBased.upstream.last.header('traceparent'), /-00$/, 'the decision of the client counts');
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.same([collector.requests.length, parentBased.collector.requests.length], [0, 0]);
});

t.test(
  'a failing collector does not disturb requests; the log reports the loss once, and its end once',
  async (t) => {
    const { collector, proxy } = await traced(t);
    const told = (type: string) => proxy.events.filter((event) => event.type === type);
    collector.answer = 400;
    for (let n = 1; n <= 3; n++) {
      t.equal((await proxy.get('/')).status, 200);
      await until(() => collector.requests.length >= n, 'an export');
    }
    await until(() => told('traces-lost').length > 0, 'the loss is not logged');
    t.match(told('traces-lost'), [{ why: 'answers with the status 400' }]);
    collector.answer = 200;
    t.equal((await proxy.get('/')).status, 200);
    await until(() => told('traces-resumed').length > 0, 'the end of the loss is not logged');
    t.equal(told('traces-lost').length, 1);
    collector.answer = 401;
    await proxy.get('/');
    await until(() => told('traces-lost').length === 2, 'a new loss is not logged');
    t.match(told('traces-lost')[1], { why: 'refuses them (401): check OTEL_EXPORTER_OTLP_HEADERS' });
    collector.answer = 200;
    await proxy.get('/');
    await until(() => told('traces-resumed').length === 2, 'the end of the loss is not logged');
    collector.answer = 'switches';
    await proxy.get('/');
    await until(() => told('traces-lost').length === 3, 'a 101 is not logged');
    t.match(told('traces-lost')[2], { why: 'answers with the status 101' });
  },
);

t.test('spans beyond the queue are dropped, and the loss is logged once', async (t) => {
  Object.assign(process.env, { OTEL_BSP_MAX_QUEUE_SIZE: '4', OTEL_EXPORTER_OTLP_TIMEOUT: '1000' });
  t.teardown(() => {
    delete process.env.OTEL_BSP_MAX_QUEUE_SIZE;
    delete process.env.OTEL_EXPORTER_OTLP_TIMEOUT;
  });
  const { collector, proxy } = await traced(t);
  const told = () =>
    proxy.events.filter(
      (event) => event.type === 'traces-lost' && /more slowly than they end/.test(event.why),
    );
  for (let n = 1; n <= 3; n++) {
    await proxy.get('/');
    await until(() => collector.spans.length === 2 * n, 'the spans are not sent');
  }
  t.same(told(), [], 'sent spans leave the queue');
  collector.answer = 'hangs';
  for (let n = 0; n < 8; n++) t.equal((await proxy.get('/')).status, 200);
  await until(() => told().length > 0, 'the loss is not logged');
  for (let n = 0; n < 4; n++) t.equal((await proxy.get('/')).status, 200);
  t.equal(told().length, 1);
});

t.test('without tracing, traceparent and tracestate pass unchanged, whatever they hold', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url });
  await proxy.get('/', 'TraceParent: nonsense', TRACEPARENT, 'tracestate: a');
  t.same(upstream.last.all('traceparent'), ['nonsense', TRACEPARENT.slice('traceparent: '.length)]);
  t.same(upstream.last.all('tracestate'), ['a']);
  t.match(upstream.last.head, /^TraceParent: /m);
  t.notOk('trace' in proxy.requests()[0]!);
});
