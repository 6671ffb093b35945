import { type AddressInfo, createServer, type Server } from 'node:net';
import t from 'tap';
import { bind } from '../../src/listen/bind.ts';

const LOOPBACK = ['127.0.0.1', '::1'];

t.test('a name like localhost is bound at 127.0.0.1 and ::1, wherever it leads', async (t) => {
  for (const host of ['localhost', 'LOCALHOST', 'proxy.localhost', 'localhost.']) {
    const servers: Server[] = [];
    t.teardown(() => {
      for (const server of servers) server.close();
    });
    const plain = () => {
      const server = createServer();
      servers.push(server);
      return { server, byUnixSocket: false, forRetries: false };
    };
    const url = await bind({ kind: 'tcp', host, port: 0 }, { plain });
    t.ok(url.startsWith(`http://${host}:`), url);
    const places = servers
      .map((server) => server.address() as AddressInfo | null)
      .filter((at) => at !== null);
    t.not(places.length, 0, host);
    for (const { address, port } of places) {
      t.ok(LOOPBACK.includes(address), `${host} at ${address}`);
      t.equal(port, Number(new URL(url).port));
    }
  }
});
