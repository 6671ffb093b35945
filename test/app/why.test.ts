import t, { type Test } from 'tap';
import type { Situation } from '../../src/observe/why/situation.ts';
import type { Why } from '../../src/observe/why/why.ts';
import type { Lookup } from '../../src/upstream/dial.ts';
import { canary, leaks } from '../fuzz/canaries.ts';
import { connectProxy } from '../support/connect-proxy.ts';
import { gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { Http2Upstream, readTls } from '../support/h2-upstream.ts';
import { leastBytes, usedBytes } from '../support/memory.ts';
import { ask, RawClient, until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream } from '../support/raw-upstream.ts';
import { share } from '../support/share.ts';

// What `GET /requests/ID` of the admin listener says of a request. For the text see test/cli/why.test.ts.

const ADMIN = { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };
const MEMBERS = [
  'id',
  'time',
  'method',
  'path',
  'route',
  'why',
  'credential',
  'token',
  'status',
  'code',
  'answeredBy',
  'attempts',
  'waits',
  'durationMs',
  'remedy',
];
const OF_ATTEMPT = [
  'upstream',
  'reused',
  'dnsMs',
  'connectMs',
  'tlsMs',
  'firstByteMs',
  'lastByteMs',
  'outcome',
];
const loopback: Lookup = (_hostname, _options, callback) =>
  setImmediate(() => callback(null, [{ address: '127.0.0.1', family: 4 }]));

const shown = (proxy: TestGateway, name: string, ...lines: string[]) =>
  ask(proxy.adminPort, request('GET', `/requests/${name}`, ...lines));

async function why(proxy: TestGateway, id: string): Promise<Why> {
  const answer = await shown(proxy, encodeURIComponent(id));
  if (answer.status !== 200) throw new Error(`${id}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text) as Why;
}

/** The report on the last request, once it has ended. @param count how many requests have ended then */
async function last(proxy: TestGateway, count: number): Promise<Why> {
  await until(() => proxy.requests().length >= count, `${count} requests do not end`);
  return why(proxy, proxy.requests()[count - 1]!.requestId);
}

/** A proxy in front of its own upstream. */
async function worldFor(t: Test, env: Record<string, string> = {}) {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: { ...ADMIN, ...env } });
  return { upstream, proxy };
}

/** For `t.match`: any number. */
const isMs = Number;

t.test('the report on a successful request has each member, and no remedy', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  await proxy.get('/a/b?secret=1');
  const first = await last(proxy, 1);
  t.same(Object.keys(first), MEMBERS);
  t.same(Object.keys(first.attempts[0]!), OF_ATTEMPT);
  t.match(first, {
    id: proxy.requests()[0]!.requestId,
    time: /^\d{4}-.*Z$/,
    method: 'GET',
    path: '/a/b',
    route: '/',
    why: '/ is the longest prefix that matches',
    credential: 'token',
    token: { state: 'fresh', ageMs: isMs },
    status: 200,
    code: null,
    answeredBy: 'upstream',
    durationMs: isMs,
    remedy: null,
  });
  t.match(first.attempts, [
    {
      upstream: upstream.url,
      reused: false,
      dnsMs: null,
      connectMs: isMs,
      tlsMs: null,
      firstByteMs: isMs,
      lastByteMs: isMs,
      outcome: 'answered 200',
    },
  ]);
  t.match(first.waits, [{ for: 'connection', ms: isMs }]);
});

t.test('the report says that a connection was reused, without times of its steps', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  await proxy.get('/1');
  await until(() => upstream.open > 0, 'no connection is kept');
  await proxy.get('/2');
  const { attempts } = await last(proxy, 2);
  t.match(attempts, [{ reused: true, dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: isMs }]);
});

t.test('the report has the time of each step of a new TLS connection, for HTTP/2 and HTTP/1.1', async (t) => {
  for (const http2 of ['true', 'false']) {
    const upstream = await Http2Upstream.startedFor(t);
    const baseUrl = upstream.url.replace('127.0.0.1', 'localhost');
    const env = { ...ADMIN, ...upstream.env, BEARERD_UPSTREAM_HTTP2: http2 };
    const proxy = await gatewayFor(t, { baseUrl, env, lookup: loopback });
    await proxy.get('/1');
    const first = await last(proxy, 1);
    const steps = { reused: false, dnsMs: isMs, connectMs: isMs, tlsMs: isMs, lastByteMs: isMs };
    t.match(first.attempts, [steps], http2);
    await proxy.get('/2');
    t.match((await last(proxy, 2)).attempts, [{ reused: true, dnsMs: null, tlsMs: null }], http2);
  }
});

t.test('the report has the times of a connection whose upstream chose HTTP/1.1', async (t) => {
  const upstream = await Http2Upstream.startedFor(t, { allowHTTP1: true, ALPNProtocols: ['http/1.1'] });
  const baseUrl = upstream.url.replace('127.0.0.1', 'localhost');
  const proxy = await gatewayFor(t, { baseUrl, env: { ...ADMIN, ...upstream.env }, lookup: loopback });
  await proxy.get('/1');
  t.match((await last(proxy, 1)).attempts, [{ reused: false, connectMs: isMs, tlsMs: isMs }]);
});

t.test('through an outbound proxy the time to connect includes that of the tunnel', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const tunnel = await connectProxy(t, upstream.port);
  const env = { ...ADMIN, BEARERD_ALLOW_INSECURE_UPSTREAM: 'true', HTTP_PROXY: `http://${tunnel.host}` };
  const proxy = await gatewayFor(t, { baseUrl: 'http://elsewhere.example', env });
  await proxy.get('/1');
  const [attempt] = (await last(proxy, 1)).attempts;
  t.match(attempt, { upstream: 'http://elsewhere.example', reused: false, connectMs: isMs });
});

t.test('the report names an outbound proxy that refuses, with a remedy for the proxy', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const refusing = await connectProxy(t, upstream.port, { answer: 'HTTP/1.1 407 No\r\n\r\n' });
  const env = { ...ADMIN, BEARERD_ALLOW_INSECURE_UPSTREAM: 'true', HTTP_PROXY: `http://${refusing.host}` };
  const options = { baseUrl: 'http://elsewhere.example', env: { ...env, BEARERD_ROUTES: '/=none' } };
  const proxy = await gatewayFor(t, { ...options, loggedIn: false });
  await proxy.get('/1');
  const { attempts, remedy } = await last(proxy, 1);
  t.match(attempts, [
    { reused: false, connectMs: null, outcome: /the outbound proxy .* asks for a user name/ },
  ]);
  t.match(remedy, /HTTPS_PROXY/);
});

