import t, { type Test } from 'tap';
import { CONNECTION_FAILURES } from '../../src/base/failures/words.ts';
import { PROBLEMS, type ProblemCode } from '../../src/base/problem.ts';
import { chunked, gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { later, whenRead } from '../support/later.ts';
import { PassedSocket } from '../support/passed-socket.ts';
import { RawClient, type RawResponse, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream, type UpstreamConnection } from '../support/raw-upstream.ts';

// If the upstream cannot be reached, breaks off, sends no HTTP or hangs, the client gets an answer that cannot be
// mistaken for the upstream's own. If the client leaves, the upstream request ends.

const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url });
const hasty = await gatewayFor(t, {
  baseUrl: upstream.url,
  env: { BEARERD_RESPONSE_TIMEOUT: '1s', BEARERD_IDLE_TIMEOUT: '1s' }, // What has to come before comes sooner on any machine.
});
t.beforeEach(() => upstream.reset());
t.afterEach(async () => {
  await until(() => proxy.gateway.inFlight + hasty.gateway.inFlight === 0, 'requests stay under way');
});

/** The only texts for a failure of the upstream. */
const DETAILS = new Set(Object.values(CONNECTION_FAILURES).map(({ what }) => `The upstream ${what}.`));

/** The answer is a complete problem of ours, and reveals nothing. */
function explains(t: Test, response: RawResponse, code: ProblemCode, message: string = code): void {
  const { status, title } = PROBLEMS[code];
  const { detail, instance } = JSON.parse(response.text) as { detail: string; instance: string };
  t.match(instance, /^urn:bearerd:request:[0-9a-z]{9,}$/, message);
  t.equal(response.status, status, message);
  t.equal(response.header('content-type'), 'application/problem+json', message);
  t.same(
    JSON.parse(response.text),
    { type: `urn:bearerd:problem:${code}`, title, status, detail, code, instance },
    message,
  );
  t.ok(detail === PROBLEMS[code].detail || DETAILS.has(detail), `${message}: ${detail}`);
  t.match(response.header('proxy-status'), /^bearerd; error=[a-z_]+$/, message);
  t.notMatch(
    response.head + response.text,
    /127\.0\.0\.1|E[A-Z]{4,}|UND_ERR|HPE_|undici|node|tok-\d|sa-1/,
    message,
  );
}

const closings = { FIN: (c: UpstreamConnection) => c.end(), RST: (c: UpstreamConnection) => c.reset() };
const post = `${request('POST', '/', 'content-length: 10')}1234567890`;
const soon = () => whenRead(20);

t.test('a connection that ends before a whole head of an answer gives 502', async (t) => {
  for (const [how, close] of Object.entries(closings)) {
    for (const bytes of [post, request('GET', '/')]) {
      const after = async (answer: string) => {
        upstream.reset();
        upstream.onRequest = async ({ connection }) => {
          if (answer !== '') connection.send(answer);
          await soon();
          close(connection);
        };
        const response = await proxy.ask(bytes);
        explains(t, response, 'upstream-unreachable', `${how} after ${JSON.stringify(answer)}`);
        t.equal(upstream.requests.length, 1, 'the request was sent once');
      };
      await after('');
      await after('HTTP/1.');
      await after('HTTP/1.1 200 OK\r\n');
      await after('HTTP/1.1 200 OK\r\ncontent-le');
      await after('HTTP/1.1 103 Early\r\n\r\n');

      upstream.reset();
      for (const { socket } of upstream.connections) socket.destroy();
      upstream.onConnection = close;
      explains(t, await proxy.ask(bytes), 'upstream-unreachable', `${how} after accept`);
    }
    upstream.reset();
    upstream.onHead = ({ connection }) => close(connection);
    explains(t, await proxy.ask(post), 'upstream-unreachable', `${how} after the head`);
    const client = await proxy.client();
    client.send(`${request('POST', '/', 'transfer-encoding: chunked')}5\r\n12345\r\n`);
    explains(
      t,
      await client.response(),
      'upstream-unreachable',
      `${how} in the middle of the request's body`,
    );
    client.close();
  }
});

