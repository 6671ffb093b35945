import https from 'node:https';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { CONNECTION_FAILURES } from '../../src/base/failures/words.ts';
import type { Lookup } from '../../src/upstream/dial.ts';
import { UpstreamPools } from '../../src/upstream/pools.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import { CA_FILE, Http2Upstream, readTls } from '../support/h2-upstream.ts';
import { PATIENCE_MS, until, within } from '../support/raw-client.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';
import { StallingRelay } from '../support/stalling-relay.ts';

// How connections are made: to which address, and under which name.

const UPGRADE = ['connection: Upgrade', 'upgrade: websocket'];

/** Resolves to two addresses: the relay's, and one that refuses. */
const twoAddresses: Lookup = (_hostname, _options, callback) =>
  setImmediate(() => callback(null, [address('127.0.0.2'), address('127.0.0.3')]));
const loopback: Lookup = (_hostname, _options, callback) =>
  setImmediate(() => callback(null, [address('127.0.0.1')]));
const address = (text: string) => ({ address: text, family: 4 });

/** Runs `work` while the first address stalls, and lets it connect long after the second address has refused. */
async function whileItStalls<T>(relay: StallingRelay, act: () => Promise<T>): Promise<T> {
  await relay.stall();
  const timer = setTimeout(() => relay.goOn(), 600);
  try {
    return await act();
  } finally {
    clearTimeout(timer);
  }
}

t.test('a slow address is waited for even if the next one refuses: login, request, upgrade', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const relay = await StallingRelay.startedFor(t, upstream.port);
  const options = { baseUrl: `http://localhost:${relay.port}`, lookup: twoAddresses };
  const { ask, get, events } = await whileItStalls(relay, () => gatewayFor(t, options));
  t.notOk(events.some(({ type }) => type === 'login-failed'));
  t.equal((await whileItStalls(relay, () => get('/x'))).status, 200);
  upstream.onRequest = () => head('101 Switching Protocols', ...UPGRADE);
  const upgraded = await whileItStalls(relay, () => ask(request('GET', '/x', ...UPGRADE)));
  t.equal(upgraded.status, 101);
});

t.test('a slow address is waited for even if the next one refuses: HTTP/2', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const relay = await StallingRelay.startedFor(t, upstream.port);
  const baseUrl = `https://localhost:${relay.port}`;
  const { get } = await gatewayFor(t, { baseUrl, env: upstream.env, lookup: twoAddresses });
  t.equal((await whileItStalls(relay, () => get('/x'))).status, 200);
  t.equal(upstream.requests.length, 1);
});

t.test('a slow address is waited for even if the next one refuses: outbound proxy', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await connectProxy(t, upstream.port);
  const relay = await StallingRelay.startedFor(t, proxy.port);
  const env = {
    BEARERD_ALLOW_INSECURE_UPSTREAM: 'true',
    HTTP_PROXY: `http://proxy.example:${relay.port}`,
  };
  const { get } = await gatewayFor(t, { baseUrl: 'http://elsewhere.example', env, lookup: twoAddresses });
  t.equal((await whileItStalls(relay, () => get('/x'))).status, 200);
  t.same(new Set(proxy.tunnels), new Set(['elsewhere.example:80']));
});

t.test('a slow address is waited for no longer than the connect timeout', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const relay = await StallingRelay.startedFor(t, upstream.port);
  const baseUrl = `http://localhost:${relay.port}`;
  const env = { BEARERD_CONNECT_TIMEOUT: '400ms' };
  const { get } = await gatewayFor(t, { baseUrl, env, lookup: twoAddresses });
  await relay.stall();
  const before = performance.now();
  const response = await get('/x');
  t.match(response, { status: 504 });
  t.equal(response.header('proxy-status'), 'bearerd; error=connection_timeout');
  t.ok(performance.now() - before >= 390);
  relay.goOn();
});

