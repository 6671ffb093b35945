import { constants } from 'node:http2';
import t from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { answer, Http2Upstream } from '../support/h2-upstream.ts';

// A GOAWAY leaves later requests unprocessed (RFC 9113 §6.8). One with a small body is sent again. An upload of which a
// part was sent and not kept cannot be: it must not be on a connection that ends.

const BODY = 'x'.repeat(200_000);
const upload = (target: string) => request('POST', target, `content-length: ${BODY.length}`) + BODY;
const many = Array.from({ length: 8 }, (_, n) => n);

t.test('if an origin ends connections in use, each upload has its own connection', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onHead = (request) => {
    request.session.goaway(constants.NGHTTP2_NO_ERROR, request.stream.id!);
    request.ended.then(() => answer(request, String(request.received().length)));
  };
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  t.match(await ask(upload('/first')), { text: '200000' });
  const answers = await Promise.all(many.map((n) => ask(upload(`/${n}`))));
  t.same(new Set(answers.map(({ status, text }) => `${status} ${text}`)), new Set(['200 200000']));
  t.equal(upstream.requests.length, 9);
  t.equal(new Set(upstream.requests.map(({ session }) => session)).size, 9);
});

t.test('if an origin keeps its connections, uploads share one', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  upstream.onRequest = (request) => answer(request, String(request.received().length));
  const { ask } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  const answers = await Promise.all(many.map((n) => ask(upload(`/${n}`))));
  t.same(new Set(answers.map(({ text }) => text)), new Set(['200000']));
  t.equal(upstream.handshakes, 1);
});

t.test(
  'after one GOAWAY uploads get their own connections, and other requests still share one',
  async (t) => {
    const upstream = await Http2Upstream.startedFor(t);
    upstream.onRequest = (request) => {
      if (request.target === '/last') request.session.goaway();
      answer(request, 'ok');
    };
    const { ask, get } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
    await get('/');
    await get('/last');
    await get('/');
    t.equal(upstream.handshakes, 2);
    await Promise.all(many.map(() => ask(`${request('POST', '/', 'content-length: 4')}body`)));
    t.equal(upstream.handshakes, 2, 'requests with small bodies share a connection');
    await ask(upload('/up'));
    await ask(upload('/up'));
    t.equal(upstream.handshakes, 4);
    await get('/');
    t.equal(upstream.handshakes, 4);
  },
);