t.test('a closed port gives 502 at once', async (t) => {
  // Bound but not listening, so that the port stays closed.
  const bound = new PassedSocket();
  t.teardown(() => bound.close());
  const { port } = bound;
  const env = { BEARERD_ROUTES: '/=none' };
  const nowhere = await gatewayFor(t, { baseUrl: `http://127.0.0.1:${port}`, env });
  for (const bytes of [request('GET', '/'), post]) {
    const response = await nowhere.ask(bytes);
    explains(t, response, 'upstream-unreachable');
    t.match(response.header('proxy-status'), 'connection_refused');
  }
  t.match(
    nowhere.events.find(({ type }) => type === 'upstream-failed'),
    {
      code: 'upstream-unreachable',
      route: '/',
    },
  );
  const unknown = await gatewayFor(t, {
    baseUrl: 'http://no-such-host.invalid',
    env: { ...env, BEARERD_ALLOW_INSECURE_UPSTREAM: 'true' },
  });
  explains(t, await unknown.get('/'), 'upstream-unreachable');
});

t.test('an answer that is not valid HTTP gives 502 upstream-invalid', async (t) => {
  const answers: Record<string, string> = {
    garbage: 'HTP/1.1 200 OK\r\n\r\n',
    'another version': 'HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nok',
    'a version of the past': 'HTTP/0.9 200 OK\r\ncontent-length: 2\r\n\r\nok',
    'a related protocol': 'RTSP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok',
    'another protocol': 'SSH-2.0-OpenSSH_9.6\r\n',
    binary: '\x15\x03\x01\x00\x02\x02\x16',
    'status 099': head('099 Odd', 'content-length: 0'),
    'status 000': head('000 Odd', 'content-length: 0'),
    'status 600': head('600 Odd', 'content-length: 0'),
    'status 999': `${head('999 Odd', 'content-length: 2')}no`,
    'status of two digits': 'HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n',
    'an unsolicited 101': head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket'),
    'a 101 without upgrade': head('101 Switching Protocols') + ok('x').toString(),
    'a broken header line': 'HTTP/1.1 200 OK\r\nno colon here\r\n\r\n',
    'a control character in a value': head('200 OK', 'x: a\x01b', 'content-length: 0'),
    'a blank in a name': head('200 OK', 'x y: 1', 'content-length: 0'),
    'a folded line': 'HTTP/1.1 200 OK\r\nx: 1\r\n 2\r\ncontent-length: 0\r\n\r\n',
    'two lengths': `${head('200 OK', 'content-length: 1', 'content-length: 2')}xx`,
    'length and chunks': head('200 OK', 'content-length: 3', 'transfer-encoding: chunked') + chunked('x'),
    'a length that is none': head('200 OK', 'content-length: x'),
    "a coding that wasn't asked for": head('200 OK', 'transfer-encoding: gzip, chunked') + chunked('x'),
    'a large head': head('200 OK', `x: ${'x'.repeat(40_000)}`),
  };
  for (const [kind, answer] of Object.entries(answers)) {
    upstream.onRequest = () => answer;
    for (const bytes of [request('GET', '/'), post]) {
      const client = await proxy.client();
      explains(t, await client.send(bytes).response(), 'upstream-invalid', kind);
      upstream.onRequest = () => ok('next');
      t.equal((await client.send(request('GET', '/')).response()).text, 'next', `${kind}: goes on`);
      upstream.onRequest = () => answer;
      client.close();
    }
  }
  upstream.onRequest = () => `${head('200 O\x01K', 'content-length: 2')}ok`;
  const odd = await proxy.get('/');
  t.ok(odd.status === 502 || (odd.status === 200 && odd.reason === ''), 'a control character in the phrase');
});