t.test('a refused connection is an attempt in the report, with the remedy of the failure', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: { ...ADMIN, BEARERD_ROUTES: '/=none' } });
  upstream.stop();
  const answer = await proxy.get('/gone');
  t.equal(answer.status, 502);
  const told = await last(proxy, 1);
  t.match(told, {
    status: 502,
    code: 'upstream-unreachable',
    answeredBy: 'bearerd',
    credential: 'none',
    token: null,
    attempts: [{ reused: false, connectMs: null, firstByteMs: null, lastByteMs: null }],
    remedy: /^Check the host and the port in the URL/,
  });
  t.match(told.attempts[0]!.outcome, /nothing listens at its address and port \(ECONNREFUSED\)$/);
});

t.test('after a 401 the report has two attempts, and the wait for a new token', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  upstream.onRequest = ({ header }) =>
    header('authorization') === 'Bearer tok-1' ? head('401 No', 'content-length: 0') : ok('ok');
  await proxy.get('/x');
  const { attempts, waits, status, remedy, token } = await last(proxy, 1);
  t.equal(status, 200);
  t.equal(remedy, null);
  t.match(token, { state: 'fresh', ageMs: isMs });
  t.match(attempts, [
    { reused: false, outcome: 'answered 401; the request was sent once more with a newer token' },
    { outcome: 'answered 200' },
  ]);
  t.match(
    waits.filter(({ for: what }) => what === 'token'),
    [{ for: 'token', ms: isMs }],
  );
});

