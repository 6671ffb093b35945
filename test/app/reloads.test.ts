import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import t, { type Test } from 'tap';
import { configOf, gatewayFor } from '../support/gateway.ts';
import { CA_FILE, readTls } from '../support/h2-upstream.ts';
import { until } from '../support/raw-client.ts';

const OPTIONS = { BEARERD_ROUTES: '/=none', BEARERD_TLS_CA_FILE: CA_FILE };

const BELOW = { cert: readTls('below.pem'), key: readTls('below.key') };
const SERVER = { cert: readTls('server.pem'), key: readTls('server.key') };

/** Answers each request; records the connections of the GETs, and how many are open. */
async function tlsUpstream(t: Test) {
  const seen = { connections: new Set<Socket>(), open: 0 };
  const server = https.createServer(SERVER, (request, response) => {
    if (request.method === 'GET') seen.connections.add(request.socket);
    response.setHeader('content-type', 'application/json').end('{"accessToken":"tok","expires_in":900}');
  });
  server.on('secureConnection', (socket) => {
    seen.open++;
    socket.on('close', () => seen.open--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, baseUrl: `https://localhost:${(server.address() as AddressInfo).port}` };
}

t.test('a reload that does not affect connections keeps them', async (t) => {
  const { seen, baseUrl } = await tlsUpstream(t);
  const { gateway, get, internalErrors } = await gatewayFor(t, { baseUrl, env: OPTIONS });
  t.equal((await get('/x')).status, 200);
  const routes = { BEARERD_ROUTES: '/=none,/more=none' };
  gateway.reconfigure(await configOf({ baseUrl, env: { ...OPTIONS, ...routes } }));
  t.equal((await get('/more')).status, 200);
  t.equal(seen.connections.size, 1);
  t.same(internalErrors(), []);
});

t.test('a reload that affects connections closes the old ones', async (t) => {
  const { seen, baseUrl } = await tlsUpstream(t);
  const { gateway, get } = await gatewayFor(t, { baseUrl, env: OPTIONS });
  const changes: readonly Record<string, string>[] = [
    { BEARERD_CONNECT_TIMEOUT: '9s' },
    { BEARERD_UPSTREAM_HTTP2: 'false' },
    { BEARERD_CONNECT_TIMEOUT: '9s', BEARERD_MAX_HEADER_SIZE: '16KiB' },
  ];
  for (const [index, change] of changes.entries()) {
    t.equal((await get('/x')).status, 200);
    t.equal(seen.connections.size, index + 1);
    gateway.reconfigure(await configOf({ baseUrl, env: { ...OPTIONS, ...change } }));
    await until(() => seen.open === 0, 'an old connection stays open');
  }
});

t.test('removing a CA ends the connections that it verified', async (t) => {
  const { seen, baseUrl } = await tlsUpstream(t);
  const { gateway, get } = await gatewayFor(t, { baseUrl, env: OPTIONS });
  t.equal((await get('/x')).status, 200);
  gateway.reconfigure(await configOf({ baseUrl, env: { BEARERD_ROUTES: '/=none' } }));
  t.equal((await get('/x')).status, 502);
  await until(() => seen.open === 0, 'the old connection stays open');
});

t.test('each reload names what differs from the start, until it is as at the start again', async (t) => {
  const baseUrl = 'https://api.example.com';
  const { gateway } = await gatewayFor(t, { baseUrl, env: { BEARERD_ROUTES: '/=none' } });
  const reloadWith = async (env: Record<string, string>) =>
    gateway.reconfigure(await configOf({ baseUrl, env: { BEARERD_ROUTES: '/=none', ...env } }));
  const listen = { BEARERD_LISTEN: '127.0.0.2:0' };
  t.same(await reloadWith(listen), ['listen']);
  t.same(await reloadWith({ ...listen, BEARERD_LOG_LEVEL: 'warn' }), ['listen'], 'it is still pending');
  t.same(await reloadWith({ ...listen, BEARERD_MAX_HEADER_SIZE: '16KiB' }), ['listen', 'limits.headerSize']);
  t.same(await reloadWith({ BEARERD_MAX_HEADER_SIZE: '16KiB' }), ['limits.headerSize']);
  t.same(await reloadWith({}), []);
});

t.test('reloads do not leak memory', async (t) => {
  const { baseUrl } = await tlsUpstream(t);
  const { gateway, get } = await gatewayFor(t, { baseUrl, env: OPTIONS });
  const reload = async (times: number) => {
    for (let n = 0; n < times; n++) {
      gateway.reconfigure(await configOf({ baseUrl, env: OPTIONS }));
      if ((await get('/x')).status !== 200) throw new Error('no answer');
    }
  };
  await reload(20);
  const grownMiB: number[] = [];
  // What stays does so each time; the heap grows in its own time.
  while (grownMiB.length < 3 && !grownMiB.some((mib) => mib < 60)) {
    const before = process.memoryUsage.rss();
    await reload(100);
    grownMiB.push((process.memoryUsage.rss() - before) / 2 ** 20);
  }
  t.ok(Math.min(...grownMiB) < 60, `${grownMiB.map(Math.round)} MiB more`);
});

t.test('an intermediate CA is trusted even if it is alone in the CA file', async (t) => {
  const server = https.createServer(BELOW, (_request, response) => response.end('ok'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
  const env = { BEARERD_ROUTES: '/=none' };
  t.equal((await (await gatewayFor(t, { baseUrl, env })).get('/x')).status, 502);
  const trusting = { ...env, BEARERD_TLS_CA_FILE: CA_FILE.replace('ca.pem', 'intermediate.pem') };
  t.equal((await (await gatewayFor(t, { baseUrl, env: trusting })).get('/x')).status, 200);
});
