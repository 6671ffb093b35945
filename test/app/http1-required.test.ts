import { constants } from 'node:http2';
import t, { type Test } from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { END_STREAM, type FrameConnection, FrameUpstream, TYPE } from '../support/h2-frames.ts';
import { CA_FILE } from '../support/h2-upstream.ts';

// An upstream that speaks HTTP/2 and asks for HTTP/1.1 (RFC 9113 §7). A GOAWAY also says which requests the upstream has
// not processed (§6.8).

const REQUIRED = constants.NGHTTP2_HTTP_1_1_REQUIRED;
const OK: [string, string][] = [[':status', '200']];
const BY_HTTP1 = { status: 200, text: 'by HTTP/1.1' };

async function started(t: Test) {
  const upstream = await FrameUpstream.startedFor(t);
  const gateway = await gatewayFor(t, {
    baseUrl: upstream.url,
    env: { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none' },
  });
  const streams = () =>
    upstream.connections.flatMap(({ frames }) => frames.filter(({ type }) => type === TYPE.headers)).length;
  return { upstream, streams, ...gateway };
}

const post = (target: string) => `${request('POST', target, 'content-length: 4')}body`;

const ENDS: Record<string, (connection: FrameConnection) => unknown> = {
  'is left open': () => {},
  'ends in order': ({ socket }) => socket.end(),
  'is destroyed': ({ socket }) => socket.destroySoon(),
};

for (const [end, finish] of Object.entries(ENDS)) {
  t.test(
    `a request that a GOAWAY with HTTP_1_1_REQUIRED left unprocessed is sent again in HTTP/1.1; the connection ${end}`,
    async (t) => {
      for (const bytes of [post('/first'), request('GET', '/first')]) {
        const { upstream, streams, ask, get } = await started(t);
        upstream.onRequest = (connection) => finish(connection.goAway(0, REQUIRED));
        t.match(await ask(bytes), BY_HTTP1);
        t.match(await ask(post('/second')), BY_HTTP1);
        t.match(await get('/third'), BY_HTTP1);
        t.equal(streams(), 1, 'HTTP/2 is not tried again');
        t.equal(upstream.http1.length, 3);
      }
    },
  );

  t.test(
    `requests on a connection that begins with HTTP_1_1_REQUIRED are sent in HTTP/1.1; the connection ${end}`,
    async (t) => {
      const { upstream, ask, get } = await started(t);
      upstream.onConnection = (connection) => finish(connection.settings().goAway(0, REQUIRED));
      const answers = await Promise.all([ask(post('/a')), get('/b'), ask(post('/c')), get('/d')]);
      for (const answer of answers) t.match(answer, BY_HTTP1);
      t.match(await ask(post('/later')), BY_HTTP1);
      t.equal(upstream.connections.length, 1, 'HTTP/2 is not tried again');
    },
  );
}

t.test('after an answer followed by HTTP_1_1_REQUIRED the next request goes up in HTTP/1.1', async (t) => {
  const { upstream, ask, get } = await started(t);
  upstream.onRequest = (connection, id) =>
    connection.headers(id, OK).data(id, 'by HTTP/2', END_STREAM).goAway(id, REQUIRED);
  t.match(await get('/'), { status: 200, text: 'by HTTP/2' });
  t.match(await ask(post('/')), BY_HTTP1);
  t.match(await get('/'), BY_HTTP1);
  t.equal(upstream.connections.length, 1);
});

t.test('of two requests only the one that the GOAWAY leaves unprocessed is sent again', async (t) => {
  const { upstream, ask, get } = await started(t);
  upstream.onRequest = (connection, id) => {
    if (id === 1) connection.headers(id, OK).data(id, 'warm', END_STREAM);
    else if (id === 5) connection.goAway(3, REQUIRED);
  };
  t.match(await get('/warm'), { text: 'warm' });
  const [covered, left] = await Promise.all([ask(post('/covered')), ask(post('/left'))]);
  t.same([covered.status, left.status].sort(), [200, 502]);
  t.equal(upstream.http1.length, 1);
});

t.test('a request whose body is too large to be kept is not sent again', async (t) => {
  const { upstream, ask } = await started(t);
  upstream.onRequest = (connection) => connection.goAway(0, REQUIRED);
  const body = 'x'.repeat(200_000);
  t.match(await ask(request('POST', '/', `content-length: ${body.length}`) + body), { status: 502 });
  t.match(await ask(request('POST', '/', `content-length: ${body.length}`) + body), BY_HTTP1);
});