t.test(
  'a 401 that passes is the upstream’s answer, and the remedy depends on the credential that was sent',
  async (t) => {
    const { proxy, upstream } = await worldFor(t, {
      BEARERD_API_KEY: 'a-key',
      BEARERD_ROUTES: '/=token,/key=apiKey,/none=none',
    });
    upstream.onRequest = () => head('401 No', 'content-length: 0');
    const remedies: (string | null)[] = [];
    for (const [n, path] of ['/token', '/key', '/none'].entries()) {
      await proxy.get(path);
      const told = await last(proxy, n + 1);
      t.match(told, { status: 401, code: null, answeredBy: 'upstream' }, path);
      remedies.push(told.remedy);
    }
    t.match(remedies, [/refuses a new token/, /refuses the key/, /sends no credential/]);
    t.match((await why(proxy, proxy.requests()[1]!.requestId)).token, { state: 'ready', ageMs: null });
  },
);

t.test('the report has the wait for the first token, and the state of the credential', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  upstream.onLogin = () => promise;
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: ADMIN, loggedIn: false });
  const answered = proxy.get('/x');
  await until(() => proxy.gateway.status.requestsWaiting === 1, 'it waits');
  resolve(grant('tok'));
  await answered;
  const { token, waits, status } = await last(proxy, 1);
  t.equal(status, 200);
  t.same(token, { state: 'starting', ageMs: null });
  t.match(waits[0], { for: 'token', ms: isMs });
});

t.test('without a token the remedy says why the login failed', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = () => Buffer.from(head('401 No', 'content-length: 0'));
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: ADMIN, loggedIn: false });
  await until(() => proxy.events.some(({ type }) => type === 'login-failed'), 'refused');
  const answer = await proxy.get('/x');
  t.equal(answer.status, 503);
  const told = await last(proxy, 1);
  t.match(told, { code: 'login-refused', answeredBy: 'bearerd', attempts: [], token: { state: 'refused' } });
  t.match(told.remedy, /^The session endpoint .* refuses the credentials .*Check the ID and the secret/);
});

t.test('a tunnel is an attempt that switched protocols, and its last byte is its end', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  upstream.onRequest = () => head('101 Switching Protocols', 'connection: upgrade', 'upgrade: echo');
  const client = await proxy.client();
  client.send(request('GET', '/t', 'connection: upgrade', 'upgrade: echo'));
  t.equal((await client.response()).status, 101);
  client.close();
  const { attempts, status, answeredBy } = await last(proxy, 1);
  t.match({ status, answeredBy }, { status: 101, answeredBy: 'upstream' });
  t.match(attempts, [{ reused: false, firstByteMs: isMs, lastByteMs: isMs, outcome: /^switched/ }]);
});

t.test('after a stale connection the report has the failed attempt and the next one', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  await proxy.get('/1');
  upstream.onHead = ({ connection }) => {
    upstream.onHead = undefined;
    connection.end();
  };
  await proxy.get('/2');
  const { attempts, status } = await last(proxy, 2);
  t.equal(status, 200);
  t.match(attempts, [
    { reused: true, lastByteMs: null, outcome: /closed the connection .*; the request was sent once more$/ },
    { reused: false, outcome: 'answered 200' },
  ]);
});