t.test('a cancelled login does not go on connecting', async (t) => {
  const config = await configOf({ baseUrl: 'http://localhost:1', env: { BEARERD_CONNECT_TIMEOUT: 'off' } });
  let looked = 0;
  const pools = new UpstreamPools(config, () => looked++); // It never answers.
  t.teardown(() => pools.destroy());
  const abort = new AbortController();
  const error = new Promise((resolve) =>
    pools.ofOrigin('http://localhost:1', 0).connect((...[reason]) => resolve(reason), abort.signal),
  );
  await until(() => looked === 1, 'the name is not looked up');
  abort.abort(new Error('no longer'));
  t.match(await within(PATIENCE_MS, error, () => 'the attempt goes on'), { message: 'no longer' });
});

/** Resolves to an address that is not loopback, though a connection to it comes to this machine. */
const elsewhere: Lookup = (_hostname, _options, callback) =>
  setImmediate(() => callback(null, [address('0.0.0.0')]));

t.test('over http:// a name like localhost leads to no other machine', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const yaml =
    'credentials: { key: { type: apiKey, key: k } }\nroutes: [{ prefix: /t, credential: token }, { prefix: /k, credential: key }]';
  const { what, remedy } = CONNECTION_FAILURES['dns-elsewhere'];
  const places = [
    ...['localhost', 'api.localhost', 'API.Localhost.'].map((host) => ({ host, env: {} })),
    { host: 'api.example', env: { BEARERD_UPSTREAM_ADDRESS: 'api.localhost' } },
  ];
  for (const { host, env } of places) {
    const options = { baseUrl: `http://${host}:${upstream.port}`, env, yaml, lookup: elsewhere };
    const { ask, get, events } = await gatewayFor(t, { ...options, loggedIn: false });
    await until(() => events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
    const [failed] = events.flatMap((event) => (event.type === 'login-failed' ? [event.error] : []));
    t.ok(failed?.message.endsWith(`/session ${what} (ERR_NOT_LOOPBACK). ${remedy}`), `${failed?.message}`);
    const response = await get('/k');
    t.equal(response.status, 502);
    t.equal(response.header('proxy-status'), 'bearerd; error=destination_ip_prohibited');
    t.match(JSON.parse(response.text), { code: 'upstream-unreachable', detail: `The upstream ${what}.` });
    t.match(
      events.find(({ type }) => type === 'upstream-failed'),
      { remedy },
    );
    t.equal((await ask(request('GET', '/k', ...UPGRADE))).status, 502, 'an upgrade');
  }
  t.same([upstream.open, upstream.logins, upstream.requests], [0, 0, []]);
});

t.test('a name like localhost may lead anywhere where clear text is allowed, until a reload', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const options = { baseUrl: `http://api.localhost:${upstream.port}`, lookup: elsewhere };
  const env = { BEARERD_ALLOW_INSECURE_UPSTREAM: 'true' };
  const { gateway, get } = await gatewayFor(t, { ...options, env });
  t.equal((await get('/x')).status, 200);
  gateway.reconfigure(await configOf(options));
  t.equal((await get('/x')).status, 502, 'an open connection is not used again');
});

t.test('with https:// the certificate decides where a name like localhost may lead', async (t) => {
  const upstream = await Http2Upstream.startedFor(t);
  const baseUrl = `https://localhost:${upstream.port}`;
  const { get } = await gatewayFor(t, { baseUrl, env: upstream.env, lookup: elsewhere });
  t.equal((await get('/x')).status, 200);
});

