import { constants } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { Relay } from '../faults/relay.ts';
import { chunked, gatewayFor, request } from '../support/gateway.ts';
import { answer, fieldsOf, type Http2Request, Http2Upstream } from '../support/h2-upstream.ts';
import { later } from '../support/later.ts';
import { happens, PATIENCE_MS, until, within } from '../support/raw-client.ts';

// Failures that only HTTP/2 has: streams that end while their connection lives, and the reverse.

/** Waits for the answer to a PING: then the other side has read all earlier frames. */
function reached(session: Http2Request['session']): Promise<void> {
  return within(
    PATIENCE_MS,
    new Promise((resolve) => session.ping(() => resolve())),
    () => 'no answer to PING',
  );
}

const BREAKS: Record<string, (request: Http2Request, upstream: Http2Upstream) => void> = {
  'RST_STREAM without an error': ({ stream }) => stream.destroy(),
  'RST_STREAM INTERNAL_ERROR': ({ stream }) => stream.destroy(new Error('broken')),
  'GOAWAY with an error': ({ session }) => session.destroy(new Error('broken')),
  'the end of the connection': ({ session }, upstream) => upstream.socketOf(session).destroy(),
};

for (const [what, breakOff] of Object.entries(BREAKS)) {
  for (const lines of [[], [['content-length', '100']]] as [string, string][][]) {
    t.test(
      `${what} in a body ${lines.length > 0 ? 'with' : 'without'} a length breaks the client's connection`,
      async (t) => {
        const upstream = await Http2Upstream.startedFor(t);
        upstream.onRequest = (request) => {
          if (request.target !== '/broken') return answer(request, 'ok');
          request.stream.respond(fieldsOf(200, lines));
          request.stream.write('part');
          later(50, () => breakOff(request, upstream));
        };
        const { client, get, requests } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
        t.equal((await get('/first')).status, 200);
        const broken = await client();
        const response = await broken.send(request('GET', '/broken')).response();
        t.match(response, { status: 200, text: 'part', whole: false });
        await broken.end();
        t.equal((await get('/after')).text, 'ok');
        t.match(requests()[1], { code: 'upstream-unreachable', aborted: false });
      },
    );
  }

  t.test(`${what} before an answer gives 502, and the next request is served`, async (t) => {
    const upstream = await Http2Upstream.startedFor(t);
    upstream.onRequest = (request) =>
      request.target === '/broken' ? breakOff(request, upstream) : answer(request, 'ok');
    const { get, ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
    t.equal((await get('/first')).status, 200);
    const post = await ask(`${request('POST', '/broken', 'content-length: 2')}{}`);
    t.equal(post.status, 502);
    t.match(JSON.parse(post.text), { code: 'upstream-unreachable' });
    t.equal((await get('/after')).text, 'ok');
    t.equal(
      upstream.requests.filter(({ target }) => target === '/broken').length,
      1,
      'the request was not sent again',
    );
  });
}

t.test('a client that leaves ends only its own stream', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onHead = (request) =>
    request.target === '/kept' ? undefined : request.target === '/x' && answer(request, 'ok');
  const { client, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  await get('/x');
  const [kept, leaving] = [await client(), await client()];
  kept.send(request('GET', '/kept'));
  leaving.send(request('GET', '/left'));
  await until(() => upstream.requests.length === 3, 'no requests');
  const left = upstream.requests.find(({ target }) => target === '/left')!;
  leaving.close();
  await until(() => left.stream.closed, 'the stream stays open');
  t.equal(left.stream.rstCode, constants.NGHTTP2_CANCEL);
  answer(upstream.requests.find(({ target }) => target === '/kept')!, 'kept');
  t.equal((await kept.response()).text, 'kept');
  t.equal(upstream.handshakes, 1);
});

for (const framing of ['chunked', 'with a length']) {
  t.test(`an upload that breaks off (${framing}) does not end in order upstream`, async (t) => {
    const upstream = await Http2Upstream.startedFor(t);
    upstream.onHead = () => {};
    const { client } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
    for (const begun of [0, 10, 70_000]) {
      const one = await client();
      const part = 'a'.repeat(begun);
      if (framing === 'chunked') {
        one.send(`${request('POST', '/up', 'transfer-encoding: chunked')}1\r\na\r\n`);
        if (begun > 0) one.send(`${begun.toString(16)}\r\n${part}\r\n`);
      } else {
        one.send(`${request('POST', '/up', 'content-length: 500000')}a${part}`);
      }
      const seen = upstream.requests.length;
      await until(
        () => upstream.requests.length > seen && upstream.last.received().length === begun + 1,
        'no body',
      );
      one.close();
      t.equal(await upstream.last.ended, 'broken');
    }
    t.equal(upstream.handshakes, 1);
  });
}

t.test('an answer with trailers is whole for a client that reads slowly', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const size = 3_000_000;
  upstream.onRequest = ({ stream }) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }));
    stream.end(Buffer.alloc(size, 'a'));
  };
  const { client } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  const slow = await client();
  slow.socket.pause();
  slow.send(request('GET', '/'));
  await sleep(300);
  slow.socket.resume();
  const response = await slow.response();
  t.equal(response.body.length, size);
  t.equal(response.whole, true);
  t.equal(response.trailers, '');
});