t.test('an answer that broke off is the upstream’s, and counts as failed', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  upstream.onRequest = ({ connection }) => {
    connection.send(head('200 OK', 'content-length: 100'));
    connection.send('half');
    setImmediate(() => connection.end());
  };
  await proxy.get('/x').catch(() => undefined);
  const told = await last(proxy, 1);
  t.match(told, { status: 200, code: 'upstream-unreachable', answeredBy: 'upstream' });
  t.match(told.attempts, [{ firstByteMs: isMs, lastByteMs: null, outcome: /^answered 200, then cut off: / }]);
  t.ok(told.remedy);
  t.equal(JSON.parse((await shown(proxy, 'last-failed')).text).id, told.id);
});

t.test('a request whose client left counts as failed, without an answer', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  upstream.onRequest = () => undefined;
  const client = await proxy.client();
  client.send(request('GET', '/x'));
  await until(() => upstream.requests.length === 1, 'it arrives');
  client.close();
  const told = await last(proxy, 1);
  t.match(told, { status: 0, code: null, answeredBy: null, remedy: /client's own timeout/ });
  t.match(told.attempts, [{ firstByteMs: null, outcome: 'given up: the client ended the connection' }]);
});

t.test('a POST without an answer may have been carried out, and the report says to check that', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  upstream.onRequest = () => undefined;
  const client = await proxy.client();
  client.send(request('POST', '/x', 'content-length: 0'));
  await until(() => upstream.requests.length === 1, 'it arrives');
  client.close();
  const left = await last(proxy, 1);
  t.match(left, {
    status: 0,
    remedy: /^The client ended .* before an answer came\. .* Check whether the up/,
  });
  t.match(left.attempts, [
    { outcome: /client ended .*, and the upstream may have carried the request out$/ },
  ]);
  upstream.onRequest = () => 'nonsense\r\n\r\n';
  await proxy.ask(request('POST', '/y', 'content-length: 0'));
  const broken = await last(proxy, 2);
  t.match(broken, { code: 'upstream-invalid', remedy: /Check whether the upstream carried the request out/ });
  t.match(broken.attempts, [{ outcome: /nothing of it was passed on, and the upstream may have carried/ }]);
});

t.test("the report says why a request was refused, and the problem holds the request's ID", async (t) => {
  const { proxy } = await worldFor(t, { BEARERD_ROUTES: '/open=none,/closed=deny' });
  const answers = [
    await proxy.get('/closed/x'),
    await proxy.get('/elsewhere'),
    await proxy.ask(request('GET', '/open').replace('localhost', 'evil.example')),
    await proxy.ask('GET /open HTTP/1.1\r\nhost localhost\r\n\r\n'),
  ];
  const expected = [
    { code: 'route-denied', route: '/closed', why: 'the route denies all requests', credential: 'deny' },
    { code: 'no-route', route: null, why: 'no prefix matches', credential: null },
    { code: 'host-refused', why: /^refused before a route was looked for: the Host header/ },
    { code: 'bad-request', method: '', path: '' },
  ];
  for (const [n, answer] of answers.entries()) {
    const { instance } = JSON.parse(answer.text) as { instance: string };
    const [, id] = /^urn:bearerd:request:(.+)$/.exec(instance)!;
    const told = await why(proxy, id!);
    t.match(told, { ...expected[n], answeredBy: 'bearerd', attempts: [], token: null, remedy: /./ });
  }
});

t.test('the report tells a client that reads nothing from one that leaves', async (t) => {
  const { proxy, upstream } = await worldFor(t, { BEARERD_IDLE_TIMEOUT: '1s' });
  upstream.onRequest = () => ok(Buffer.alloc(32 << 20, 'a'));
  const client = await proxy.client();
  client.send(request('GET', '/x'));
  client.socket.pause();
  const told = await last(proxy, 1);
  t.match(told, { status: 200, remedy: /stopped reading .* BEARERD_IDLE_TIMEOUT/ });
  t.match(told.attempts, [
    { outcome: 'answered 200, and was given up: the client read nothing for too long' },
  ]);
  t.equal(proxy.requests()[0]!.closedBy, 'idle-timeout');
  client.close();
});

