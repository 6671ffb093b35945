import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { writeAtOnce } from '../../src/upstream/one-write.ts';
import { happens, until } from '../support/raw-client.ts';

const HEAD = 'POST / HTTP/1.1\r\nx: \u00e9\r\n\r\n';

t.test('a later write does not change bytes that the kernel has not taken yet', async (t) => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await happens(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const opened = async () => {
    const accepted = happens(server, 'connection');
    const socket = connect(port, '127.0.0.1');
    await happens(socket, 'connect');
    const [peer] = (await accepted) as [Socket];
    return { socket, peer };
  };
  const { socket: slow, peer } = await opened();
  const { socket: quick, peer: other } = await opened();
  t.teardown(() => {
    for (const socket of [slow, quick, peer, other]) socket.destroy();
    server.close();
  });
  const bodies: Buffer[] = [];
  await until(() => {
    const body = Buffer.alloc(16_000, bodies.length % 251);
    bodies.push(body);
    writeAtOnce(slow, HEAD, body);
    return slow.writableLength > 100_000;
  }, 'the kernel takes all');
  t.equal(writeAtOnce(quick, HEAD, Buffer.alloc(16_000, 255)), true);
  slow.end();
  const received: Buffer[] = [];
  peer.on('data', (piece: Buffer) => received.push(piece)).resume();
  await happens(peer, 'end');
  const sent = bodies.flatMap((body) => [Buffer.from(HEAD, 'latin1'), body]);
  t.ok(Buffer.concat(received).equals(Buffer.concat(sent)), 'all bytes arrive, in order');
});

t.test('a head and body that are too large for one write are not written', async (t) => {
  const socket = connect(1, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  t.equal(writeAtOnce(socket, HEAD, Buffer.alloc(24 * 1024)), false);
  t.equal(socket.writableLength, 0);
});