t.test('an upstream that hangs gives 504 at the response timeout', async (t) => {
  upstream.onRequest = () => undefined;
  for (const bytes of [request('GET', '/'), post]) {
    const response = await hasty.ask(bytes);
    explains(t, response, 'upstream-timeout');
    t.match(response.header('proxy-status'), 'http_response_timeout');
  }
  upstream.onRequest = () => 'HTTP/1.1 200 OK\r\ncontent-le';
  explains(t, await hasty.get('/'), 'upstream-timeout', 'in the middle of the head');
  upstream.onRequest = () => head('103 Early');
  explains(t, await hasty.get('/'), 'upstream-timeout', 'after an interim answer');
  for (const { closed } of upstream.connections) await closed;

  // The upstream reads nothing, so that the request itself cannot be sent.
  upstream.reset();
  upstream.onConnection = ({ socket }) => socket.pause();
  const client = await hasty.client();
  client.send(request('PUT', '/', `content-length: ${64 << 20}`)).send(Buffer.alloc(64 << 20));
  explains(t, await client.response(), 'upstream-timeout', 'while the upstream reads nothing');
  client.close();
});

t.test('a connection that is not made in time gives 504', async (t) => {
  // TCP connects at once; the TLS handshake never ends.
  const env = { BEARERD_ROUTES: '/=none', BEARERD_CONNECT_TIMEOUT: '300ms' };
  const deaf = await gatewayFor(t, { baseUrl: upstream.url.replace('http:', 'https:'), env });
  const response = await deaf.get('/');
  explains(t, response, 'upstream-timeout');
  t.match(response.header('proxy-status'), 'connection_timeout');
  await until(() => upstream.connections.every(({ isClosed }) => isClosed), 'the attempt stays open');
});

t.test(
  'a client that stops sending its body gets 408, and the upstream does not see the body end',
  async (t) => {
    upstream.onHead = () => undefined;
    for (const lines of [['transfer-encoding: chunked'], ['content-length: 100']]) {
      const client = await hasty.client();
      client.send(`${request('POST', '/', ...lines)}5\r\n12345\r\n`);
      explains(t, await client.response(), 'request-timeout');
      t.equal(await client.end(), 'end');
      t.equal((await upstream.last.message).whole, false);
    }
  },
);

t.test('a body without progress is cut off; a slow body is not', async (t) => {
  upstream.onRequest = () => `${head('200 OK', 'content-length: 10')}12345`;
  const client = await hasty.client();
  const stalled = await client.send(request('GET', '/')).response();
  t.same([stalled.status, stalled.text, stalled.whole], [200, '12345', false]);
  await client.end();
  await upstream.last.connection.closed;

  // The whole takes longer than the limit; the pauses between pieces are far below it, even on a busy machine.
  const patient = await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_IDLE_TIMEOUT: '2s' } });
  upstream.onRequest = async ({ connection }) => {
    connection.send(head('200 OK', 'content-length: 10'));
    for (let i = 0; i < 10; i++) {
      await new Promise((resolve) => setTimeout(resolve, 250));
      connection.send('x');
    }
  };
  t.equal((await patient.get('/')).text, 'xxxxxxxxxx');
});