t.test('the report says which step of a connection did not end in time', async (t) => {
  const env = { BEARERD_ROUTES: '/=none', BEARERD_CONNECT_TIMEOUT: '1s' }; // TCP connects sooner on any machine.
  const { upstream } = await worldFor(t);
  const named = upstream.url.replace('127.0.0.1', 'localhost');
  const never: Lookup = () => {};
  const cases = [
    {
      baseUrl: named.replace('http:', 'https:'),
      lookup: loopback,
      outcome: /TLS handshake did not end in time/,
    },
    { baseUrl: named, lookup: never, outcome: /host name was not resolved in time/ },
  ];
  for (const { baseUrl, lookup, outcome } of cases) {
    const proxy = await gatewayFor(t, { baseUrl, lookup, env: { ...ADMIN, ...env } });
    t.equal((await proxy.get('/')).status, 504);
    t.match((await last(proxy, 1)).attempts, [{ outcome }]);
  }
});

t.test('a time limit that has passed is named, with the value in force', async (t) => {
  const limits = { BEARERD_RESPONSE_TIMEOUT: '300ms', BEARERD_IDLE_TIMEOUT: '400ms' };
  const { proxy, upstream } = await worldFor(t, limits);
  upstream.onRequest = () => undefined;
  t.equal((await proxy.get('/x')).status, 504);
  t.match(await last(proxy, 1), { remedy: /The limit in force was 300 ms, by BEARERD_RESPONSE_TIMEOUT/ });
  upstream.onRequest = () => head('200 OK', 'content-length: 5');
  await proxy.get('/y').catch(() => undefined);
  const stalled = await last(proxy, 2);
  t.match(stalled, { remedy: /The limit in force was 400 ms, by BEARERD_IDLE_TIMEOUT/ });
  t.match(stalled.attempts, [
    { outcome: /^answered 200, then cut off: .* nothing .* middle of its answer$/ },
  ]);
  const half = await proxy.client();
  half.send(request('POST', '/z', 'content-length: 5'));
  t.equal((await half.response()).status, 408);
  t.match(await last(proxy, 3), { remedy: /The limit in force was 400 ms, by BEARERD_IDLE_TIMEOUT/ });
  half.close();
});

t.test('a login that does not end in time names the wait, and a connection its limit', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  upstream.onLogin = () => new Promise(() => {});
  const waiting = { ...ADMIN, BEARERD_TOKEN_WAIT: '300ms' };
  const proxy = await gatewayFor(t, { baseUrl: upstream.url, env: waiting, loggedIn: false });
  t.equal((await proxy.get('/x')).status, 503);
  t.match(await last(proxy, 1), { remedy: /The limit in force was 300 ms, by BEARERD_TOKEN_WAIT/ });
  const named = upstream.url.replace('127.0.0.1', 'localhost');
  const env = { ...ADMIN, BEARERD_ROUTES: '/=none', BEARERD_CONNECT_TIMEOUT: '200ms' };
  const unresolved = await gatewayFor(t, { baseUrl: named, lookup: () => {}, env });
  t.equal((await unresolved.get('/')).status, 504);
  t.match(await last(unresolved, 1), { remedy: /The limit in force was 200 ms, by BEARERD_CONNECT_TIMEOUT/ });
});

t.test('when an upstream says when to call again, so does the attempt', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT';
  const cases = [
    ['429 Slow down', '17', 'answered 429, and asks to call again in 17 s (Retry-After)'],
    ['503 Later', date, `answered 503, and asks to call again at ${date} (Retry-After)`],
    ['503 Later', 'soon, I hope', 'answered 503'],
    ['404 No', '17', 'answered 404'],
  ] as const;
  for (const [n, [status, retryAfter, outcome]] of cases.entries()) {
    upstream.onRequest = () => head(status, `retry-after: ${retryAfter}`, 'content-length: 0');
    await proxy.get('/x');
    t.same(
      (await last(proxy, n + 1)).attempts.map((attempt) => attempt.outcome),
      [outcome],
    );
  }
});

