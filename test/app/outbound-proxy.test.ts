import t, { type Test } from 'tap';
import { VERSION } from '../../src/base/version.ts';
import { type ConnectProxy, connectProxy, type ProxyOptions, refusal } from '../support/connect-proxy.ts';
import { gatewayFor, request } from '../support/gateway.ts';
import { CA_FILE, Http2Upstream, readTls } from '../support/h2-upstream.ts';
import { until } from '../support/raw-client.ts';
import { head, RawUpstream } from '../support/raw-upstream.ts';

// An outbound proxy to the upstream. secures.test.ts shows that the proxy sees no credential.

const SWITCH = head('101 Switching Protocols', 'connection: Upgrade', 'upgrade: websocket');
const INSECURE = { BEARERD_ALLOW_INSECURE_UPSTREAM: 'true' };

/** An upstream that can be reached only through a proxy. */
async function plainWorld(t: Test, options: ProxyOptions, userInfo = '') {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await connectProxy(t, upstream.port, options);
  const env = { ...INSECURE, HTTP_PROXY: `http://${userInfo}${proxy.host}` };
  return { upstream, proxy, baseUrl: 'http://elsewhere.example', env };
}

function secureEnv(proxy: ConnectProxy) {
  return { BEARERD_TLS_CA_FILE: CA_FILE, HTTPS_PROXY: `https://localhost:${proxy.port}` };
}

/** An API at elsewhere.example, over both versions of HTTP. */
const elsewhere = (t: Test, certificate = 'elsewhere') =>
  Http2Upstream.startedFor(t, { cert: readTls(`${certificate}.pem`), key: readTls(`${certificate}.key`) });

t.test(
  'the certificates of an outbound proxy with TLS, and of the upstream inside the tunnel, are both verified',
  async (t) => {
    const upstream = await elsewhere(t);
    upstream.onHttp1 = (_, response) => response.socket!.end(SWITCH);
    const proxy = await connectProxy(t, upstream.port, { certificate: 'server' });
    const { ask, get } = await gatewayFor(t, { baseUrl: 'https://elsewhere.example', env: secureEnv(proxy) });
    t.equal((await get('/x')).status, 200);
    t.equal((await ask(request('GET', '/x', 'connection: Upgrade', 'upgrade: websocket'))).status, 101);
    t.same(new Set(proxy.tunnels), new Set(['elsewhere.example:443']));
  },
);

