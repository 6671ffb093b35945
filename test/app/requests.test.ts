import t from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { type RawClient, until } from '../support/raw-client.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

// The requests of one connection: where each begins and ends, in whatever pieces they come, and one answer to each.

const YAML = `
routes:
  - { prefix: /, credential: token }
  - { prefix: /denied, credential: deny }
`;
const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: YAML });
t.beforeEach(() => upstream.reset());

const GET = request('GET', '/get');
const POST = `${request('POST', '/post', 'content-length: 3')}x\r\n`;
const CHUNKED = `${request('POST', '/chunked', 'transfer-encoding: chunked')}2\r\n\r\r\r\n0\r\n\r\n`;
const TRAILERS = `${request('POST', '/trailers', 'transfer-encoding: chunked')}1\r\n\n\r\n0\r\nx-a: b\r\n\r\n`;

/** Sends the bytes in two pieces. The proxy reads the first before the second comes. */
async function sendCut(client: RawClient, bytes: string, at: number): Promise<void> {
  client.send(bytes.slice(0, at));
  if (at >= bytes.length) return;
  await new Promise((resolve) => setTimeout(resolve, 3));
  client.send(bytes.slice(at));
}

t.test('a bare CR before a request line is refused, after any request and in any pieces', async (t) => {
  for (const before of ['', GET, POST, CHUNKED, TRAILERS, GET + CHUNKED])
    for (const line of ['\rGET /b', '\n\rGET /b', '\r\n\rGET /b', '\r\r\nGET /b', '\r\n\r\r\n\r\nGET /b']) {
      const bytes = `${before}${line} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
      const good = [...before.matchAll(/ HTTP/g)].length;
      const cuts = Array.from({ length: line.length + 2 }, (_, n) => before.length + n - 1).filter(
        (at) => at > 0,
      );
      for (const at of [...cuts, bytes.length]) {
        upstream.reset();
        const client = await proxy.client();
        await sendCut(client, bytes, at);
        const what = JSON.stringify([before.slice(0, 10), line, at - before.length]);
        for (let n = 0; n < good; n++) t.equal((await client.response()).status, 200, what);
        t.equal((await client.response()).status, 400, what);
        t.equal(await client.end(), 'end', what);
        t.notOk(
          upstream.requests.some(({ target }) => target === '/b'),
          what,
        );
      }
    }
});

t.test('empty lines before a request line are ignored', async (t) => {
  for (const before of ['', GET, POST, CHUNKED, TRAILERS])
    for (const empty of ['', '\r\n', '\n', '\n\r\n', '\r\n\r\n\n']) {
      const bytes = `${before}${empty}GET /b HTTP/1.1\r\nhost: localhost\r\n\r\n`;
      for (let at = before.length; at <= before.length + empty.length + 1; at++) {
        const client = await proxy.client();
        await sendCut(client, bytes, at);
        if (before !== '') t.equal((await client.response()).status, 200);
        t.equal((await client.response()).status, 200, JSON.stringify([before.slice(0, 10), empty, at]));
        client.close();
      }
    }
});

t.test('a malformed body of a pipelined request gets its 400 at once', async (t) => {
  const bad = request('POST', '/bad', 'transfer-encoding: chunked');
  for (const body of ['zz\r\n', '3\r\nabcd\r\n', '3\nabc', '3 4\r\n', '3;\r\n', '-1\r\n']) {
    for (const before of [GET, GET + GET, POST]) {
      const bytes = `${before}${bad}${body}`;
      for (const at of [bytes.length, before.length, before.length + bad.length]) {
        upstream.reset();
        upstream.onRequest = async () => {
          await new Promise((resolve) => setTimeout(resolve, 10));
          return ok('slow');
        };
        const client = await proxy.client();
        await sendCut(client, bytes, at);
        for (let n = 0; n < before.split(' HTTP').length - 1; n++)
          t.equal((await client.response()).text, 'slow');
        const response = await client.response();
        t.same([response.status, JSON.parse(response.text).code], [400, 'bad-request'], JSON.stringify(body));
        t.equal(await client.end(), 'end');
      }
    }
  }
});

t.test('pipelined requests are answered one by one, however many come at once', async (t) => {
  const client = await proxy.client();
  const all = Array.from({ length: 2_000 }, (_, n) =>
    n % 3 === 0
      ? `${request('POST', `/${n}`, 'content-length: 2')}hi`
      : n % 3 === 1
        ? `${request('POST', `/${n}`, 'transfer-encoding: chunked')}2;a\r\nhi\r\n0\r\n\r\n`
        : request('GET', `/${n}`),
  );
  upstream.onRequest = ({ target }) => ok(target);
  client.send(all.join(''));
  for (const n of all.keys()) t.equal((await client.response()).text, `/${n}`);
  client.close();
});

t.test('a refused request with half a body gets one answer, and the connection ends', async (t) => {
  for (const [framing, half, rest] of [
    ['content-length: 10', 'half', `rest..${GET}`],
    ['content-length: 10', '', GET],
    ['transfer-encoding: chunked', '5\r\nhalf', 'zz\r\nzz\r\n'],
    ['transfer-encoding: chunked', '', `0\r\n\r\n${GET}`],
  ] as const) {
    const client = await proxy.client();
    client.send(request('POST', '/denied', framing) + half);
    const response = await client.response();
    t.same([response.status, response.header('connection')], [403, 'close'], framing);
    client.send(rest);
    t.equal(await client.end(), 'end');
    t.equal(client.received.match(/HTTP\/1\.1 /g)?.length, 1, 'one answer');
  }
  t.same(upstream.requests, []);
  const whole = await proxy.client();
  for (const bytes of [
    `${request('POST', '/denied', 'content-length: 4')}body`,
    `${request('POST', '/denied', 'transfer-encoding: chunked')}4\r\nbody\r\n0\r\n\r\n`,
    `${request('OPTIONS', '*', 'content-length: 4')}body`,
    request('POST', '/denied'),
  ])
    t.notMatch(
      (await whole.send(bytes).response()).header('connection'),
      /close/,
      'after a whole body the connection stays open',
    );
  whole.close();
});

t.test('white space is legal in chunk extensions, and around chunked', async (t) => {
  for (const coding of ['chunked\t', 'chunked \t ', '\tchunked\t\t', ' CHUNKED \t'])
    for (const line of [
      '3',
      '3 ; a=b',
      '3\t;a',
      '3; a',
      '3 ;a = "x ; \\" y"',
      '03 ; a = b ; c',
      'A;b'.replace('A', '3'),
    ]) {
      const head = request('POST', '/', `transfer-encoding: ${coding}`);
      const bytes = `${head}${line}\r\nabc\r\n0 ; z\r\nx-t: t\t\r\n\r\n${GET}`;
      for (const at of [
        bytes.length,
        head.length - 6,
        head.length - 4,
        head.length - 3,
        head.length + 2,
        head.length + 3,
      ]) {
        upstream.reset();
        const client = await proxy.client();
        await sendCut(client, bytes, at);
        const what = JSON.stringify([coding, line, at - head.length]);
        t.equal((await client.response()).status, 200, what);
        t.equal((await upstream.requests[0]!.message).body.toString(), 'abc', what);
        t.equal((await client.response()).status, 200, `${what}: the next request`);
        client.close();
      }
    }
  for (const line of [
    '3 a',
    '3 ',
    '3;',
    '3; ',
    '3 ;',
    '3;a b',
    '3;a=b c',
    '3;a ',
    ' 3',
    '3=',
    '3 =a',
    '3\t4',
  ]) {
    const client = await proxy.client();
    client.send(`${request('POST', '/', 'transfer-encoding: chunked')}${line}\r\nabc\r\n0\r\n\r\n`);
    t.equal((await client.response()).status, 400, JSON.stringify(line));
    t.equal(await client.end(), 'end');
  }
});

t.test('incomplete heads of all connections together have a memory limit', async (t) => {
  const begun = `GET /long HTTP/1.1\r\nhost: localhost\r\nx-a: ${'x'.repeat(30_000)}`;
  const clients: RawClient[] = [];
  t.teardown(() => {
    for (const client of clients) client.close();
  });
  for (let n = 0; n < 600; n++) clients.push((await proxy.client()).send(begun));
  await until(() => clients.some(({ received }) => received !== ''), 'no head is refused');
  const refused = clients.filter(({ received }) => received !== '');
  for (const { received } of refused) t.match(received, /^HTTP\/1\.1 503 .*"code":"overloaded"/s);
  t.ok(refused.length < 300, 'the other connections stay open');
  t.equal((await proxy.get('/')).status, 200, 'a whole request passes');
  const going = clients.find(({ received }) => received === '');
  t.equal((await going?.send('\r\n\r\n').response())?.status, 200);
  for (const client of clients) client.close();
  await until(async () => {
    const client = await proxy.client();
    client.send(begun);
    await new Promise((resolve) => setTimeout(resolve, 5));
    client.close();
    return client.received === '';
  }, 'the memory limit is still used up');
});

t.test('none of these tests caused an internal error', async (t) => t.same(proxy.internalErrors(), []));
