import t from 'tap';
import { ENCODINGS } from '../forward/scrub/encodings.ts';
import { chunked, configOf, gatewayFor, request } from '../support/gateway.ts';
import { answer, Http2Upstream } from '../support/h2-upstream.ts';
import { RawClient, until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream } from '../support/raw-upstream.ts';
import { stars, tokenAndKey } from '../support/scrubbed.ts';

// With `scrub` an upstream that echoes its request does not reveal the credential to the caller.

const token = (n: number) => `eyJhbGciOi-_${n}.q/Z+7xV="&<${n}>wPqbH2mT0s`;
const ROUTES = `
scrub: true
credentials:
  key: { type: apiKey, key: key/12345 67, header: X-Api-Key, scheme: '' }
  login: { type: basic, username: ada, password: basic-password }
routes:
  - { prefix: /, credential: token }
  - { prefix: /key, credential: key }
  - { prefix: /open, credential: token, scrub: false }
  - { prefix: /none, credential: none }
  - { prefix: /own, credential: token, clientAuthorization: keep }
`;
const upstream = await RawUpstream.startedFor(t);
const onLogin = (login: number) => grant(token(login));
upstream.onLogin = onLogin;
const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: ROUTES });
const scrubbed = () => proxy.requests().filter((event) => event.scrubbed === true).length;
t.beforeEach(() => {
  upstream.reset();
  upstream.onLogin = onLogin;
});

t.test(
  'an echoed credential is replaced by asterisks in header values and names, reason and body',
  async (t) => {
    upstream.onRequest = (got) => {
      const sent = got.header('authorization') ?? '';
      return (
        head(
          `200 Hello ${sent}`,
          `x-echo: ${sent}`,
          'x-other: 1',
          'eyJhbGciOi: 1',
          `content-length: ${sent.length}`,
        ) + sent
      );
    };
    const response = await proxy.get('/a');
    const sent = `Bearer ${stars(token(1))}`;
    t.equal(upstream.last.header('authorization'), `Bearer ${token(1)}`);
    t.equal(response.reason, `Hello ${sent}`);
    t.equal(response.header('x-echo'), sent);
    t.equal(response.header('x-other'), '1');
    t.equal(response.text, sent);
    t.equal(response.header('content-length'), String(sent.length));
    t.equal(scrubbed(), 1);
  },
);

t.test('each encoding of a credential is replaced in a body, and the rest is unchanged', async (t) => {
  for (const [name, encode] of Object.entries(ENCODINGS)) {
    upstream.onRequest = () => ok(`before ${encode(token(1))} after`);
    const { text } = await proxy.get('/a');
    t.match(text, /^before .+ after$/s, name);
    t.match(text, /\*{20}/, name);
    t.notOk(/eyJ|mT0s|6d543073/i.test(text), name);
  }
});

t.test('on each route all configured credentials are replaced, whichever one was sent', async (t) => {
  const all = [
    'key/12345 67',
    token(1),
    'client-secret',
    'basic-password',
    Buffer.from('ada:basic-password').toString('base64'),
  ];
  upstream.onRequest = () => ok(all.join('|'));
  for (const path of ['/key', '/a', '/none', '/own']) {
    const { text } = await proxy.get(path, 'authorization: Bearer own');
    t.equal(text, all.map(stars).join('|'), path);
  }
});

t.test('without scrub requests and answers pass unchanged', async (t) => {
  upstream.onRequest = () => ok(token(1), 'content-encoding: x');
  const lines = ['accept-encoding: gzip', 'range: bytes=1-2', 'authorization: Bearer own'];
  t.equal((await proxy.get('/open', ...lines)).text, token(1));
  t.equal(upstream.last.header('accept-encoding'), 'gzip');
  t.equal(upstream.last.header('range'), 'bytes=1-2');
});

t.test('with scrub a request asks for no content coding, no character set and no range', async (t) => {
  await proxy.get(
    '/a',
    'Accept-Encoding: gzip',
    'Range: bytes=0-9',
    'If-Range: "x"',
    'Request-Range: bytes=0-9',
    'Request_Range: bytes=0-9',
    'Accept-Charset: utf-16',
    'A-IM: gzip',
    'accept-encoding: br',
    'x-a: 1',
  );
  t.equal(upstream.last.header('accept-encoding'), 'identity');
  for (const name of ['range', 'if-range', 'request-range', 'request_range', 'accept-charset', 'a-im'])
    t.equal(upstream.last.header(name), undefined, name);
  t.equal(upstream.last.header('x-a'), '1');
});

t.test('an answer that is coded all the same gives 502 upstream-invalid', async (t) => {
  for (const line of ['content-encoding: gzip', 'im: gzip', 'content-type: text/plain; charset=utf-16']) {
    upstream.onRequest = () => ok('coded', line);
    const response = await proxy.get('/a');
    t.equal(response.status, 502, line);
    t.match(response.text, 'upstream-invalid', line);
    t.equal((await proxy.get('/open')).text, 'coded', 'without scrub it passes');
  }
  upstream.onRequest = () => ok('plain', 'Content-Encoding: identity');
  t.equal((await proxy.get('/a')).text, 'plain');
  upstream.onRequest = () => head('200 OK', 'content-encoding: gzip', 'content-length: 9');
  t.equal(
    (await proxy.ask(request('HEAD', '/a'))).header('content-length'),
    '9',
    'the answer to a HEAD has no body to search',
  );
});

