import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import t from 'tap';
import { READS_UPGRADE_BODIES } from '../../src/node/upgrade-body.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { gatewayFor, request } from '../support/gateway.ts';
import { until } from '../support/raw-client.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';

// When the idle limit begins anew. The test holds the clock.

const YAML = `
routes:
  - { prefix: /, credential: none, timeouts: { idle: 10s } }
  - { prefix: /limited, credential: none, timeouts: { response: 1s } }
`;
/** The sockets of the proxy to its clients, by the client's port. */
const accepted = new Map<number | undefined, Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  accepted.set(socket.remotePort, socket);
});
const clock = new FakeClock();
const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: YAML, clock });
t.beforeEach(() => upstream.reset());
t.afterEach(async () => {
  await until(() => proxy.gateway.inFlight === 0, 'requests stay under way');
});

/** Lets more than a second pass, and waits until the watchdog has looked: a request whose limit is a second then ends. */
async function pass(ms: number): Promise<void> {
  const limited = proxy.get('/limited');
  await until(() => upstream.requests.some(({ target }) => target === '/limited'), 'no request');
  upstream.requests.pop();
  await clock.advance(ms);
  t.equal((await limited).status, 504);
}

t.test('the idle limit of an answer begins anew when a slow client has read it', async (t) => {
  upstream.onHead = ({ target }) =>
    target === '/limited' ? undefined : head('200 OK', `content-length: ${1 << 30}`);
  const client = await proxy.client();
  client.socket.pause();
  client.send(request('GET', '/'));
  await until(() => upstream.requests.length > 0, 'no request');
  const { connection } = upstream.last;
  const toClient = accepted.get(client.socket.localPort)!;
  await until(() => toClient.bytesWritten > 0, 'the answer does not begin');
  const piece = Buffer.alloc(64 * 1024, 'x');
  // One piece after the other, so that nothing follows the one that is too much.
  while (!toClient.writableNeedDrain) {
    const before = toClient.bytesWritten;
    connection.send(piece);
    await until(() => toClient.bytesWritten === before + piece.length, 'the proxy does not take a piece');
  }
  client.socket.resume();
  await until(() => client.received.length === toClient.bytesWritten, 'the client does not get all of it');
  for (const piece of ['y', 'z']) {
    await pass(9_000);
    connection.send(piece);
    await until(() => client.received.endsWith(piece) || client.socket.closed, 'nothing comes');
    t.notOk(client.socket.closed);
  }
  client.close();
});

t.test(
  'after a 101, each piece of the rest of the request begins the idle limit anew',
  { skip: !READS_UPGRADE_BODIES && 'this Node reads no body before a tunnel' },
  async (t) => {
    upstream.onHead = ({ target }) =>
      target === '/limited'
        ? undefined
        : head('101 Switching Protocols', 'connection: upgrade', 'upgrade: tcp');
    const client = await proxy.client();
    client.send(`${request('POST', '/', 'connection: upgrade', 'upgrade: tcp', 'content-length: 4')}b`);
    await until(() => upstream.requests.length > 0, 'no request');
    const { connection } = upstream.last;
    for (const piece of ['o', 'd']) {
      await pass(6_000);
      client.send(piece);
      await until(() => connection.received.endsWith(piece), 'the body does not go up');
    }
    await pass(6_000);
    t.equal((await client.send('y').response()).status, 101);
    client.close();
  },
);

t.test('the tests caused no internal error', async (t) => t.same(proxy.internalErrors(), []));
