import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import t from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { Http2Upstream } from '../support/h2-upstream.ts';
import { later } from '../support/later.ts';
import { RawClient, until } from '../support/raw-client.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';

// If the connection of one side breaks, the other side must see a break. Only TCP can be reset: Node throws for any other socket.

t.test('a tunnel to an upstream over TLS breaks when its client is reset', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  let tunnel: Duplex | undefined;
  upstream.onHttp1 = ({ socket }) => {
    tunnel = socket;
    socket.write(head('101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket'));
  };
  const { client, gateway } = await gatewayFor(t, { baseUrl: upstream.url, env: upstream.env });
  for (const bytes of ['', 'frame']) {
    tunnel = undefined;
    const leaving = await client();
    leaving.send(request('GET', '/', 'connection: Upgrade', 'upgrade: websocket'));
    t.equal((await leaving.response()).status, 101);
    leaving.send(bytes);
    leaving.reset();
    await until(() => tunnel?.destroyed, 'the connection to the upstream stays open');
    await until(() => gateway.inFlight === 0, 'the tunnel does not end');
  }
});

t.test('an answer without an end breaks the connection of a client on a Unix socket', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'bearerd-')); // The path of the test's own folder is too long for a socket.
  t.teardown(() => rmSync(dir, { recursive: true }));
  const upstream = await RawUpstream.startedFor(t);
  upstream.onHead = ({ connection }) => {
    connection.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\na part\r\n');
    later(20, () => connection.reset());
  };
  const path = join(dir, 'proxy');
  await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_LISTEN: `127.0.0.1:0,unix:${path}` } });
  const client = await RawClient.to(path);
  client.send('GET / HTTP/1.0\r\nhost: localhost\r\n\r\n');
  await client.end();
  t.match(client.received, /a part$/);
});