for (const how of ['close', 'destroy'] as const) {
  t.test(
    `an answer that has arrived stays whole for a slow client when the upstream ends the connection (${how})`,
    async (t) => {
      const upstream = await Http2Upstream.startedFor(t);
      const size = 8_000_000;
      upstream.onRequest = (request) => answer(request, Buffer.alloc(size, 'a'));
      const { client, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
      const slow = await client();
      slow.send(request('GET', '/'));
      slow.socket.pause();
      await until(() => upstream.requests.length === 1, 'no request');
      await sleep(100);
      const { session, stream } = upstream.last;
      const read = slow.response();
      // Lets the client read until the last byte has left the upstream.
      const pull = setInterval(() => {
        slow.socket.once('data', () => slow.socket.pause()); // Two pieces at most; the rest stays in the proxy.
        slow.socket.resume();
      }, 5);
      await happens(stream, 'close').finally(() => clearInterval(pull));
      await reached(session); // Bytes that the library has given to the system must have arrived, too.
      if (how === 'close') session.close();
      else upstream.socketOf(session).destroySoon();
      await sleep(200);
      slow.socket.resume();
      const response = await read;
      t.equal(response.body.length, size);
      t.equal(response.whole, true);
      upstream.onRequest = (request) => answer(request, 'ok');
      t.equal((await get('/')).text, 'ok');
    },
  );
}

t.test(
  'a request that the upstream refuses with REFUSED_STREAM is sent again at most three times',
  async (t) => {
    const upstream = await Http2Upstream.startedFor(t);
    let refusals = 0;
    upstream.onRequest = (request) => {
      if (refusals-- > 0) request.stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else answer(request, request.received());
    };
    const { ask, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
    t.equal((await get('/')).status, 200);
    refusals = 1;
    t.match(await ask(`${request('POST', '/', 'content-length: 4')}body`), { status: 200, text: 'body' });
    refusals = 1;
    t.match(await get('/'), { status: 200 });
    refusals = 3;
    t.match(await get('/'), { status: 200 });
    refusals = 4;
    t.equal((await get('/')).status, 502);
    t.equal(refusals, 0);
  },
);

t.test(
  'after HTTP_1_1_REQUIRED the next request goes up in HTTP/1.1, and the same request too if that is safe',
  async (t) => {
    for (const how of ['RST_STREAM', 'GOAWAY'] as const) {
      const upstream = await Http2Upstream.startedFor(t);
      const code = constants.NGHTTP2_HTTP_1_1_REQUIRED;
      upstream.onRequest = ({ stream, session }) => {
        if (how === 'RST_STREAM') stream.close(code);
        else session.goaway(code, stream.id!);
      };
      const { ask, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
      t.match(await get('/'), { status: 200, text: 'by HTTP/1.1' }, how);
      t.match(await ask(`${request('POST', '/', 'content-length: 1')}x`), {
        status: 200,
        text: 'by HTTP/1.1',
      });
      t.equal(upstream.requests.length, 1);
    }
    const upstream = await Http2Upstream.startedFor(t);
    upstream.onRequest = ({ stream }) => stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED);
    const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
    const post = `${request('POST', '/', 'content-length: 1')}x`;
    t.equal((await ask(post)).status, 502, 'the upstream may have acted on the request');
    t.match(await ask(post), { status: 200, text: 'by HTTP/1.1' });
  },
);

t.test('after GOAWAY requests in flight end, and later ones use a new connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onRequest = (request) => request.target !== '/slow' && answer(request, 'ok');
  const { client, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  await get('/');
  const slow = await client();
  slow.send(request('GET', '/slow'));
  await until(() => upstream.last.target === '/slow', 'no request');
  const before = upstream.last;
  before.session.goaway();
  await reached(before.session);
  t.equal((await get('/next')).text, 'ok');
  t.not(upstream.last.session, before.session);
  answer(before, 'late');
  t.equal((await slow.response()).text, 'late');
  t.equal(upstream.handshakes, 2);
});

t.test('a request that GOAWAY leaves unprocessed is sent again on a new connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onRequest = (request) => {
    if (upstream.handshakes > 1 || request.target === '/') answer(request, request.received());
    else request.session.goaway(constants.NGHTTP2_NO_ERROR, request.stream.id! - 2);
  };
  const { ask, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  await get('/');
  t.match(await ask(`${request('POST', '/a', 'content-length: 4')}body`), { status: 200, text: 'body' });
  t.equal(upstream.handshakes, 2);
});

t.test(
  'on a stale connection a request without a body is sent again, and one with a body gets 502',
  async (t) => {
    const upstream = await Http2Upstream.startedFor(t);
    const { ask, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
    await get('/');
    let cuts = 1;
    upstream.onRequest = (request) => {
      if (cuts-- > 0) upstream.socketOf(request.session).destroy();
      else answer(request, 'ok');
    };
    t.match(await get('/stale'), { status: 200, text: 'ok' });
    cuts = 1;
    t.match(await ask(`${request('POST', '/', 'content-length: 4')}body`), { status: 502 });
    t.equal((await get('/')).text, 'ok');
    cuts = 2;
    t.match(await get('/stale'), { status: 502 });
    t.equal((await get('/')).text, 'ok');
  },
);

t.test('an answer that comes before the end of the upload reaches the client', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onHead = (request) => {
    answer(request, 'too large', 413);
    request.stream.on('finish', () => request.stream.close(constants.NGHTTP2_NO_ERROR));
  };
  const { client, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  for (let n = 0; n < 5; n++) {
    const one = await client();
    one.send(`${request('POST', '/', 'content-length: 5000000')}${'a'.repeat(200_000)}`);
    const response = await one.response();
    t.match(response, { status: 413, text: 'too large', whole: true });
    t.match(response.header('connection'), 'close');
    one.close();
  }
  upstream.onHead = undefined;
  t.equal((await get('/')).text, 'ok');
  t.equal(upstream.handshakes, 1);
});

t.test('an answer with headers that are too large gives 502, and other requests continue', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const large = { '/a': 33_000, '/b': 70_000, '/c': 300_000, '/fits': 31_000 } as Record<string, number>;
  upstream.onHead = (request) => {
    const size = large[request.target];
    if (size === undefined) return;
    const lines = Array.from(
      { length: Math.ceil(size / 10_000) },
      (_, n) => [`x-${n}`, 'a'.repeat(Math.min(10_000, size - n * 10_000))] as [string, string],
    );
    answer(request, 'x', 200, ...lines);
  };
  const { client, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  const other = await client();
  other.send(request('GET', '/other'));
  await until(() => upstream.requests.length === 1, 'no request');
  for (const target of ['/a', '/b', '/c']) {
    const response = await get(target);
    t.equal(response.status, 502, target);
    t.match(JSON.parse(response.text), { code: 'upstream-invalid' }, target);
  }
  t.equal((await get('/fits')).status, 200);
  answer(upstream.requests[0]!, 'other');
  t.equal((await other.response()).text, 'other');
});

t.test('an unusual request does not disturb others on the connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onRequest = (request) => request.target !== '/other' && answer(request, 'ok');
  const { client, ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  const other = await client();
  other.send(request('GET', '/other'));
  await until(() => upstream.requests.length === 1, 'no request');
  for (const lines of [
    ['Content-Type: a', 'content-type: b', 'Referer: a', 'Referer: b'],
    [
      'TE: gzip',
      'Connection: TE, x-a',
      'X-A: 1',
      'Keep-Alive: 1',
      'Proxy-Connection: x',
      'HTTP2-Settings: a',
    ],
    ['__proto__: 1', 'constructor: 2', 'X-Empty:'],
    [`X-Long: ${'a'.repeat(20_000)}`],
    Array.from({ length: 500 }, (_, n) => `x-${n}: 1`),
  ]) {
    t.equal((await ask(request('GET', '/strange', ...lines))).status, 200, `${lines[0]}`);
  }
  t.equal((await ask(request('PROPFIND', '/strange'))).status, 200);
  t.equal(
    (await ask(`${request('GET', '/strange', 'transfer-encoding: chunked')}${chunked('a')}`)).status,
    200,
  );
  answer(upstream.requests[0]!, 'other');
  t.equal((await other.response()).text, 'other');
  t.equal(upstream.handshakes, 1);
});

t.test('if both sides break at once, again and again, nothing is left open', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const { gateway, client, get, internalErrors } = await gatewayFor(t, {
    baseUrl: upstream.url,
    env: upstream.env,
  });
  for (let round = 0; round < 120; round++) {
    const one = await client();
    upstream.onHead = ({ stream, session }) => {
      if (round % 2 === 0) {
        stream.respond({ ':status': 200 });
        stream.write('123');
      }
      if (round % 3 === 0) upstream.socketOf(session).destroy();
      else stream.destroy();
      one.reset();
    };
    one.send(round % 4 < 2 ? request('GET', '/') : `${request('POST', '/', 'content-length: 10')}123`);
    await one.end();
  }
  await until(() => gateway.inFlight === 0, 'requests stay under way');
  upstream.onHead = undefined;
  t.equal((await get('/')).text, 'ok');
  await until(
    () => upstream.sessions.filter(({ destroyed }) => !destroyed).length === 1,
    'connections stay open',
  );
  t.same(internalErrors(), []);
});

t.test('on a dead network path one request times out, and the next uses a new connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const env = { ...upstream.env, BEARERD_RESPONSE_TIMEOUT: '2s' };
  const relay = await Relay.startedFor(t, upstream.port);
  const { get, internalErrors } = await gatewayFor(t, {
    baseUrl: `https://localhost:${relay.port}`,
    env,
    lookup: (_name, _options, found) => found(null, [{ address: relay.address, family: 4 }]),
  });
  t.equal((await get('/first')).status, 200);
  relay.set({ blackhole: 'links' });
  t.equal((await get('/lost')).status, 504);
  t.equal((await get('/next')).status, 200);
  t.equal(upstream.handshakes, 2, 'the next request used a new connection');
  t.same(internalErrors(), []);
});

t.test('a client that leaves before its answer does not end a working connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const { get, client } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  t.equal((await get('/first')).status, 200);
  upstream.onRequest = (request) => request.target !== '/never' && answer(request, 'ok');
  const leaver = await client();
  const before = upstream.requests.length;
  leaver.send(request('GET', '/never'));
  await until(() => upstream.requests.length > before, 'no request');
  leaver.close();
  await until(() => upstream.requests[before]!.stream.destroyed, 'the stream stays open');
  await sleep(200);
  for (let n = 0; n < 3; n++) t.equal((await get('/other')).status, 200);
  t.equal(upstream.handshakes, 1);
});
