import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import { readTls } from '../support/h2-upstream.ts';
import { later } from '../support/later.ts';
import { ask, happens, RawClient, until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// With a certificate the listener of the proxy speaks TLS.

const pem = (name: string) => new URL(`../support/tls/${name}`, import.meta.url).pathname;
const TLS = {
  BEARERD_LISTEN_TLS_CERT_FILE: pem('server.pem'),
  BEARERD_LISTEN_TLS_KEY_FILE: pem('server.key'),
};
const OTHER = {
  BEARERD_LISTEN_TLS_CERT_FILE: pem('elsewhere.pem'),
  BEARERD_LISTEN_TLS_KEY_FILE: pem('elsewhere.key'),
};
const CA = { ca: readTls('ca.pem') };

async function world(t: Test, env: Record<string, string> = {}) {
  const upstream = await RawUpstream.startedFor(t);
  const gateway = await gatewayFor(t, { baseUrl: upstream.url, env: { ...TLS, ...env } });
  const client = (options: ConnectionOptions = {}) => RawClient.secure(gateway.port, { ...CA, ...options });
  const ask = async (bytes: string) => {
    const asking = await client();
    const response = await asking.send(bytes).response(/^\S+/.exec(bytes)?.[0]);
    asking.close();
    return response;
  };
  return { upstream, ...gateway, secure: client, ask };
}

/** The result of a handshake: the protocol, or the code of the error. */
function handshake(port: number, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ...CA, ...options });
    socket
      .on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''))
      .on('secureConnect', () => {
        resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`);
        socket.destroy();
      });
  });
}

t.test('a client may use TLS 1.2 or 1.3, with HTTP/1.1', async (t) => {
  const { gateway, port, upstream, ask } = await world(t);
  t.equal(gateway.urls[0], `https://127.0.0.1:${port}`);
  t.equal((await ask(request('GET', '/x'))).text, 'ok');
  t.equal(upstream.last.header('authorization'), 'Bearer tok-1');
  t.equal(await handshake(port, { ALPNProtocols: ['h2', 'http/1.1'] }), 'TLSv1.3 http/1.1');
  t.equal(await handshake(port, { maxVersion: 'TLSv1.2' }), 'TLSv1.2 false');
  t.match(await handshake(port, { ALPNProtocols: ['h2'] }), /NO_APPLICATION_PROTOCOL/);
  t.match(
    await handshake(port, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' }),
    /^E/,
  );
});

t.test('bodies, pipelines, ignored upgrades and tunnels work as without TLS', async (t) => {
  const { upstream, secure } = await world(t);
  const client = await secure();
  const large = 'x'.repeat(300_000);
  upstream.onRequest = (_, { body }) => ok(body.toString('latin1'));
  const posted = await client
    .send(request('POST', '/', `content-length: ${large.length}`) + large)
    .response();
  t.equal(posted.text.length, large.length);
  client.send(request('GET', '/a') + request('GET', '/b'));
  t.same([(await client.response()).status, (await client.response()).status], [200, 200]);
  const h2c = request('GET', '/', 'connection: Upgrade', 'upgrade: h2c');
  t.equal((await client.send(h2c).response()).header('connection')?.toLowerCase(), 'keep-alive');
  t.equal((await client.send(request('GET', '/c')).response()).status, 200);
  t.equal((await client.send('GET / RTSP/1.0\r\nhost: localhost\r\n\r\n').response()).status, 400);
  await client.end();
  upstream.onHead = ({ connection }) => {
    connection.send(head('101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket'));
  };
  const tunnel = await secure();
  tunnel.send(request('GET', '/', 'connection: Upgrade', 'upgrade: websocket'));
  t.equal((await tunnel.response()).status, 101);
  tunnel.send('frame');
  await until(() => upstream.last.connection.received.endsWith('frame'), 'no frame');
  upstream.last.connection.send('back');
  t.equal(await tunnel.bytes(4), 'back');
  tunnel.close();
});

t.test(
  'a client that leaves ends its upstream request, without a body and during an upload that stalls',
  async (t) => {
    const { upstream, secure, gateway } = await world(t);
    upstream.onHead = ({ connection }) => connection.socket.pause();
    for (const bytes of [
      request('GET', '/'),
      request('POST', '/', 'content-length: 90000000') + 'x'.repeat(4_000_000),
    ]) {
      const seen = upstream.requests.length;
      const client = await secure();
      client.send(bytes);
      await until(() => upstream.requests.length > seen, 'no request');
      client.close();
      await until(() => gateway.inFlight === 0, 'the request does not end');
    }
  },
);

const ALERT = 21;

/** RFC 5246 §6.2.1: one byte of type, two of version, two of length. */
function recordTypes(bytes: Buffer): number[] {
  const types: number[] = [];
  for (let at = 0; at + 5 <= bytes.length; at += 5 + bytes.readUInt16BE(at + 3)) types.push(bytes[at]!);
  return types;
}

t.test(
  'after an answer that breaks off TLS ends without close_notify, so that the client can tell',
  async (t) => {
    const { upstream, port } = await world(t);
    upstream.onHead = ({ connection, target }) => {
      connection.send('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\na part\r\n');
      if (target === '/whole') connection.send('0\r\n\r\n');
      else later(20, () => connection.reset());
    };
    // In TLS 1.2 alerts can be recognized without decryption.
    const below: Buffer[] = [];
    const relay = createServer((socket) => {
      const onward = connect(port, '127.0.0.1').on('error', () => {});
      socket.on('error', () => {}).pipe(onward);
      onward.on('data', (piece: Buffer) => void below.push(piece)).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    t.teardown(() => relay.close());
    const alerts = () => recordTypes(Buffer.concat(below)).filter((type) => type === ALERT).length;
    for (const [path, expected] of Object.entries({ '/whole': 1, '/broken': 0 })) {
      below.length = 0;
      const client = await RawClient.secure((relay.address() as AddressInfo).port, {
        ...CA,
        maxVersion: 'TLSv1.2',
      });
      client.send(`GET ${path} HTTP/1.0\r\nhost: localhost\r\n\r\n`);
      await client.end();
      t.match(client.received, /a part$/);
      t.equal(alerts(), expected, path);
    }
  },
);

t.test(
  'a request in plain HTTP gets an answer that asks for TLS, and other bytes end the connection',
  async (t) => {
    const { port, requests, upstream } = await world(t);
    const plain = await RawClient.to(port);
    const response = await plain.send(request('GET', '/x')).response();
    t.equal(response.status, 400);
    t.match(JSON.parse(response.text), { code: 'bad-request', detail: /speaks HTTPS/ });
    t.equal(await plain.end(), 'end');
    t.match(requests(), [{ status: 400, code: 'bad-request' }]);
    for (const bytes of [
      '\0'.repeat(20),
      '\r\n',
      'x'.repeat(100),
      '\x16\x03\x01\xff\xff',
      '\x16\x03\x01\0\x05\x01\0\0\x01\0',
    ]) {
      const odd = await RawClient.to(port);
      odd.send(bytes);
      if (bytes.startsWith('\x16\x03\x01\xff') || bytes === '\r\n') odd.halfClose(); // TLS would wait for more bytes.
      await odd.end();
    }
    t.equal(upstream.requests.length, 0);
  },
);

t.test('a client that leaves during the handshake no longer counts as a connection', async (t) => {
  const { port, gateway, secure } = await world(t);
  for (let n = 0; n < 40; n++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    await happens(socket, 'connect');
    if (n % 3 > 0) socket.write(Buffer.from('16030100c8010000c40303', 'hex'));
    if (n % 2 === 0) socket.resetAndDestroy();
    else socket.end();
  }
  t.equal((await (await secure()).send(request('GET', '/')).response()).status, 200);
  t.equal(gateway.inFlight, 0);
});

t.test(
  'a client past the connection limit gets its 503 over TLS, and a crowd is closed without one',
  async (t) => {
    const { port, secure } = await world(t, { BEARERD_MAX_CONNECTIONS: '1' });
    const first = await secure();
    const second = await secure();
    t.equal((await second.response()).status, 503);
    const crowd = Array.from({ length: 40 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await until(() => crowd.some(({ destroyed }) => destroyed), 'no connection is closed');
    for (const socket of crowd) socket.destroy();
    t.equal((await first.send(request('GET', '/')).response()).status, 200, 'an earlier client is served');
  },
);

t.test('Host and Origin are checked, and a page at http:// is of another origin', async (t) => {
  const { ask } = await world(t, { BEARERD_ALLOWED_HOSTS: 'api.example.com' });
  const by = async (host: string, ...lines: string[]) =>
    (await ask(`GET /x HTTP/1.1\r\n${[`host: ${host}`, ...lines].map((line) => `${line}\r\n`).join('')}\r\n`))
      .status;
  t.equal(await by('evil.example'), 403);
  t.equal(await by('127.0.0.1'), 200);
  t.equal(await by('api.example.com', 'origin: https://api.example.com'), 200);
  t.equal(await by('api.example.com', 'origin: http://api.example.com'), 403);
  t.equal(await by('localhost:9180', 'origin: http://localhost:9180'), 403);
});

t.test('new connections get a renewed certificate, and open ones stay', async (t) => {
  const { gateway, secure, port, upstream } = await world(t);
  const before = await secure();
  gateway.reconfigure(await configOf({ baseUrl: upstream.url, env: OTHER }));
  t.match(await handshake(port, {}), 'ERR_TLS_CERT_ALTNAME_INVALID');
  t.match(await handshake(port, { servername: 'elsewhere.example' }), /^TLS/);
  t.equal((await before.send(request('GET', '/')).response()).status, 200);
  t.same(
    gateway.reconfigure(await configOf({ baseUrl: upstream.url })),
    ['listenTls'],
    'switching TLS off needs a restart',
  );
});

t.test('Unix sockets and the admin listener stay without TLS', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'bearerd-')); // The path of the test's own folder is too long for a socket.
  t.teardown(() => rmSync(dir, { recursive: true }));
  for (const listen of [`unix:${dir}/a,127.0.0.1:0`, `127.0.0.1:0,unix:${dir}/b`]) {
    const { gateway, adminPort } = await world(t, {
      BEARERD_LISTEN: listen,
      BEARERD_ADMIN_LISTEN: '127.0.0.1:0',
    });
    const path = gateway.urls.find((url) => url.startsWith('unix:'))!.slice(5);
    const port = Number(new URL(gateway.urls.find((url) => url.startsWith('https:'))!).port);
    const client = await RawClient.to(path);
    t.equal((await client.send(request('GET', '/')).response()).status, 200);
    client.close();
    t.match(await handshake(port, {}), /^TLS/);
    const admin = await RawClient.to(adminPort);
    t.equal((await admin.send(request('GET', '/readyz')).response()).status, 200);
    admin.close();
  }
});

t.test('a drain ends idle connections and lets a busy one finish', async (t) => {
  const { gateway, secure, upstream } = await world(t);
  let finish = (): void => {};
  upstream.onRequest = () => new Promise((resolve) => (finish = () => resolve(ok('done'))));
  const [idle, busy] = [await secure(), await secure()];
  busy.send(request('GET', '/'));
  await until(() => upstream.requests.length === 1, 'no request');
  const drained = gateway.drain(5_000, 'SIGTERM');
  finish();
  t.match(await busy.response(), { text: 'done' });
  await Promise.all([idle.end(), busy.end()]);
  t.equal(await drained, 0);
});

t.test('a metric has the expiry of the certificate, also after a renewal', async (t) => {
  const { adminPort, gateway, upstream } = await world(t, { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' });
  const expiry = async () => {
    const { text } = await ask(adminPort, request('GET', '/metrics'));
    return Number(/^bearerd_tls_certificate_expiry_timestamp_seconds (\S+)$/m.exec(text)?.[1]);
  };
  const endOf = (name: string) => new X509Certificate(readTls(name)).validToDate.getTime() / 1000;
  t.equal(await expiry(), endOf('server.pem'));
  const expired = {
    BEARERD_LISTEN_TLS_CERT_FILE: pem('expired.pem'),
    BEARERD_LISTEN_TLS_KEY_FILE: pem('expired.key'),
  };
  gateway.reconfigure(await configOf({ baseUrl: 'http://127.0.0.1:1', env: expired }));
  t.equal(await expiry(), endOf('expired.pem'));

  const plain = await gatewayFor(t, {
    baseUrl: upstream.url,
    env: { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' },
  });
  const { text } = await ask(plain.adminPort, request('GET', '/metrics'));
  t.notMatch(text, /tls_certificate/, 'without TLS the metric is absent');
});
