import { type AddressInfo, connect, createServer } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { connectProxy } from '../support/connect-proxy.ts';
import { gatewayFor } from '../support/gateway.ts';
import { CA_FILE, readTls } from '../support/h2-upstream.ts';
import { later } from '../support/later.ts';

// An answer without a length, over TLS: the end of the connection ends it, and an attacker on the network can end a
// connection. close_notify shows that the server meant the end (RFC 9112 §9.8).
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n';

type Answer = (secure: TLSSocket, cut: () => void, path: string) => void;

/** Each connection goes through a relay, which can end TCP without a close_notify. */
async function secureUpstream(t: Test, answer: Answer, options: tls.TlsOptions = {}): Promise<number> {
  const cuts = new Map<number, () => void>();
  const server = tls.createServer(
    { cert: readTls('server.pem'), key: readTls('server.key'), ...options },
    (secure) => {
      secure
        .on('error', () => {})
        .on('data', (piece: Buffer) => {
          const path = piece.toString('latin1').split(' ')[1] ?? '';
          answer(secure, () => later(30, () => cuts.get(secure.remotePort!)!()), path);
        });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const relay = createServer((client) => {
    const onward = connect((server.address() as AddressInfo).port, '127.0.0.1');
    onward.on('connect', () => cuts.set(onward.localPort!, () => client.end()));
    client.on('error', () => {}).on('close', () => onward.destroy());
    onward.on('error', () => {}).on('data', (piece) => client.writable && client.write(piece));
    client.on('data', (piece) => onward.write(piece));
    onward.on('end', () => client.end());
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    relay.close();
    server.close();
  });
  return (relay.address() as AddressInfo).port;
}

const answer: Answer = (secure, cut, path) => {
  if (path === '/meant') secure.end(`${HEAD}all of it`);
  else if (path === '/empty') secure.end(HEAD);
  else if (path === '/large') secure.end(HEAD + 'x'.repeat(300_000));
  else secure.write(`${HEAD}a part`, cut);
};

async function tellsEnds(t: Test, world: { baseUrl: string; env: Record<string, string> }): Promise<void> {
  const env = { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_ROUTES: '/=none', ...world.env };
  const { get } = await gatewayFor(t, { baseUrl: world.baseUrl, env, loggedIn: false });
  t.match(await get('/cut'), { status: 200, text: 'a part', whole: false });
  t.match(await get('/meant'), { status: 200, text: 'all of it', whole: true });
  t.match(await get('/empty'), { status: 200, text: '', whole: true });
  const large = await get('/large');
  t.equal(large.text.length, 300_000);
  t.equal(large.whole, true);
  t.match(await get('/cut'), { status: 200, text: 'a part', whole: false });
}

for (const maxVersion of ['TLSv1.3', 'TLSv1.2'] as const) {
  for (const ALPNProtocols of [undefined, ['http/1.1']]) {
    t.test(
      `an end without close_notify breaks the client's connection: ${maxVersion}, ${ALPNProtocols}`,
      async (t) => {
        const port = await secureUpstream(t, answer, { maxVersion, ...(ALPNProtocols && { ALPNProtocols }) });
        await tellsEnds(t, { baseUrl: `https://localhost:${port}`, env: {} });
      },
    );
  }
}

// An outbound proxy with TLS ends its own TLS in order, however the tunnel ended.
for (const certificate of [undefined, 'server']) {
  t.test(
    `an end without close_notify breaks the client's connection through an outbound proxy ${certificate === undefined ? 'without' : 'with'} TLS`,
    async (t) => {
      const { cert, key } = { cert: readTls('elsewhere.pem'), key: readTls('elsewhere.key') };
      const port = await secureUpstream(t, answer, { cert, key });
      const proxy = await connectProxy(t, port, certificate === undefined ? {} : { certificate });
      const url = `${certificate === undefined ? 'http' : 'https'}://localhost:${proxy.port}`;
      await tellsEnds(t, { baseUrl: 'https://elsewhere.example', env: { HTTPS_PROXY: url } });
      t.ok(proxy.tunnels.length > 0);
    },
  );
}