t.test(
  "an answer that breaks off breaks the client's connection, after the bytes that came before",
  async (t) => {
    const bodies: Record<string, { answer: string; text: string; resets?: boolean }> = {
      'a length': { answer: `${head('200 OK', 'content-length: 100')}12345`, text: '12345' },
      'chunks, between two': {
        answer: `${head('200 OK', 'transfer-encoding: chunked')}5\r\n12345\r\n`,
        text: '12345',
      },
      'chunks, within one': {
        answer: `${head('200 OK', 'transfer-encoding: chunked')}64\r\n12345`,
        text: '12345',
      },
      'chunks, before the last line': {
        answer: `${head('200 OK', 'transfer-encoding: chunked')}5\r\n12345\r\n0\r\n`,
        text: '12345',
      },
    };
    for (const [how, close] of Object.entries(closings)) {
      for (const [kind, { answer, text }] of Object.entries(bodies)) {
        for (const version of ['1.1', '1.0']) {
          upstream.onRequest = async ({ connection }) => {
            connection.send(answer);
            await soon();
            close(connection);
          };
          const client = await proxy.client();
          client.send(`GET / HTTP/${version}\r\nhost: localhost\r\n\r\n`);
          const response = await client.response();
          const ended = await client.end();
          t.equal(response.text, text, `${how}, ${kind}, ${version}`);
          const tellsByFraming = response.framing !== 'close' && !response.whole;
          t.ok(tellsByFraming || ended === 'reset', `${how}, ${kind}, ${version}: the client can tell`);
        }
      }
    }
    for (const version of ['1.1', '1.0']) {
      upstream.onRequest = async ({ connection }) => {
        connection.send(`${head('200 OK')}12345`);
        await soon();
        connection.reset();
      };
      const client = await proxy.client();
      const response = await client.send(`GET / HTTP/${version}\r\nhost: localhost\r\n\r\n`).response();
      const ended = await client.end();
      t.equal(response.text, '12345');
      t.ok(!response.whole || ended === 'reset', `a reset is no end of a body, ${version}`);
    }
    upstream.onRequest = () => `${head('200 OK', 'transfer-encoding: chunked')}5\r\n12345\r\nZZ\r\n`;
    t.match(await proxy.get('/'), { text: '12345', whole: false }, 'invalid chunks are no end of a body');
  },
);

t.test('if the upstream closes idle connections, no GET fails and no POST is sent twice', async (t) => {
  upstream.onRequest = ({ connection }) => {
    connection.send(ok('ok'));
    later(1, () => connection.end());
  };
  const client = await proxy.client();
  const posts = new Map<string, number>();
  let failed = 0;
  for (let i = 0; i < 300; i++) {
    const get = await client.send(request('GET', `/get/${i}`)).response();
    if (get.status !== 200) t.fail(`GET ${i}: ${get.status}`);
    if (i % 3 === 0) await new Promise((resolve) => setTimeout(resolve, i % 4));
    const answer = await client.send(`${request('POST', `/post/${i}`, 'content-length: 2')}{}`).response();
    if (answer.status !== 200) failed++;
    if (answer.status !== 200 && answer.status !== 502) t.fail(`POST ${i}: ${answer.status}`);
  }
  for (const { method, target } of upstream.requests) {
    if (method === 'POST') posts.set(target, (posts.get(target) ?? 0) + 1);
  }
  t.same(
    [...posts.values()].filter((count) => count > 1),
    [],
  );
  t.ok(posts.size >= 300 - failed);
  client.close();
  await until(() => upstream.last.connection.isClosed, 'the last connection stays open');
});

t.test('a request is sent again at most once, and only after it failed on a reused connection', async (t) => {
  upstream.onRequest = () => ok('warm');
  await proxy.get('/');
  upstream.onRequest = ({ connection }) => connection.reset();
  upstream.requests.length = 0;
  explains(t, await proxy.get('/'), 'upstream-unreachable');
  t.equal(upstream.requests.length, 2, 'GET: on the reused connection, and on a new one');
  upstream.onRequest = () => ok('warm');
  await proxy.get('/');
  upstream.onRequest = ({ connection }) => connection.reset();
  upstream.requests.length = 0;
  explains(t, await proxy.ask(post), 'upstream-unreachable');
  t.equal(upstream.requests.length, 1, 'POST: never');
});

const leavings: Record<string, (client: RawClient) => void> = {
  closes: (client) => client.close(),
  resets: (client) => client.reset(),
  'ends its side': (client) => client.halfClose(),
};