t.test('a certificate for another host says for which', async (t) => {
  const cert = { cert: readTls('elsewhere.pem'), key: readTls('elsewhere.key') };
  const upstream = await Http2Upstream.startedFor(t, cert);
  const baseUrl = upstream.url.replace('127.0.0.1', 'localhost');
  const env = { ...ADMIN, ...upstream.env, BEARERD_ROUTES: '/=none' };
  const proxy = await gatewayFor(t, { baseUrl, env, lookup: loopback, loggedIn: false });
  t.equal((await proxy.get('/')).status, 502);
  t.match((await last(proxy, 1)).attempts, [{ outcome: /for another host name, it names \S+ \(ERR_TLS/ }]);
});

t.test('a token that has just come from the login, and is refused, is told of once', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  upstream.onRequest = () => head('401 No', 'content-length: 0');
  await Promise.all([proxy.get('/1'), proxy.get('/2')]);
  await until(() => proxy.requests().length === 2, 'the two requests do not end');
  t.equal(proxy.events.filter(({ type }) => type === 'new-token-rejected').length, 1);
  const { text } = await ask(proxy.adminPort, request('GET', '/troubles', 'accept: text/plain'));
  t.match(text, /answered 401 even to a token of credential "token" that had just come from the login/);
});

t.test('what requests met that were served all the same is told of, and how often', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  const troubles = async () =>
    (JSON.parse((await ask(proxy.adminPort, request('GET', '/troubles'))).text) as Situation).lately;
  await proxy.get('/1');
  for (const path of ['/2', '/3']) {
    upstream.onHead = ({ connection }) => {
      upstream.onHead = undefined;
      connection.end();
    };
    t.equal((await proxy.get(path)).status, 200);
  }
  await until(() => proxy.requests().length === 3, 'not all requests end');
  const { requestId } = proxy.requests()[2]!;
  t.match(await troubles(), [
    { times: 2, remedy: null, what: /closed the connection .* was served\. \(The last: GET \/3, / },
  ]);
  t.match((await troubles())[0]!.what, requestId);
});

t.test('a request that reached the second address of a name says that the first was lost', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const lookup: Lookup = (_hostname, _options, callback) =>
    setImmediate(() =>
      callback(null, [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ]),
    );
  const baseUrl = upstream.url.replace('127.0.0.1', 'localhost');
  const proxy = await gatewayFor(t, { baseUrl, lookup, env: { ...ADMIN, BEARERD_ROUTES: '/=none' } });
  t.equal((await proxy.get('/x')).status, 200);
  await until(() => proxy.requests().length === 1, 'it is over');
  const { text } = await ask(proxy.adminPort, request('GET', '/troubles'));
  t.match((JSON.parse(text) as Situation).lately, [
    { what: /^No connection could be made to one of the addresses .* \(E[A-Z]+\): .*\(GET \/x/ },
  ]);
});

t.test('an upstream that fails is a trouble of now until it has served again', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  const troubles = async () =>
    JSON.parse((await ask(proxy.adminPort, request('GET', '/troubles'))).text) as Situation;
  upstream.onRequest = () => 'nonsense\r\n\r\n';
  t.equal((await proxy.get('/x')).status, 502);
  await until(() => proxy.requests().length === 1, 'it is over');
  t.match(await troubles(), { now: [{ what: /not valid HTTP/, remedy: String }], lately: [] });
  upstream.reset();
  t.equal((await proxy.get('/x')).status, 200);
  await until(() => proxy.requests().length === 2, 'it is over');
  t.match(await troubles(), { now: [], lately: [{ what: /not valid HTTP/, overAt: String }] });
});