t.test(
  'server-sent events pass at once, and the end of an unfinished line a moment later or with its rest',
  async () => {
    const client = await proxy.client();
    upstream.onHead = () => head('200 OK', 'content-type: text/event-stream', 'transfer-encoding: chunked');
    client.send(request('GET', '/events'));
    await until(() => upstream.requests.length === 1, 'no request');
    const { connection } = upstream.last;
    const says = (text: string) => connection.send(`${text.length.toString(16)}\r\n${text}\r\n`);
    const comes = (text: string) => until(() => client.received.includes(text), `no ${text}`);
    says('data: one\n\n');
    await comes('data: one\n\n');
    says('data: what is to come');
    await comes('data: what is to \r\n');
    await comes('come\r\n');
    says(`data: ${token(1).slice(0, 9)}`);
    await comes(`${token(1).slice(0, 9)}\r\n`);
    says(`${token(1).slice(9)}!\n\n`);
    await comes(`${stars(token(1).slice(9))}!\n\n`);
    says(`data: ${token(1).slice(0, 9)}`);
    connection.send('0\r\n\r\n');
    await comes(`${token(1).slice(0, 9)}\r\n0\r\n\r\n`);
    client.close();
  },
);

t.test('a piece that is held back as a whole neither ends the answer nor stalls it', async (t) => {
  for (const text of [token(1), `${token(1)} and more`]) {
    upstream.onRequest = () => head('200 OK', 'transfer-encoding: chunked') + chunked(...text);
    t.equal((await proxy.get('/a')).text, text.replace(token(1), stars(token(1))));
  }
});

t.test('the handshake of a tunnel and its refusal are scrubbed; the tunnel is not', async (t) => {
  const ws = [
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-key: abc',
    'sec-websocket-version: 13',
  ];
  const lines = ['connection: upgrade', 'upgrade: websocket', `x-echo: ${token(1)}`];
  upstream.onRequest = () => `${head('101 Switching Protocols', ...lines)}${token(1)}`;
  const client = await RawClient.to(proxy.port);
  const response = await client.send(request('GET', '/', ...ws)).response();
  t.same([response.status, response.header('x-echo')], [101, stars(token(1))]);
  t.equal(await client.bytes(token(1).length), token(1));
  client.close();
  upstream.onRequest = () =>
    head('403 Forbidden', `x-echo: ${token(1)}`, `content-length: ${token(1).length}`) + token(1);
  const refusal = await proxy.get('/', ...ws);
  t.same([refusal.status, refusal.header('x-echo'), refusal.text], [403, stars(token(1)), stars(token(1))]);
});

t.test('a 401 that passes in the end is scrubbed, and so is the answer to the second try', async (t) => {
  const other = await RawUpstream.startedFor(t);
  other.onLogin = (login) => grant(token(login));
  const { get } = await gatewayFor(t, { baseUrl: other.url, env: { BEARERD_SCRUB: 'true' } });
  const both = `${token(1)} ${token(2)}`;
  other.onRequest = (got) =>
    got.header('authorization')!.endsWith(token(1))
      ? head('401 No', `content-length: ${both.length}`) + both
      : ok(both);
  t.equal((await get('/')).text, `${stars(token(1))} ${stars(token(2))}`, 'the answer to the second try');
  other.onLogin = () => head('500 No', 'content-length: 0');
  other.onRequest = () =>
    head('401 No', `x-echo: ${token(2)}`, `content-length: ${token(2).length}`) + token(2);
  const response = await get('/');
  t.equal(response.status, 401);
  t.equal(response.header('x-echo'), stars(token(2)), 'the 401 itself');
});

t.test('answers over HTTP/2 are scrubbed', async (t) => {
  const h2 = await Http2Upstream.startedFor(t);
  h2.onRequest = (got) => {
    const sent = got.header('authorization') ?? '';
    answer(got, `<${sent}>`, 200, ['x-echo', sent]);
  };
  const { get } = await gatewayFor(t, {
    baseUrl: h2.url,
    env: { ...h2.env, BEARERD_SCRUB: 'true' },
  });
  const response = await get('/');
  t.match(response.text, /^<Bearer \*+>$/);
  t.match(response.header('x-echo'), /^Bearer \*+$/);
});

t.test('an earlier token, and a key that a reload has replaced, are still scrubbed', async (t) => {
  const other = await RawUpstream.startedFor(t);
  other.onLogin = (login) => grant(token(login));
  const { gateway, get } = await gatewayFor(t, {
    baseUrl: other.url,
    yaml: tokenAndKey('the-first-key-of-two'),
  });
  await get('/');
  other.onRequest = (got) =>
    got.header('authorization')!.endsWith(token(1)) ? head('401 No', 'content-length: 0') : ok('new');
  t.equal((await get('/')).text, 'new');
  gateway.reconfigure(await configOf({ baseUrl: other.url, yaml: tokenAndKey('the-second-key-of-two') }));
  const all = [token(1), token(2), 'the-first-key-of-two', 'the-second-key-of-two'];
  other.onRequest = () => ok(all.join('|'));
  t.equal((await get('/')).text, all.map(stars).join('|'));
});

t.test('if the upstream breaks off, held bytes reach the client before the break', async (t) => {
  upstream.onHead = () => head('200 OK', 'content-length: 100');
  const client = await proxy.client();
  client.send(request('GET', '/a'));
  await until(() => upstream.requests.length === 1, 'no request');
  upstream.last.connection.send(`line\n${token(1)} and a begi`);
  await until(() => client.received.includes('line\n'), 'no line');
  upstream.last.connection.end();
  await client.end();
  t.ok(client.received.endsWith(`line\n${stars(token(1))} and a begi`), client.received);
});
