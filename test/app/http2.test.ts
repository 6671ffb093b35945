import { createHash } from 'node:crypto';
import https from 'node:https';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { chunked, configOf, gatewayFor, request } from '../support/gateway.ts';
import { answer, CA_FILE, Http2Upstream, readTls } from '../support/h2-upstream.ts';
import { until } from '../support/raw-client.ts';

// An upstream that offers HTTP/2. For the content of messages see differential.test.ts, for failures
// http2-failures.test.ts.

/** A changed setting for which a reload makes new connections. */
const OTHER_CONNECTIONS = { BEARERD_CONNECT_TIMEOUT: '9s' };

t.test('requests at the same time, and one after another, share one TLS connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const { get, internalErrors } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  const burst = await Promise.all(Array.from({ length: 50 }, (_, n) => get(`/a/${n}`)));
  t.same(new Set(burst.map(({ status, text }) => `${status} ${text}`)), new Set(['200 ok']));
  for (let n = 0; n < 10; n++) t.equal((await get(`/b/${n}`)).status, 200);
  t.equal(upstream.requests.length, 60);
  t.equal(upstream.handshakes, 1);
  t.same(internalErrors(), []);
});

t.test('repeated header lines pass in order and byte for byte, both ways', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const lines: [name: string, value: string][] = [
    ['x-b', '1'],
    ['content-type', 'a'],
    ['www-authenticate', 'A'],
    ['x-b', '\xe6\x97\xa5'],
    ['www-authenticate', 'B'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['content-type', 'b'],
  ];
  upstream.onRequest = (request) => answer(request, 'x', 200, ...lines);
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  const response = await ask(
    request(
      'GET',
      '/p?q=%2F',
      'Cookie: a=1',
      'X-Name: caf\xc3\xa9',
      'Cookie: b=2',
      'Content-Type: a',
      'content-type: b',
    ),
  );
  t.same(
    response.lines.filter(
      ([name]) =>
        !['date', 'via', 'connection', 'transfer-encoding', 'keep-alive'].includes(name.toLowerCase()),
    ),
    lines,
  );
  t.equal(response.reason, 'OK');
  t.same(upstream.last.lines.slice(0, -1), [
    ['cookie', 'a=1'],
    ['x-name', 'caf\xc3\xa9'],
    ['cookie', 'b=2'],
    ['content-type', 'a'],
    ['content-type', 'b'],
    ['authorization', 'Bearer tok-1'],
  ]);
  t.same(upstream.last.pseudo, {
    ':method': 'GET',
    ':scheme': 'https',
    ':authority': `localhost:${upstream.port}`,
    ':path': '/p?q=%2F',
  });
});

t.test('HEAD, 204 and 304 keep the framing of the upstream', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  for (const [method, status, lines] of [
    ['HEAD', 200, [['content-length', '1234']]],
    ['HEAD', 200, []],
    ['GET', 204, []],
    ['GET', 304, [['content-length', '1234']]],
    ['GET', 205, []],
  ] as [string, number, [string, string][]][]) {
    upstream.onRequest = (request) => answer(request, '', status, ...lines);
    const response = await ask(request(method, '/'));
    t.match(response, { status, text: '', whole: true }, `${method} ${status}`);
    if (lines.length > 0) t.equal(response.header('content-length'), '1234', `${method} ${status}`);
  }
});

t.test('a request body passes unchanged, with any framing and method', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onRequest = (request) => answer(request, request.received());
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  for (const method of ['GET', 'POST', 'DELETE', 'PROPFIND', 'OPTIONS']) {
    const withLength = await ask(`${request(method, '/', 'content-length: 4')}body`);
    t.equal(withLength.text, 'body', method);
    t.equal(upstream.last.header('content-length'), '4', method);
    const inChunks = await ask(`${request(method, '/', 'transfer-encoding: chunked')}${chunked('bo', 'dy')}`);
    t.equal(inChunks.text, 'body', method);
    t.equal(upstream.last.header('content-length'), undefined, method);
    t.equal((await ask(request(method, '/', 'content-length: 0'))).text, '', method);
    t.equal(upstream.last.header('content-length'), '0', method);
  }
});