t.test('people are told the same of the last failed request as by the command', async (t) => {
  const { proxy } = await worldFor(t, { BEARERD_ROUTES: '/open=none' });
  await proxy.get('/nowhere');
  await until(() => proxy.requests().length === 1, 'it is over');
  for (const name of ['/requests/last-failed', '/troubles']) {
    const { status, text } = await ask(proxy.adminPort, request('GET', name, 'accept: text/plain'));
    t.equal(status, 200, name);
    t.match(text, /^GET \/nowhere: 404 [\s\S]*\nNow: all credentials are ready[\s\S]*\nLately/, name);
  }
});

t.test('an unknown ID gets 404, and so does last-failed if no request has failed', async (t) => {
  const { proxy } = await worldFor(t);
  for (const name of ['nobody', 'last-failed', '', 'a/b', '%'])
    t.equal((await shown(proxy, name)).status, 404, name);
  const forPeople = await shown(proxy, 'last-failed', 'accept: text/plain');
  t.match(forPeople, { status: 404, text: /^No request has failed since the start\.\n\nNow: all/ });
  const elsewhere = request('GET', '/requests/last-failed').replace('localhost', 'evil.example');
  t.equal((await ask(proxy.adminPort, elsewhere)).status, 403);
  t.equal((await ask(proxy.adminPort, request('POST', '/requests/x', 'content-length: 0'))).status, 405);
});

t.test('last-failed is the newest failed request, whatever succeeded after it', async (t) => {
  const { proxy, upstream } = await worldFor(t);
  const FAILS = [401, 403, 407, 429, 500, 503];
  const statuses = [200, ...FAILS, 404, 400, 302];
  for (const [n, status] of statuses.entries()) {
    upstream.onRequest = () => head(`${status} Said`, 'content-length: 0');
    await proxy.get(`/${status}`);
    await last(proxy, n + 1);
    const answer = await shown(proxy, 'last-failed');
    if (n === 0) t.equal(answer.status, 404);
    else t.equal(JSON.parse(answer.text).status, FAILS.includes(status) ? status : 503, `${status}`);
  }
  const list = JSON.parse((await ask(proxy.adminPort, request('GET', '/requests'))).text);
  t.same(
    list.filter(({ failed }: { failed: boolean }) => failed).map(({ status }: { status: number }) => status),
    FAILS.toReversed(),
  );
});

t.test('with Accept: text/plain the report is text', async (t) => {
  const { proxy } = await worldFor(t);
  await proxy.get('/x');
  const { id } = await last(proxy, 1);
  const answer = await shown(proxy, id, 'accept: text/plain');
  t.equal(answer.header('content-type'), 'text/plain; charset=utf-8');
  t.match(answer.text, /^GET \/x: 200 after /);
});

t.test('an ID that clients used several times finds the newest request', async (t) => {
  const { proxy } = await worldFor(t, { BEARERD_REQUEST_ID_HEADER: 'X-Request-Id' });
  const id = 'a/b:c+d=@e';
  await proxy.get('/1', `x-request-id: ${id}`);
  await proxy.get('/2', `x-request-id: ${id}`);
  t.equal((await last(proxy, 2)).path, '/2');
  const refused = await proxy.ask(request('TRACE', '/3', `x-request-id: ${id}`));
  t.equal(JSON.parse(refused.text).instance, `urn:bearerd:request:${id}`);
});

t.test('two instances never generate the same ID: each has its own prefix', async (t) => {
  const upstream = await RawUpstream.startedFor(t);
  const ids = new Set<string>();
  for (let n = 0; n < 3; n++) {
    const proxy = await gatewayFor(t, { baseUrl: upstream.url });
    for (const path of ['/1', '/2']) await proxy.get(path);
    await until(() => proxy.requests().length === 2, 'the two requests do not end');
    for (const { requestId } of proxy.requests()) ids.add(requestId);
  }
  t.equal(ids.size, 6);
  for (const id of ids) t.match(id, /^[0-9a-z]{9,16}$/);
});

