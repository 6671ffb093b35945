import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { gatewayFor } from '../support/gateway.ts';
import { ask, RawClient } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

// A Unix socket, which programs can reach and web pages cannot. For its mode see test/cli/serving.test.ts.

const HOSTS = [
  'unix',
  'docker',
  'evil.example',
  '%2Frun%2Fbearerd.sock',
  '%2Frun%2Fbearerd.sock:80',
  'a_b',
  '',
];

async function byUnixSocket(t: Test) {
  // The path of the test's own folder is too long for a socket.
  const dir = mkdtempSync(join(tmpdir(), 'bearerd-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const [proxy, admin] = [join(dir, 'proxy'), join(dir, 'admin')];
  const upstream = await RawUpstream.startedFor(t);
  const env = {
    BEARERD_LISTEN: `127.0.0.1:0,unix:${proxy}`,
    BEARERD_ADMIN_LISTEN: `127.0.0.1:0,unix:${admin}`,
  };
  const gateway = await gatewayFor(t, { baseUrl: upstream.url, env });
  const from = async (path: string, head: string) => {
    const client = await RawClient.to(path);
    const response = await client.send(`${head}\r\n\r\n`).response();
    client.close();
    return response.status;
  };
  return { ...gateway, proxy, admin, upstream, from };
}

t.test('on a Unix socket any Host is accepted, by both listeners', async (t) => {
  const { proxy, admin, upstream, from } = await byUnixSocket(t);
  for (const host of HOSTS) {
    t.equal(await from(proxy, `GET /x HTTP/1.1\r\nhost: ${host}`), 200, `proxy: ${host}`);
    t.equal(
      upstream.last.header('host'),
      `127.0.0.1:${upstream.port}`,
      'the Host of the client is not forwarded',
    );
    t.equal(await from(admin, `GET /readyz HTTP/1.1\r\nhost: ${host}`), 200, `admin: ${host}`);
  }
  for (const authority of ['unix', 'evil.example']) {
    t.equal(await from(proxy, `GET http://${authority}/x HTTP/1.1\r\nhost: ${authority}`), 200, authority);
  }
});

t.test('on TCP the Host rule holds beside a Unix socket, on both listeners', async (t) => {
  const { port, adminPort, upstream } = await byUnixSocket(t);
  for (const host of ['unix', 'evil.example', '%2Frun%2Fbearerd.sock']) {
    t.equal((await ask(port, `GET /x HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).status, 403);
    t.equal((await ask(adminPort, `GET /readyz HTTP/1.1\r\nhost: ${host}\r\n\r\n`)).status, 403);
  }
  t.equal(upstream.requests.length, 0);
});

t.test('a connection that is reset at once does not bypass the Host rule', async (t) => {
  const { port, upstream } = await byUnixSocket(t);
  const attempts = Array.from({ length: 50 }, async () => {
    const client = await RawClient.to(port);
    client.send('GET /x HTTP/1.1\r\nhost: evil.example\r\n\r\n');
    await new Promise((resolve) => setImmediate(resolve));
    client.reset();
    await client.end();
  });
  await Promise.all(attempts);
  t.equal((await ask(port, 'GET /y HTTP/1.1\r\nhost: localhost\r\n\r\n')).status, 200);
  t.equal(upstream.requests.length, 1);
});

t.test(
  "on a Unix socket a foreign Origin is refused: a server in front may pass on a browser's request",
  async (t) => {
    const { proxy, admin, from } = await byUnixSocket(t);
    for (const line of ['origin: https://evil.example', 'origin: null', 'sec-fetch-site: cross-site']) {
      t.equal(await from(proxy, `GET /x HTTP/1.1\r\nhost: unix\r\n${line}`), 403, line);
      t.equal(await from(admin, `POST /renew HTTP/1.1\r\nhost: unix\r\n${line}`), 403, line);
    }
  },
);
