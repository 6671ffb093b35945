import t, { type Test } from 'tap';
import { chunked, gatewayFor, request } from '../support/gateway.ts';
import { later } from '../support/later.ts';
import { until } from '../support/raw-client.ts';
import { head, ok, RawUpstream, type UpstreamConnection } from '../support/raw-upstream.ts';

// A connection is reused only when nothing more can follow the last answer: neither the end of the connection nor
// surplus bytes. Otherwise a request could fail, or get an answer that is not its own (RFC 9112 §6.3, §9.3).

async function started(t: Test) {
  const upstream = await RawUpstream.startedFor(t);
  return { upstream, ...(await gatewayFor(t, { baseUrl: upstream.url })) };
}

const EVIL = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nEVIL';
const POST = `${request('POST', '/', 'content-length: 4')}body`;

/** An answer of this many bytes, head included. */
function sized(bytes: number): string {
  const lines = head('200 OK', 'content-length: 60000', 'x: ');
  const length = bytes - lines.length;
  return head('200 OK', `content-length: ${length}`, 'x: ') + 'a'.repeat(length);
}

for (const [what, end] of Object.entries({
  'in order': (connection: UpstreamConnection) => connection.end(),
  'by a reset': (connection: UpstreamConnection) => setImmediate(() => connection.reset()),
})) {
  t.test(`no POST is lost on connections that end right after their answer, ${what}`, async (t) => {
    const { upstream, client } = await started(t);
    upstream.onRequest = ({ connection }) => {
      connection.send(ok('whole'));
      end(connection);
    };
    const statuses = new Map<string, number>();
    const one = async () => {
      const own = await client();
      for (let n = 0; n < 25; n++) {
        const { status, text } = await own.send(POST).response();
        statuses.set(`${status} ${text}`, (statuses.get(`${status} ${text}`) ?? 0) + 1);
      }
      own.close();
    };
    await Promise.all(Array.from({ length: 12 }, one));
    t.same([...statuses], [['200 whole', 300]]);
  });
}

for (const bytes of [65_535, 65_536, 65_537, 2 * 65_536, 32 * 65_536]) {
  t.test(`surplus bytes after an answer of ${bytes} bytes do not answer a pipelined request`, async (t) => {
    const { upstream, client } = await started(t);
    for (let n = 0; n < 5; n++) {
      let requests = 0;
      upstream.onRequest = () => (++requests === 1 ? sized(bytes) + EVIL : ok('own'));
      const own = await client();
      own.send(request('GET', '/1') + request('GET', '/2'));
      await own.response();
      t.equal((await own.response()).text, 'own');
      own.close();
    }
  });
}

/** A whole answer of the upstream, the surplus bytes behind it, and the method of the request. */
const SURPLUS: Record<string, { method?: string; answer: string; behind: string }> = {
  'a second answer': { answer: ok('first').toString(), behind: EVIL },
  'a body to HEAD': {
    method: 'HEAD',
    answer: head('200 OK', `content-length: ${EVIL.length}`),
    behind: EVIL,
  },
  'a body to 204': { answer: head('204 No Content'), behind: EVIL },
  'a body to 304': { answer: head('304 Not Modified', `content-length: ${EVIL.length}`), behind: EVIL },
  'what is longer than its length': { answer: ok('first').toString(), behind: `x${EVIL}` },
  'what follows the last chunk': {
    answer: head('200 OK', 'transfer-encoding: chunked') + chunked('first'),
    behind: EVIL,
  },
};

for (const [what, { method = 'GET', answer, behind }] of Object.entries(SURPLUS)) {
  t.test(`${what}, in the same piece or later, never answers another request`, async (t) => {
    const { upstream, client } = await started(t);
    for (const when of ['in the same piece', 'before the next request', 'behind the next request']) {
      upstream.onRequest = ({ target }) =>
        target === '/own' ? ok('own') : when === 'in the same piece' ? answer + behind : answer;
      const [first, other] = [await client(), await client()];
      await first.send(request(method, '/')).response(method);
      const { connection } = upstream.last;
      // Surplus bytes and request are both in the kernel before the proxy reads.
      if (when === 'before the next request') connection.send(behind);
      first.send(request('GET', '/own'));
      other.send(request('GET', '/own'));
      if (when === 'behind the next request') connection.send(behind);
      t.equal((await first.response()).text, 'own', `${when}: this client`);
      t.equal((await other.response()).text, 'own', `${when}: another client`);
      first.close();
      other.close();
    }
  });
}

t.test('an origin that sends surplus bytes gets each request on a new connection', async (t) => {
  const { upstream, get } = await started(t);
  upstream.onRequest = () => ok('first');
  await get('/');
  await get('/');
  t.equal(upstream.connections.length, 1);
  upstream.last.connection.send(EVIL);
  await until(() => upstream.connections[0]!.isClosed, 'the connection stays open');
  upstream.onRequest = ({ connection }) => {
    connection.send(ok('own'));
    later(30, () => connection.send(EVIL));
  };
  for (let n = 0; n < 10; n++) t.equal((await get('/')).text, 'own');
  t.equal(upstream.connections.length, 11);
});

t.test('a connection that stays open is reused, also by requests with a body', async (t) => {
  const { upstream, client } = await started(t);
  const own = await client();
  for (let n = 0; n < 100; n++) await own.send(request('GET', '/')).response();
  t.equal(upstream.connections.length, 1, 'requests that can be sent again share one connection');
  own.send(request('GET', '/').repeat(20));
  for (let n = 0; n < 20; n++) await own.response();
  t.equal(upstream.connections.length, 1, 'pipelined requests share it, too');
  for (let n = 0; n < 200; n++) await own.send(POST).response();
  t.ok(upstream.connections.length < 60, `${upstream.connections.length} connections`);
});