t.test('a client that leaves ends its upstream request, whatever the request waits for', async (t) => {
  const situations: Record<string, { bytes: string; begin: (c: UpstreamConnection) => void; part: string }> =
    {
      'waits for the answer': { bytes: request('GET', '/'), begin: () => {}, part: '' },
      'waits with a body sent': { bytes: post, begin: () => {}, part: '' },
      'gets a body': {
        bytes: request('GET', '/'),
        begin: (c) => c.send(`${head('200 OK', 'transfer-encoding: chunked')}4\r\npart\r\n`),
        part: 'part',
      },
      'sends a body': {
        bytes: `${request('POST', '/', 'transfer-encoding: chunked')}5\r\n12345\r\n`,
        begin: () => {},
        part: '',
      },
      'sends a body of known length': {
        bytes: `${request('POST', '/', 'content-length: 100000')}12345`,
        begin: () => {},
        part: '',
      },
    };
  const before = proxy.requests().length;
  for (const [how, leave] of Object.entries(leavings)) {
    for (const [when, { bytes, begin, part }] of Object.entries(situations)) {
      upstream.reset();
      upstream.onHead = ({ connection }) => begin(connection);
      const client = await RawClient.to(proxy.port, { allowHalfOpen: true });
      client.send(bytes);
      await until(() => upstream.requests.length === 1 && client.received.includes(part), `${how}, ${when}`);
      leave(client);
      const { connection, message } = upstream.last;
      await until(() => connection.isClosed, `${how} while it ${when}: the upstream request goes on`);
      if (when.startsWith('sends'))
        t.equal((await message).whole, false, 'the upstream does not see the body end');
      client.close();
    }
  }
  t.same(
    new Set(
      proxy
        .requests()
        .slice(before)
        .map(({ aborted, code }) => `${aborted} ${code}`),
    ),
    new Set(['true undefined']),
    'a client that leaves is no failure of the upstream',
  );
});

t.test(
  'a client that leaves while its request waits for a token or a connection leaves nothing behind',
  async (t) => {
    upstream.onLogin = () => undefined;
    const waiting = await gatewayFor(t, { baseUrl: upstream.url, loggedIn: false });
    for (const bytes of [request('GET', '/'), post]) {
      const client = await waiting.client();
      client.send(bytes);
      await until(() => waiting.gateway.inFlight === 1, 'no request');
      client.close();
      await until(() => waiting.gateway.inFlight === 0, 'the request does not end');
    }
    t.same(upstream.requests, []);
  },
);

t.test('a client that never reads is cut off at the idle timeout, and takes no memory', async (t) => {
  const piece = Buffer.alloc(1 << 20, 'x');
  let sent = 0;
  upstream.onRequest = ({ connection }) => {
    connection.send(head('200 OK', `content-length: ${1 << 30}`));
    const more = () => {
      while (!connection.isClosed && connection.socket.write(piece)) sent += piece.length;
    };
    connection.socket.on('drain', more);
    more();
  };
  const client = await hasty.client();
  client.socket.pause();
  client.send(request('GET', '/'));
  await until(() => upstream.requests.length === 1, 'no request');
  await until(() => upstream.last.connection.isClosed, 'the upstream connection stays open');
  t.ok(sent < 64 << 20, `${sent} bytes were read from the upstream`);
  client.close();
});

t.test('a stalled client that lacks only the end of an answer is cut off, too', async () => {
  const body = Buffer.alloc(32 << 20, 'x');
  upstream.onRequest = () => ok(body);
  const client = await hasty.client();
  client.socket.pause();
  client.send(request('GET', '/'));
  await until(() => hasty.gateway.inFlight === 1, 'no request');
  await until(() => hasty.gateway.inFlight === 0, 'the request does not end');
  client.close();
});

t.test('if both sides break at once, again and again, nothing is left open', async (t) => {
  for (let round = 0; round < 200; round++) {
    const client = await proxy.client();
    upstream.onHead = ({ connection }) => {
      if (round % 2 === 0) connection.send(`${head('200 OK', 'content-length: 100')}123`);
      connection.reset();
      client.reset();
    };
    client.send(round % 4 < 2 ? request('GET', '/') : `${request('POST', '/', 'content-length: 10')}123`);
    await client.end();
  }
  await until(() => proxy.gateway.inFlight === 0, 'requests stay');
  upstream.reset();
  t.equal((await proxy.get('/')).text, 'ok');
  await until(() => upstream.open <= 2, `${upstream.open} upstream connections stay open`);
});

t.test('none of these tests caused an internal error', async (t) => {
  for (const gateway of [proxy, hasty] satisfies TestGateway[]) t.same(gateway.internalErrors(), []);
});
