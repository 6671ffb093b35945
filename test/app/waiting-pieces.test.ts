import t from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { leastBytes, usedBytes } from '../support/memory.ts';
import { until } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';
import { untilStill } from '../support/still.ts';

// The memory of an upload in pieces of one byte to an upstream that reads nothing: Node makes an object of each piece.

const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url });

const UPLOAD = request('POST', '/up', 'transfer-encoding: chunked');
const KIB = 1024;
/** Half a second. */
const STILL_LOOKS = 100;

t.test('bytes that wait take little more memory than their number', async (t) => {
  upstream.onHead = ({ connection }) => {
    connection.socket.pause();
  };
  const bytes = Buffer.from(UPLOAD + '1\r\nx\r\n'.repeat(256 * KIB), 'latin1');
  const before = await usedBytes();
  const clients = await Promise.all(Array.from({ length: 8 }, () => proxy.client()));
  for (const client of clients) client.send(bytes);
  await until(() => upstream.requests.length === clients.length, 'not all requests reach the upstream');
  const taken = () =>
    clients.reduce((sum, { socket }) => sum + socket.bytesWritten - socket.writableLength, 0);
  await untilStill(taken, STILL_LOOKS);
  const each = ((await leastBytes(before + 800 * KIB * clients.length)) - before) / clients.length / KIB;
  t.ok(each < 800, `${Math.round(each)} KiB each`);
  for (const client of clients) client.close();
});

t.test('the test caused no internal error', async (t) => t.same(proxy.internalErrors(), []));