t.test('an outbound proxy whose certificate is for another name gets no CONNECT', async (t) => {
  const upstream = await elsewhere(t);
  // The proxy presents a certificate that is valid for the upstream, and not for the proxy.
  const proxy = await connectProxy(t, upstream.port, { certificate: 'elsewhere' });
  const world = { baseUrl: 'https://elsewhere.example', env: secureEnv(proxy), loggedIn: false };
  const { events } = await gatewayFor(t, world);
  await until(() => events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
  t.match(events, [
    {
      error: {
        message:
          /the outbound proxy localhost:\d+ can't be trusted: its certificate is for another host name \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
      },
    },
  ]);
  t.same(proxy.tunnels, []);
});

t.test(
  'an upstream whose certificate is for another name gets no request through an outbound proxy',
  async (t) => {
    const upstream = await elsewhere(t, 'server');
    const proxy = await connectProxy(t, upstream.port, { certificate: 'server' });
    const world = { baseUrl: 'https://elsewhere.example', env: secureEnv(proxy), loggedIn: false };
    const { events } = await gatewayFor(t, world);
    await until(() => events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
    t.match(events, [
      {
        error: {
          message:
            /session endpoint https:\/\/elsewhere\.example\/\S+ can't be trusted: its certificate is for another host name, it names localhost, 127\.0\.0\.1 \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
        },
      },
    ]);
    t.equal(upstream.logins, 0);
  },
);

t.test('CONNECT holds only the host, twice, and the name bearerd', async (t) => {
  const { proxy, ...world } = await plainWorld(t, {});
  await gatewayFor(t, world);
  const host = 'elsewhere.example:80';
  t.same(proxy.heads[0], { host, 'user-agent': `bearerd/${VERSION}` });
  t.same(proxy.tunnels[0], host);
});

t.test('only the status of an answer to CONNECT counts (RFC 9110 §9.3.6)', async (t) => {
  const answers: Readonly<Record<string, string | string[]>> = {
    'a length': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
    chunks: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    both: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
    'the end of the connection': 'HTTP/1.0 200 Connection established\r\nConnection: close\r\n\r\n',
    'an upgrade': 'HTTP/1.1 200 OK\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
    'no reason': 'HTTP/1.1 200\r\n\r\n',
    'another 2xx': 'HTTP/1.1 204 No Content\r\n\r\n',
    'a 1xx before it': 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
    pieces: [...'HTTP/1.1 200 OK\r\nX: y\r\n\r\n'],
  };
  for (const [name, answer] of Object.entries(answers)) {
    const world = await plainWorld(t, { answer });
    const { get } = await gatewayFor(t, world);
    const response = await get('/x');
    t.match(response, { status: 200, text: 'ok' }, name);
    t.equal(world.upstream.last.target, '/x', name);
  }
});

t.test('bytes that follow the answer to CONNECT at once are not lost', async (t) => {
  const early = 'HTTP/1.1 103 Early\r\n\r\n';
  const { upstream, proxy, ...world } = await plainWorld(t, { answer: `HTTP/1.1 200 OK\r\n\r\n${early}` });
  upstream.onLogin = () => 'HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n';
  const { events } = await gatewayFor(t, { ...world, loggedIn: false });
  await until(() => events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
  t.match(events, [{ error: { status: 401 } }], 'the 103 was skipped, and the answer after it was read');
});

t.test('the log and a failed login say in words why an outbound proxy failed', async (t) => {
  const says: [answer: string, userInfo: string, words: RegExp][] = [
    [refusal(407), '', /asks for a user name and a password, which its URL does not hold \(status 407\)/],
    [refusal(407), 'user:pass@', /refuses the user name and password of its URL \(status 407\)/],
    [refusal(403), '', /does not allow a connection to this host \(status 403\)/],
    [refusal(502), '', /can't reach the host \(status 502\)/],
    [refusal(504), '', /could not connect to the host in time \(status 504\)/],
    [refusal(405), '', /does not support CONNECT: it may not be a forward proxy \(status 405\)/],
    [refusal(302), '', /does not open a tunnel \(status 302\)/],
    ['SSH-2.0-OpenSSH\r\n', '', /answers with something that is not HTTP/],
    ['', '', /closes the connection without an answer/],
  ];
  for (const [answer, userInfo, words] of says) {
    const { proxy, upstream, ...world } = await plainWorld(t, { answer }, userInfo);
    const yaml =
      'credentials: { key: { type: apiKey, key: k } }\nroutes: [{ prefix: /k, credential: key }, { prefix: /, credential: token }]';
    const { events, get } = await gatewayFor(t, { ...world, yaml, loggedIn: false });
    const failures = () => events.flatMap((event) => (event.type === 'login-failed' ? [event.error] : []));
    await until(() => failures().length > 0, 'the login does not fail');
    const message = `can't be reached: the outbound proxy ${proxy.host} `;
    t.equal(failures()[0]?.message.includes(message), true);
    t.match(failures()[0]?.message, words);
    t.notMatch(failures()[0]?.message, /user:|pass@/);
    t.equal((await get('/k')).status, 502);
    const failed = events.find((event) => event.type === 'upstream-failed');
    t.match(failed, { code: 'upstream-unreachable', cause: { name: 'OutboundProxyError', message: words } });
    t.equal(upstream.connections.length, 0);
  }
});

t.test('the error names an outbound proxy that cannot be reached or does not answer', async (t) => {
  const { proxy, upstream, ...world } = await plainWorld(t, {});
  const env = { ...world.env, HTTP_PROXY: 'http://127.0.0.1:1' };
  const { events } = await gatewayFor(t, { ...world, env, loggedIn: false });
  await until(() => events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
  t.match(events, [
    {
      error: {
        message:
          /the outbound proxy 127.0.0.1:1 can't be reached: nothing listens at its address and port \(ECONNREFUSED\)\. Check HTTPS_PROXY/,
      },
    },
  ]);

  const silent = await RawUpstream.startedFor(t);
  silent.onHead = () => undefined;
  const limited = { ...world.env, HTTP_PROXY: silent.url, BEARERD_CONNECT_TIMEOUT: '1s' }; // TCP comes sooner on any machine.
  const other = await gatewayFor(t, { ...world, env: limited, loggedIn: false });
  await until(() => other.events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
  t.match(other.events, [
    {
      error: {
        message: /the outbound proxy 127.0.0.1:\d+ did not open a tunnel in time\. Check HTTPS_PROXY/,
      },
    },
  ]);
});
