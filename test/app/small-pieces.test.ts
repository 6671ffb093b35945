import t from 'tap';
import { chunked, gatewayFor, request } from '../support/gateway.ts';
import { randomFrom } from '../support/random.ts';
import { RawClient, until } from '../support/raw-client.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

// An upload in pieces of one byte: Node makes an object and an event of each. bearerd must not add to that.

const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url });
t.beforeEach(() => upstream.reset());

const UPLOAD = request('POST', '/up', 'transfer-encoding: chunked');
const KIB = 1024;

t.test('pieces that come together are sent upstream together', async (t) => {
  const letters = Array.from({ length: 100 * KIB }, (_, n) => String.fromCharCode(97 + (n % 26)));
  const { text } = await proxy.ask(UPLOAD + chunked(...letters));
  t.equal(text, 'ok');
  const { message, connection } = upstream.last;
  t.equal((await message).body.toString(), letters.join(''));
  // The length with the head and the chunk sizes.
  t.ok(connection.bytesReceived < 102 * KIB, `${connection.bytesReceived} bytes`);
});

t.test('a single piece is sent upstream at once', async (t) => {
  const client = await proxy.client();
  client.send(UPLOAD);
  const seen = () => upstream.requests.at(-1)?.connection.received ?? '';
  for (const letter of 'abc') {
    client.send(`1\r\n${letter}\r\n`);
    await until(() => seen().includes(`\r\n1\r\n${letter}`), letter);
  }
  client.send('0\r\n\r\n');
  t.equal((await client.response()).text, 'ok');
  client.close();
});

t.test('pieces of all sizes arrive whole and in order, however often the upload is paused', async (t) => {
  const random = randomFrom(7);
  const below = (most: number) => Math.floor(random() * most);
  const parts = Array.from({ length: 3_000 }, (_, n) => {
    const most = [3, 200, 5_000, 40_000][n % 4]!;
    return String.fromCharCode(97 + below(26)).repeat(1 + below(most));
  });
  upstream.onConnection = ({ socket }) => {
    const timer = setInterval(() => (socket.isPaused() ? socket.resume() : socket.pause()), 3);
    socket.on('close', () => clearInterval(timer));
  };
  upstream.onRequest = (_request, { body }) => ok(body);
  const client = await RawClient.to(proxy.port);
  client.send(UPLOAD + chunked(...parts));
  t.ok((await client.response()).text === parts.join(''));
  client.close();
});

t.test('none of these tests caused an internal error', async (t) => t.same(proxy.internalErrors(), []));
