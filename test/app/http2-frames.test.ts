import { constants } from 'node:http2';
import t, { type Test } from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { END_STREAM, type FrameConnection, FrameUpstream, TYPE } from '../support/h2-frames.ts';
import { CA_FILE } from '../support/h2-upstream.ts';
import { until } from '../support/raw-client.ts';

// Upstreams that speak HTTP/2 in ways that no library would.

async function started(t: Test, env: Record<string, string> = {}) {
  const upstream = await FrameUpstream.startedFor(t);
  const gateway = await gatewayFor(t, {
    baseUrl: upstream.url,
    env: { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none', ...env },
  });
  return { upstream, ...gateway };
}

const OK: [string, string][] = [[':status', '200']];

for (const code of [0, 1, 2, 7, 8, 11, 13]) {
  t.test(`RST_STREAM ${code} in a body breaks the client's connection`, async (t) => {
    const { upstream, client, get } = await started(t);
    upstream.onRequest = (connection, id) => {
      if (id === 1) connection.headers(id, OK).data(id, 'part').reset(id, code);
      else connection.headers(id, OK).data(id, 'ok', END_STREAM);
    };
    const broken = await client();
    const response = await broken.send(request('GET', '/')).response();
    t.equal(response.whole, false);
    await broken.end();
    t.equal((await get('/')).text, 'ok');
    t.equal(upstream.connections.length, 1);
  });
}

t.test(
  'RST_STREAM before an answer gives 502; the request is sent again only after REFUSED_STREAM',
  async (t) => {
    const { upstream, get } = await started(t);
    upstream.onRequest = (connection, id) => connection.reset(id, code);
    let code = 0;
    for (code of [0, 1, 2, 8, 11]) {
      const before = upstream.connections[0]?.frames.filter(({ type }) => type === TYPE.headers).length ?? 0;
      t.equal((await get('/')).status, 502, `${code}`);
      const after = upstream.connections[0]!.frames.filter(({ type }) => type === TYPE.headers).length;
      t.equal(after, before + 1, `${code}`);
    }
  },
);

t.test('a request that a GOAWAY with an error leaves unprocessed is sent again, even a POST', async (t) => {
  const { upstream, get, ask } = await started(t);
  upstream.onRequest = (connection, id) => {
    if (upstream.connections.length === 2) connection.headers(id, OK).data(id, 'ok', END_STREAM);
    else if (id > 1) connection.goAway(1, 2);
    else connection.headers(id, OK).data(id, 'first', END_STREAM);
  };
  t.equal((await get('/')).text, 'first');
  t.match(await ask(`${request('POST', '/', 'content-length: 1')}x`), { status: 200, text: 'ok' });
  t.equal(upstream.connections.length, 2);
});

const INVALID: Record<string, (connection: FrameConnection, id: number) => unknown> = {
  'no HTTP/2 at all': ({ socket }) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'.repeat(20)),
  'a header name in upper case': (c, id) => c.headers(id, [...OK, ['X-Upper', '1']], END_STREAM),
  'a header of one connection': (c, id) => c.headers(id, [...OK, ['connection', 'x']], END_STREAM),
  'a 101': (c, id) => c.headers(id, [[':status', '101']]),
  'no status': (c, id) => c.headers(id, [['x', '1']], END_STREAM),
  'a status past 599': (c, id) => c.headers(id, [[':status', '700']], END_STREAM),
  'a body without a head': (c, id) => c.data(id, 'body', END_STREAM),
};

for (const [what, misbehave] of Object.entries(INVALID)) {
  t.test(`${what} gives 502 upstream-invalid`, async (t) => {
    const { upstream, get, internalErrors } = await started(t);
    upstream.onRequest = misbehave;
    const response = await get('/');
    t.equal(response.status, 502);
    t.equal((JSON.parse(response.text) as { code: string }).code, 'upstream-invalid');
    upstream.onRequest = (connection, id) => connection.headers(id, OK).data(id, 'ok', END_STREAM);
    t.equal((await get('/')).text, 'ok');
    t.same(internalErrors(), []);
  });
}

t.test("a body shorter or longer than its Content-Length breaks the client's connection", async (t) => {
  const { upstream, client } = await started(t);
  for (const body of ['four', 'longer than ten']) {
    upstream.onRequest = (connection, id) =>
      connection.headers(id, [...OK, ['content-length', '10']]).data(id, body, END_STREAM);
    const one = await client();
    const response = await one
      .send(request('GET', '/'))
      .response()
      .catch(() => undefined);
    t.not(response?.whole, true, body);
    await one.end();
  }
});

t.test('white space around a header value is removed, and no line is lost', async (t) => {
  const { upstream, get } = await started(t);
  const lines = [
    ['x', ' 1 '],
    ['x', '\t2'],
    ['y', ' " z " '],
    ['empty', ''],
    ['blank', '  '],
  ] as const;
  upstream.onRequest = (connection, id) => connection.headers(id, [...OK, ...lines], END_STREAM);
  const { lines: seen } = await get('/');
  t.same(
    seen.filter(([name]) => ['x', 'y', 'empty', 'blank'].includes(name)),
    [
      ['x', '1'],
      ['x', '2'],
      ['y', '" z "'],
      ['empty', ''],
      ['blank', ''],
    ],
  );
});

// Such a line makes an answer malformed (RFC 9113 §8.2.1), but Node drops it silently. The test checks that it has no
// other effect.
t.test('a header value with a line end cannot add a header to the answer', async (t) => {
  const { upstream, get } = await started(t);
  upstream.onRequest = (connection, id) =>
    connection.headers(id, [...OK, ['x', 'a\r\nset-cookie: b'], ['y', 'c\nd']], END_STREAM);
  const { head, status } = await get('/');
  t.equal(status, 200);
  t.notMatch(head, /set-cookie|^y:/m);
});

const AFTER_THE_HEAD: Record<string, (connection: FrameConnection, id: number) => unknown> = {
  silence: () => {},
  RST_STREAM: (c, id) => c.reset(id, 2),
  GOAWAY: (c, id) => c.goAway(id, 2),
  DATA: (c, id) => c.data(id, 'body'),
};
for (const [what, play] of Object.entries(AFTER_THE_HEAD)) {
  for (const [method, status] of [
    ['HEAD', '200'],
    ['GET', '204'],
    ['GET', '304'],
  ] as const) {
    t.test(`a ${status} to ${method} reaches the client even if ${what} follows its head`, async (t) => {
      const { upstream, client } = await started(t);
      upstream.onRequest = (connection, id) => {
        connection.headers(id, [
          [':status', status],
          ['x-seen', '1'],
        ]);
        play(connection, id);
      };
      const asking = await client();
      asking.send(request(method, '/'));
      const head = await asking.response(method);
      t.equal(head.status, Number(status));
      t.equal(head.whole, true);
    });
  }
}

t.test('interim answers are dropped', async (t) => {
  const { upstream, get } = await started(t);
  upstream.onRequest = (connection, id) =>
    connection
      .headers(id, [[':status', '100']])
      .headers(id, [
        [':status', '103'],
        ['link', '<x>'],
      ])
      .headers(id, OK)
      .data(id, 'ok', END_STREAM);
  t.match(await get('/'), { status: 200, text: 'ok', interim: [] });
});

t.test(
  'an upstream that sends nothing after the TLS handshake gives 504 at the connect timeout',
  async (t) => {
    const { upstream, get } = await started(t, { BEARERD_CONNECT_TIMEOUT: '300ms' });
    upstream.onConnection = () => {};
    upstream.alive = false;
    const answers = await Promise.all([get('/a'), get('/b'), get('/c')]);
    t.same(new Set(answers.map(({ status }) => status)), new Set([504]));
  },
);

t.test('an upstream that ends each connection at once gives 502 to all waiting requests', async (t) => {
  const { upstream, get } = await started(t);
  upstream.onConnection = ({ socket }) => socket.destroy();
  const answers = await Promise.all([get('/a'), get('/b'), get('/c')]);
  t.same(new Set(answers.map(({ status }) => status)), new Set([502]));
});

t.test('an upstream gets no more concurrent streams than it allows', async (t) => {
  const { upstream, get } = await started(t);
  upstream.onConnection = (connection) =>
    connection.settings([constants.NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 2]);
  const open = new Map<FrameConnection, number>();
  let most = 0;
  upstream.onRequest = (connection, id) => {
    open.set(connection, (open.get(connection) ?? 0) + 1);
    most = Math.max(most, open.get(connection)!);
    setTimeout(() => {
      open.set(connection, open.get(connection)! - 1);
      connection.headers(id, OK).data(id, 'ok', END_STREAM);
    }, 20);
  };
  const answers = await Promise.all(Array.from({ length: 20 }, () => get('/')));
  t.same(new Set(answers.map(({ text }) => text)), new Set(['ok']));
  t.equal(most, 2);
});

t.test('an upstream that allows no stream gives 504 at the response timeout', async (t) => {
  const { upstream, get } = await started(t, { BEARERD_RESPONSE_TIMEOUT: '300ms' });
  upstream.onConnection = (connection) =>
    connection.settings([constants.NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0]);
  t.same(
    (await Promise.all([get('/a'), get('/b')])).map(({ status }) => status),
    [504, 504],
  );
});

t.test('small frames that come together reach the client together, and a single one at once', async (t) => {
  const { upstream, client } = await started(t);
  const body = 'abcdefghij'.repeat(10_000);
  upstream.onRequest = (connection, id) => connection.headers(id, OK).tinyData(id, body, END_STREAM);
  const together = await client();
  const response = await together.send(request('GET', '/')).response();
  t.ok(response.text === body);
  t.equal(response.whole, true);
  // Each chunk of the answer has a size line: a chunk for each byte would take six bytes.
  t.ok(together.received.length < 1.2 * body.length, `${together.received.length} bytes`);

  const stream: [FrameConnection, number][] = [];
  upstream.onRequest = (connection, id) => stream.push([connection.headers(id, OK), id]);
  const alone = await client();
  alone.send(request('GET', '/'));
  await until(() => stream.length === 1, 'no request');
  const [[connection, id]] = stream as [[FrameConnection, number]];
  for (const letter of 'abcd') {
    connection.data(id, letter);
    await until(() => alone.received.includes(`\r\n1\r\n${letter}\r\n`), letter);
  }
  connection.data(id, '', END_STREAM);
  t.equal((await alone.response()).text, 'abcd');
});
