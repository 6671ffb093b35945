import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TlsOptions } from 'node:tls';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { start } from '../support/cli.ts';
import { request } from '../support/gateway.ts';
import { CA_FILE } from '../support/h2-upstream.ts';
import { ask, happens } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

// Options of Node that allow lenient HTTP or weak TLS. A company may set them in NODE_OPTIONS for another program.

const NODE_OPTIONS = '--insecure-http-parser --tls_min_v1.0 --tls-cipher-list=ALL:eNULL:@SECLEVEL=0';
const tlsFile = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url)));

async function running(t: Test, env: Record<string, string>) {
  t.testdir({});
  const proxy = start(t, ['start'], {
    BEARERD_LISTEN: '127.0.0.1:0',
    BEARERD_ADMIN_LISTEN: 'off',
    BEARERD_TLS_CA_FILE: CA_FILE,
    NODE_OPTIONS,
    ...env,
  });
  const [, port] = await proxy.until(/listening on http:\/\/127\.0\.0\.1:(\d+)"/);
  return { proxy, get: () => ask(Number(port), request('GET', '/')) };
}

const WEAK: Record<string, { server: TlsOptions; client: object }> = {
  'TLS 1.1': {
    server: { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT:@SECLEVEL=0' },
    client: { minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' },
  },
  'TLS without encryption': {
    server: { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0' },
    client: { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0' },
  },
};

for (const [what, { server: weak, client }] of Object.entries(WEAK)) {
  t.test(`an upstream with ${what} is refused, whatever NODE_OPTIONS says`, async (t) => {
    let heads = 0;
    const server = createServer(
      { cert: tlsFile('server.pem'), key: tlsFile('server.key'), ...weak },
      (socket) =>
        socket
          .on('error', () => {})
          .on('data', () => {
            heads++;
            socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
          }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const lax = connect({
      port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: tlsFile('ca.pem'),
      ...client,
    });
    await happens(lax, 'secureConnect');
    lax.destroy();
    const { proxy, get } = await running(t, {
      BEARERD_BASE_URL: `https://localhost:${port}`,
      BEARERD_API_KEY: 'canary-api-key',
    });
    t.equal((await get()).status, 502);
    t.equal(heads, 0);
    for (const option of ['--insecure-http-parser', '--tls-min-v1.0', '--tls-cipher-list'])
      await proxy.until(new RegExp(`"msg":"${option} has no effect`));
  });
}

t.test('a login parses its answer strictly, whatever NODE_OPTIONS says', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const grant = JSON.stringify({ accessToken: 'tok-1', expires_in: 3600 });
  upstream.onLogin = () =>
    `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${grant.length.toString(16)}\r\n${grant}\r\n0\r\n\r\n`;
  const { proxy } = await running(t, {
    BEARERD_BASE_URL: upstream.url,
    BEARERD_CLIENT_ID: 'sa-1',
    BEARERD_CLIENT_SECRET: 'client-secret',
  });
  await proxy.until(/"msg":"[^"]*login failed/);
  t.notMatch(proxy.output(), /logged in/);
});
