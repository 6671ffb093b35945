import t, { type Test } from 'tap';
import type { Lookup } from '../../src/upstream/dial.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { configOf, gatewayFor, request } from '../support/gateway.ts';
import { CA_FILE, Http2Upstream, readTls } from '../support/h2-upstream.ts';
import { until } from '../support/raw-client.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';

// A hosts entry leads the API's name to bearerd, so bearerd must connect to a configured address, under that name.

const SWITCH = head('101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket');
const UPGRADE = request('GET', '/x', 'connection: Upgrade', 'upgrade: websocket');

/** An API named elsewhere.example, and the names that were looked up. */
async function world(t: Test, certificate = 'elsewhere') {
  const names: string[] = [];
  const upstream = await Http2Upstream.startedFor(t, {
    cert: readTls(`${certificate}.pem`),
    key: readTls(`${certificate}.key`),
    SNICallback: (name, done) => done(null, void names.push(name)),
  });
  const looked: string[] = [];
  const lookup: Lookup = (hostname, _options, callback) => {
    looked.push(hostname);
    setImmediate(() => callback(null, [{ address: '127.0.0.1', family: 4 }]));
  };
  const env = { BEARERD_TLS_CA_FILE: CA_FILE, BEARERD_UPSTREAM_ADDRESS: `127.0.0.1:${upstream.port}` };
  return { upstream, names, looked, options: { baseUrl: 'https://elsewhere.example', env, lookup } };
}

t.test('login, request and upgrade connect to the address, under the name of the base URL', async (t) => {
  const { upstream, names, looked, options } = await world(t);
  const hosts = new Set<string | undefined>();
  upstream.onHttp1 = ({ headers, socket }) => {
    hosts.add(headers.host);
    socket.end(SWITCH);
  };
  const { ask, get } = await gatewayFor(t, options);
  t.equal((await get('/x')).status, 200);
  t.equal(upstream.last.pseudo[':authority'], 'elsewhere.example');
  t.equal((await ask(UPGRADE)).status, 101);
  t.same(hosts, new Set(['elsewhere.example']));
  t.ok(upstream.logins > 0, 'the login used the address, too');
  t.same(
    [new Set(names), looked],
    [new Set(['elsewhere.example']), []],
    'the name of the base URL is not looked up',
  );
});

t.test('the address may be a name, and its port defaults to that of the URL', async (t) => {
  const { upstream, looked, options } = await world(t);
  const { get } = await gatewayFor(t, {
    ...options,
    baseUrl: `https://elsewhere.example:${upstream.port}`,
    env: { ...options.env, BEARERD_UPSTREAM_ADDRESS: 'real.example' },
  });
  t.equal((await get('/x')).status, 200);
  t.same(new Set(looked), new Set(['real.example']));
});

t.test('a server with a certificate for the address, and not for the name, gets no credential', async (t) => {
  const { upstream, options } = await world(t, 'server'); // Valid for 127.0.0.1.
  const { events } = await gatewayFor(t, { ...options, loggedIn: false });
  await until(() => events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
  t.match(events, [{ error: { message: /its certificate is for another host name/ } }]);
  t.equal(upstream.logins, 0);
});

t.test('a client may use the name of the base URL as Host, and no other name', async (t) => {
  const { options } = await world(t);
  const { ask } = await gatewayFor(t, options);
  const by = (host: string, ...lines: string[]) =>
    ask(`GET /x HTTP/1.1\r\n${[`host: ${host}`, ...lines].map((line) => `${line}\r\n`).join('')}\r\n`);
  t.equal((await by('elsewhere.example')).status, 200);
  t.equal((await by('Elsewhere.Example.:443')).status, 200);
  t.equal((await by('other.example')).status, 403);
  t.equal(
    (await by('elsewhere.example', 'origin: https://other.example')).status,
    403,
    'a page of another origin is refused',
  );
  const without = await gatewayFor(t, {
    ...options,
    env: { BEARERD_CONNECT_TIMEOUT: '1s' },
    loggedIn: false,
  });
  t.equal(
    (await without.ask('GET /x HTTP/1.1\r\nhost: elsewhere.example\r\n\r\n')).status,
    403,
    'without it',
  );
});

t.test(
  'a route may have its own address, and a login uses the address that all routes to its origin share',
  async (t) => {
    const [base, other, canary] = [await world(t), await world(t), await world(t)];
    const yaml = `
credentials:
  there: { type: session, clientId: a, clientSecret: b, baseUrl: https://elsewhere.example:8443 }
routes:
  - { prefix: /, credential: token }
  - { prefix: /canary, credential: token, upstreamAddress: '127.0.0.1:${canary.upstream.port}' }
  - { prefix: /there, credential: there, upstream: 'https://elsewhere.example:8443', upstreamAddress: '127.0.0.1:${other.upstream.port}' }
`;
    const { get } = await gatewayFor(t, { ...base.options, yaml });
    for (const path of ['/', '/canary', '/there']) t.equal((await get(path)).status, 200, path);
    const seen = [base, canary, other].map(({ upstream }) => [
      upstream.requests.map(({ target, pseudo }) => target + pseudo[':authority']),
      upstream.logins,
    ]);
    t.same(seen, [
      [['/elsewhere.example'], 1],
      [['/canaryelsewhere.example'], 0],
      [['/thereelsewhere.example:8443'], 1],
    ]);
  },
);

t.test('through an outbound proxy the CONNECT names the configured address', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await connectProxy(t, upstream.port);
  const env = (address: string, noProxy = '') => ({
    BEARERD_ALLOW_INSECURE_UPSTREAM: 'true',
    BEARERD_UPSTREAM_ADDRESS: address,
    HTTP_PROXY: `http://${proxy.host}`,
    NO_PROXY: noProxy,
  });
  const baseUrl = 'http://elsewhere.example';
  const { get } = await gatewayFor(t, { baseUrl, env: env('10.1.2.3:8080') });
  t.equal((await get('/x')).status, 200);
  t.equal(upstream.last.header('host'), 'elsewhere.example');
  t.same(new Set(proxy.tunnels), new Set(['10.1.2.3:8080']));
  const local = `127.0.0.1:${upstream.port}`;
  const lookup: Lookup = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
  for (const [address, noProxy] of [
    [local, ''], // Loopback.
    [`real.example:${upstream.port}`, 'real.example'],
    [`real.example:${upstream.port}`, '.example'],
    [`real.example:${upstream.port}`, 'elsewhere.example'],
  ] as const) {
    const direct = await gatewayFor(t, { baseUrl, env: env(address, noProxy), lookup });
    t.equal((await direct.get('/x')).status, 200, noProxy);
  }
  t.same(new Set(proxy.tunnels), new Set(['10.1.2.3:8080']), 'the other requests bypassed the proxy');
  const six = await gatewayFor(t, { baseUrl, env: env('[2001:db8::1]') });
  await six.get('/x');
  t.equal(proxy.tunnels.at(-1), '[2001:db8::1]:80');
});

t.test('a reload that changes the address opens connections to the new one', async (t) => {
  const [before, after] = [await world(t), await world(t)];
  const { gateway, get } = await gatewayFor(t, before.options);
  t.equal((await get('/x')).status, 200);
  gateway.reconfigure(await configOf({ ...before.options, env: after.options.env }));
  t.equal((await get('/y')).status, 200);
  t.same([before.upstream.requests.length, after.upstream.requests.length], [1, 1]);
});