t.test('the last thousand requests are kept, and the last two hundred failed ones besides', async (t) => {
  const { proxy, upstream } = await worldFor(t, { BEARERD_ROUTES: '/=none' });
  upstream.onRequest = ({ target }) => (target === '/bad' ? head('500 No', 'content-length: 0') : ok('ok'));
  const client = await proxy.client();
  const send = async (path: string, count: number) => {
    for (let n = 0; n < count; n++) {
      client.send(request('GET', path));
      await client.response();
    }
  };
  await send('/bad', 201);
  await send('/good', 1_000);
  await until(() => proxy.requests().length === 1_201, 'not all requests end');
  const ids = proxy.requests().map(({ requestId }) => requestId);
  const statusOf = async (n: number) => (await shown(proxy, ids[n]!)).status;
  t.equal(await statusOf(0), 404, 'the oldest failed request');
  t.equal(await statusOf(1), 200, 'the next');
  t.equal(await statusOf(201), 200, 'the oldest successful request');
  await send('/good', 1);
  await until(() => proxy.requests().length === 1_202, 'the last request does not end');
  t.equal(await statusOf(201), 404);
  t.equal(await statusOf(1), 200);
});

t.test('thousands of requests with long paths and queries keep less than 8 MiB', async (t) => {
  const { proxy } = await worldFor(t, { BEARERD_ROUTES: '/a=deny,/=none' });
  const client = await RawClient.to(proxy.port);
  const send = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const long = 'x'.repeat(30_000);
      client.send(request('GET', n % 2 === 0 ? `/a/${n}/${long}` : `/a/${n}?${long}`));
      const { status } = await client.response();
      if (status !== 403) throw new Error(`${status}`);
      proxy.events.length = 0; // The test's own record of the events.
    }
  };
  await send(100);
  const before = await usedBytes();
  const count = share(10_000);
  await send(count);
  const growth = (await leastBytes(before + 8 * 1024 ** 2)) - before;
  t.ok(growth < 8 * 1024 ** 2, 'memory is bounded', { growth });
  const told = JSON.parse((await shown(proxy, 'last-failed')).text) as Why;
  t.equal(told.path, `/a/${count - 1}`);
});

t.test('the report holds no secret, token, query value, header or body', async (t) => {
  const SECRET = canary('why-secret');
  const { proxy, upstream } = await worldFor(t, {
    BEARERD_CLIENT_SECRET: SECRET,
    BEARERD_API_KEY: SECRET,
    BEARERD_ROUTES: '/=token,/key=apiKey,/gone=none,/closed=deny',
  });
  upstream.onLogin = () => grant(SECRET);
  upstream.onRequest = ({ target }) =>
    target.startsWith('/break')
      ? Buffer.from(`${SECRET}\r\n\r\n`)
      : head(`401 ${SECRET}`, `x: ${SECRET}`, 'content-length: 0');
  for (const path of ['/x', '/key', '/gone', '/closed', '/break', '/../x']) {
    const body = SECRET;
    const lines = [`x-a: ${SECRET}`, `authorization: Bearer ${SECRET}`, `content-length: ${body.length}`];
    await proxy.ask(`${request('POST', `${path}?q=${SECRET}`, ...lines)}${body}`).catch(() => undefined);
  }
  await until(() => proxy.requests().length === 6, 'not all requests end');
  for (const accept of ['application/json', 'text/plain'])
    t.notOk(
      leaks((await ask(proxy.adminPort, request('GET', '/troubles', `accept: ${accept}`))).text),
      accept,
    );
  for (const { requestId, path } of proxy.requests()) {
    for (const accept of ['application/json', 'text/plain']) {
      const { status, text } = await shown(proxy, requestId, `accept: ${accept}`);
      t.equal(status, 200, path);
      t.notOk(leaks(text), path);
    }
  }
});