/** An API over HTTP/1.1 that records the server name and the Host of each request. */
async function namedApi(t: Test) {
  const names = new Set<string>();
  const hosts = new Set<string | undefined>();
  const tls = { cert: readTls('server.pem'), key: readTls('server.key') };
  const server = https.createServer({
    ...tls,
    SNICallback: (name, done) => done(null, void names.add(name)),
  });
  server.on('request', ({ headers, method }, response) => {
    hosts.add(headers.host);
    response.end(method === 'POST' ? '{"accessToken":"tok-1","expires_in":900}' : 'ok');
  });
  server.on('upgrade', ({ headers }, socket) => {
    hosts.add(headers.host);
    socket.end(head('101 Switching Protocols', ...UPGRADE));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { names, hosts, port: (server.address() as AddressInfo).port };
}

t.test('a dot at the end of a host name is sent in Host and to the resolver, and not in TLS', async (t) => {
  const api = await namedApi(t);
  const looked = new Set<string>();
  const lookup: Lookup = (hostname, options, callback) => {
    looked.add(hostname);
    loopback(hostname, options, callback);
  };
  const env = { BEARERD_TLS_CA_FILE: CA_FILE };
  const { ask, get } = await gatewayFor(t, { baseUrl: `https://localhost.:${api.port}`, env, lookup });
  t.equal((await get('/x')).status, 200);
  t.equal((await ask(request('GET', '/x', ...UPGRADE))).status, 101);
  t.same(api.names, new Set(['localhost']));
  t.same(api.hosts, new Set([`localhost.:${api.port}`]));
  t.same(looked, new Set(['localhost.']));

  const upstream = await Http2Upstream.startedFor(t);
  const other = await gatewayFor(t, { baseUrl: `https://localhost.:${upstream.port}`, env, lookup });
  t.equal((await other.get('/x')).status, 200);
  t.equal(upstream.last.pseudo[':authority'], `localhost.:${upstream.port}`);
});

t.test('an upstream by IP address gets no server name in TLS, and its certificate is verified', async (t) => {
  const api = await namedApi(t);
  const env = { BEARERD_TLS_CA_FILE: CA_FILE };
  const { get } = await gatewayFor(t, { baseUrl: `https://127.0.0.1:${api.port}`, env });
  t.equal((await get('/x')).status, 200);
  t.same(api.names, new Set());
  const wrong = await gatewayFor(t, { baseUrl: `https://127.0.0.5:${api.port}`, env, loggedIn: false });
  await until(() => wrong.events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
});

t.test(
  'a TLS session is resumed on the next connection, and only after the certificate matched the name',
  async (t) => {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const resumed: boolean[] = [];
      const server = https.createServer(
        { cert: readTls('server.pem'), key: readTls('server.key'), maxVersion },
        ({ method }, response) => {
          response.setHeader('connection', 'close');
          response.end(method === 'POST' ? '{"accessToken":"tok-1","expires_in":900}' : 'ok');
        },
      );
      server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      t.teardown(() => server.close());
      const { port } = server.address() as AddressInfo;
      const env = { BEARERD_TLS_CA_FILE: CA_FILE };
      const { get } = await gatewayFor(t, { baseUrl: `https://localhost:${port}`, env });
      for (let n = 0; n < 4; n++) t.equal((await get('/x')).status, 200);
      t.ok(resumed.includes(true), `${maxVersion}: ${resumed}`);

      const wrong = https.createServer({
        cert: readTls('elsewhere.pem'),
        key: readTls('elsewhere.key'),
        maxVersion,
      });
      await new Promise<void>((resolve) => wrong.listen(0, '127.0.0.1', resolve));
      t.teardown(() => wrong.close());
      const { port: other } = wrong.address() as AddressInfo;
      const yaml = 'credentials: { key: { type: apiKey, key: k } }\nroutes: [{ prefix: /, credential: key }]';
      const refused = await gatewayFor(t, { baseUrl: `https://localhost:${other}`, env, yaml });
      for (let n = 0; n < 4; n++) t.equal((await refused.get('/x')).status, 502, maxVersion);
    }
  },
);

t.test('a POST uses the kept connection if the name can no longer be resolved', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  let isDown = false;
  const lookup: Lookup = (_name, _options, callback) =>
    isDown
      ? callback(Object.assign(new Error('down'), { code: 'EAI_AGAIN' }), [])
      : callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const baseUrl = upstream.url.replace('127.0.0.1', 'localhost');
  const proxy = await gatewayFor(t, { baseUrl, lookup, env: { BEARERD_ROUTES: '/=none' } });
  t.equal((await proxy.get('/')).status, 200);
  isDown = true;
  // A connection must rest before a POST uses it again: the POST waits for that.
  for (let n = 0; n < 5; n++) {
    t.equal((await proxy.ask(`${request('POST', '/', 'content-length: 1')}x`)).status, 200);
  }
});