t.test('large bodies pass whole, both ways, several at once', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onHead = ({ stream }) => {
    stream.respond({ ':status': 200 });
    stream.pipe(stream);
  };
  const { client } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  const body = Buffer.alloc(5_000_000, 'abcdefg');
  const digest = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex');
  const echoes = Array.from({ length: 4 }, async () => {
    const one = await client();
    one.send(request('POST', '/', `content-length: ${body.length}`)).send(body);
    const response = await one.response();
    one.close();
    return digest(response.body);
  });
  t.same(new Set(await Promise.all(echoes)), new Set([digest(body)]));
  t.equal(upstream.handshakes, 1);
});

t.test('a slow reader slows down the other side, and no other request', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const piece = Buffer.alloc(65_536);
  let sent = 0;
  upstream.onHead = (request) => {
    if (request.target === '/other') return answer(request, 'ok');
    if (request.target === '/up') return request.stream.pause();
    const { stream } = request;
    const more = () => {
      do sent += piece.length;
      while (!stream.destroyed && stream.write(piece));
    };
    stream.respond({ ':status': 200 });
    stream.on('drain', more);
    more();
  };
  const { client, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  await get('/other');
  const slow = await client();
  slow.socket.pause();
  slow.send(request('GET', '/down'));
  const upload = await client();
  upload.send(request('POST', '/up', 'content-length: 100000000'));
  let taken = 0;
  const push = () => {
    do taken += piece.length;
    while (taken < 100_000_000 && upload.socket.write(piece));
  };
  upload.socket.on('drain', push);
  push();
  let before = -1;
  await until(() => {
    const stands = before === sent + taken && taken > 0 && sent > 0;
    before = sent + taken;
    return stands;
  }, 'no byte goes on');
  for (let n = 0; n < 5; n++) t.equal((await get('/other')).text, 'ok');
  t.ok(sent < 30_000_000, `${sent} bytes down`);
  t.ok(taken < 30_000_000, `${taken} bytes up`);
  slow.close();
  upload.close();
});

t.test('after a 401 the request is sent again with a new token, on the same connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onRequest = (request) => {
    if (request.header('authorization') === 'Bearer tok-1') answer(request, 'no', 401);
    else answer(request, request.received());
  };
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  t.match(await ask(`${request('POST', '/', 'content-length: 4')}body`), { status: 200, text: 'body' });
  t.equal(upstream.requests.length, 2);
  t.equal(upstream.handshakes, 1);
});

t.test('logins and upgrades use HTTP/1.1', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const { client, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  t.same(upstream.protocols, ['http/1.1']);
  await get('/');
  t.same(upstream.protocols, ['http/1.1', 'h2']);
  const upgrade = await client();
  upgrade.send(request('GET', '/live', 'connection: upgrade', 'upgrade: websocket'));
  t.match(await upgrade.response(), { status: 200, text: 'by HTTP/1.1' });
  t.same(upstream.protocols, ['http/1.1', 'h2', 'http/1.1']);
});

t.test('BEARERD_UPSTREAM_HTTP2=false uses HTTP/1.1', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const env = { ...upstream.env, BEARERD_UPSTREAM_HTTP2: 'false' };
  const { get } = await gatewayFor(t, { baseUrl: upstream.url, env });
  t.equal((await get('/')).text, 'by HTTP/1.1');
  t.same(new Set(upstream.protocols), new Set(['http/1.1']));
});

