import t from 'tap';
import { chunked, gatewayFor, request } from '../support/gateway.ts';
import { leastBytes, usedBytes } from '../support/memory.ts';
import { randomFrom } from '../support/random.ts';
import { RawClient, until } from '../support/raw-client.ts';
import { ok, RawUpstream } from '../support/raw-upstream.ts';

// An upload in pieces of one byte: Node makes an object and an event of each. bearerd must not add to that.

const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url });
t.beforeEach(() => upstream.reset());

const UPLOAD = request('POST', '/up', 'transfer-encoding: chunked');
const KIB = 1024;

t.test('bytes that wait take little more memory than their number', async (t) => {
  upstream.onHead = ({ connection }) => {
    connection.socket.pause();
  };
  const bytes = Buffer.from(UPLOAD + '1\r\nx\r\n'.repeat(256 * KIB), 'latin1');
  const before = await usedBytes();
  const clients = await Promise.all(Array.from({ length: 8 }, () => proxy.client()));
  for (const client of clients) client.send(bytes);
  await until(() => upstream.requests.length === clients.length, 'not all requests reach the upstream');
  let stands = 0;
  for (let n = 0, last = -1; n < 200 && stands < 10; n++) {
    const read = clients.reduce((sum, { socket }) => sum + socket.bytesWritten - socket.writableLength, 0);
    stands = read === last ? stands + 1 : 0;
    last = read;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const each = ((await leastBytes(before + 800 * KIB * clients.length)) - before) / clients.length / KIB;
  t.ok(each < 800, `${Math.round(each)} KiB each`);
  for (const client of clients) client.close();
});

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