t.test(
  'an upstream that speaks only HTTP/1.1 gets requests on the connection that found this out',
  async (t) => {
    const server = https.createServer({ cert: readTls('server.pem'), key: readTls('server.key') });
    let connections = 0;
    server
      .on('secureConnection', () => connections++)
      .on('request', (request, response) => {
        request.resume();
        response.end('by HTTP/1.1');
      });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    const { get, ask } = await gatewayFor(t, {
      baseUrl: `https://localhost:${(server.address() as AddressInfo).port}`,
      env: { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none' },
    });
    t.equal((await ask(`${request('POST', '/', 'content-length: 4')}body`)).text, 'by HTTP/1.1');
    for (let n = 0; n < 5; n++) t.equal((await get('/')).text, 'by HTTP/1.1');
    // A connection that was freed just now takes no request yet, so a request may open a second one.
    t.ok(connections <= 2, `${connections} connections`);
    const burst = await Promise.all(Array.from({ length: 10 }, () => get('/')));
    t.same(new Set(burst.map(({ text }) => text)), new Set(['by HTTP/1.1']));
  },
);

t.test('a connection that turns out to be HTTP/1.1 after a reload does not stay open', async (t) => {
  const open = new Set<Socket>();
  const server = https.createServer({ cert: readTls('server.pem'), key: readTls('server.key') });
  server
    .on('secureConnection', (socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    })
    .on('request', (_request, response) => response.end('by HTTP/1.1'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A relay in front of the server, which passes connections on only after openDoor().
  const sockets: Socket[] = [];
  let letIn = (_socket: Socket) => {};
  const door = createServer((socket) => {
    sockets.push(socket.pause());
    letIn(socket);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const openDoor = () => {
    letIn = (socket) => {
      const inside = connect((server.address() as AddressInfo).port, '127.0.0.1');
      for (const each of [socket, inside]) each.on('error', () => {});
      socket.pipe(inside).pipe(socket);
    };
    for (const socket of sockets) letIn(socket);
  };
  t.teardown(() => {
    for (const each of [server, door]) each.close();
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  });
  const options = {
    baseUrl: `https://localhost:${(door.address() as AddressInfo).port}`,
    env: { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none' },
  };
  const { gateway, get } = await gatewayFor(t, options);
  const answered = get('/');
  await until(() => gateway.inFlight === 1 && sockets.length > 0, 'no connection');
  gateway.reconfigure(await configOf({ ...options, env: { ...options.env, ...OTHER_CONNECTIONS } }));
  openDoor();
  t.equal((await answered).text, 'by HTTP/1.1');
  await until(() => open.size === 0, 'a connection stays open');
});

t.test('requests under way at a reload end on their present connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onRequest = (request) => request.target !== '/slow' && answer(request, 'ok');
  const options = { baseUrl: upstream.url, env: upstream.env };
  const { gateway, get } = await gatewayFor(t, options);
  const underWay = get('/slow');
  await until(() => upstream.requests.length === 1, 'no request');
  gateway.reconfigure(await configOf({ ...options, env: { ...options.env, ...OTHER_CONNECTIONS } }));
  t.equal((await get('/next')).text, 'ok');
  t.equal(upstream.handshakes, 2);
  answer(upstream.requests[0]!, 'done');
  t.equal((await underWay).text, 'done');
  await until(() => upstream.requests[0]!.session.closed, 'the old connection stays open');
});

/** An outbound proxy that leads every tunnel to one port. */
async function connectProxy(t: Test, port: number): Promise<{ url: string; tunnels: string[] }> {
  const tunnels: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => {});
    client.once('data', (head: Buffer) => {
      tunnels.push(head.toString('latin1').split('\r\n')[0]!);
      const up = connect(port, '127.0.0.1');
      sockets.add(up);
      up.on('error', () => client.destroy());
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(up).pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, tunnels };
}

t.test('through an outbound proxy HTTP/2 is negotiated inside the tunnel', async (t) => {
  const upstream = await Http2Upstream.startedFor(t, {
    cert: readTls('elsewhere.pem'),
    key: readTls('elsewhere.key'),
  });
  const proxy = await connectProxy(t, upstream.port);
  const { get } = await gatewayFor(t, {
    baseUrl: 'https://elsewhere.example',
    env: { ...upstream.env, HTTPS_PROXY: proxy.url },
  });
  for (let n = 0; n < 5; n++) t.equal((await get('/')).text, 'ok');
  t.equal(upstream.handshakes, 1);
  t.same(proxy.tunnels, Array(2).fill('CONNECT elsewhere.example:443 HTTP/1.1'));
});
