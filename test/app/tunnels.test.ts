import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { READS_UPGRADE_BODIES } from '../../src/node/upgrade-body.ts';
import { chunked, gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { later, whenRead } from '../support/later.ts';
import { RawClient, until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream, type UpstreamRequest } from '../support/raw-upstream.ts';

// An upgrade is an ordinary request until the upstream answers 101; then it is a tunnel of bytes.

const ROUTES = `
credentials:
  key: { type: apiKey, key: key-1 }
routes:
  - { prefix: /, credential: token }
  - { prefix: /key, credential: key }
  - { prefix: /none, credential: none }
  - { prefix: /denied, credential: deny }
  - { prefix: /get, credential: token, methods: [POST] }
`;
const WS = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-key: abc',
  'sec-websocket-version: 13',
];
const SWITCH = head(
  '101 Switching Protocols',
  'connection: upgrade',
  'upgrade: websocket',
  'sec-websocket-accept: x',
);

/** The accepted sockets of all servers in this process, by the client's port. */
const accepted = new Map<number | undefined, Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  accepted.set(socket.remotePort, socket);
});
const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url, yaml: ROUTES });
t.beforeEach(() => {
  upstream.reset();
  upstream.onRequest = () => SWITCH;
});
t.afterEach(async () => {
  await until(() => proxy.gateway.inFlight === 0, 'tunnels do not end');
});

/** An open tunnel: the client, and the upstream's connection. */
async function opened(target = '/', lines: readonly string[] = [], gateway = proxy) {
  const client = await gateway.client();
  const response = await client.send(request('GET', target, ...WS, ...lines)).response();
  return { client, response, other: upstream.last.connection };
}

t.test('any bytes pass both ways', async (t) => {
  const { client, response, other } = await opened();
  t.same([response.status, response.reason], [101, 'Switching Protocols']);
  t.same(
    response.lines.map(([name, value]) => `${name.toLowerCase()}: ${value}`),
    ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-accept: x', 'via: 1.1 bearerd'],
  );
  client.send('\x81\x05hello\x00\xff');
  await until(() => other.received.endsWith('\x81\x05hello\x00\xff'), 'nothing came');
  other.send('\x88\x00\xff\r\n\r\n');
  t.equal(await client.bytes(7), '\x88\x00\xff\r\n\r\n');
  const big = Buffer.alloc(5 << 20, 'b');
  client.send(big);
  await until(() => other.bytesReceived > big.length, 'the large frame does not arrive whole');
  other.send(big);
  t.equal((await client.bytes(big.length)).length, big.length);
  client.close();
  await other.closed;
  await until(() => proxy.requests().at(-1)?.status === 101, 'no event');
  t.match(proxy.requests().at(-1), {
    method: 'GET',
    status: 101,
    bytesIn: big.length + 9,
    bytesOut: big.length + 7,
  });
});

t.test('bytes that either side sends early are not lost', async (t) => {
  upstream.onRequest = () => `${SWITCH}first frame`;
  const { client } = await opened();
  t.equal(await client.bytes(11), 'first frame', 'in the same segment as the 101');
  client.close();
  upstream.onRequest = async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return SWITCH;
  };
  const eager = await proxy.client();
  eager.send(`${request('GET', '/', ...WS)}one`);
  await until(() => upstream.requests.length === 2, 'no request');
  eager.send(',two');
  await eager.response();
  await until(() => upstream.last.connection.received.endsWith('\r\n\r\none,two'), 'early bytes');
  eager.close();
});

t.test('a handshake pipelined after other requests waits for their answers', async (t) => {
  upstream.onRequest = async ({ header }) => {
    if (header('upgrade') !== undefined) return SWITCH;
    await new Promise((resolve) => setTimeout(resolve, 30));
    return ok('first');
  };
  const client = await proxy.client();
  client.send(
    `${request('GET', '/')}${request('POST', '/', 'content-length: 2')}{}${request('GET', '/', ...WS)}frame`,
  );
  t.equal((await client.response()).text, 'first');
  t.equal((await client.response()).text, 'first');
  t.equal((await client.response()).status, 101);
  await until(() => upstream.last.connection.received.endsWith('frame'), 'early bytes');
  client.close();
  const leaving = await proxy.client();
  leaving.send(`${request('GET', '/')}${request('GET', '/', ...WS)}`);
  await until(() => upstream.requests.length === 4, 'no request');
  leaving.reset();
  await upstream.last.connection.closed;
  const last = await proxy.client();
  last.send(`${request('GET', '/', 'connection: close')}${request('GET', '/', ...WS)}`);
  t.equal((await last.response()).text, 'first');
  t.equal(await last.end(), 'end');
});

t.test('the upstream gets the handshake, and exactly one credential', async (t) => {
  const own = ['authorization: Basic eDp5', 'Authorization: x', 'proxy-authorization: y', 'x-bearerd-key: z'];
  const strike = 'Connection: authorization, sec-websocket-version';
  const sent = async (target: string) => {
    const { client } = await opened(target, [
      ...own,
      'sec-websocket-protocol: a, b',
      'x-name: \xe6\x97\xa5',
      'x_original-url: /api/admin',
      strike,
    ]);
    client.close();
    return upstream.last.lines.map(([name, value]) => `${name.toLowerCase()}: ${value}`).sort();
  };
  const common = [
    'connection: Upgrade',
    `host: 127.0.0.1:${upstream.port}`,
    'sec-websocket-key: abc',
    'sec-websocket-protocol: a, b',
    'upgrade: websocket',
    `via: ${await viaOf()}`,
    'x-name: \xe6\x97\xa5',
  ];
  t.same(await sent('/'), ['authorization: Bearer tok-1', ...common]);
  t.same(await sent('/key/x'), ['authorization: Bearer key-1', ...common]);
  t.same(await sent('/none'), [...common, 'x_original-url: /api/admin']);
});

async function viaOf(): Promise<string | undefined> {
  await proxy.get('/none');
  return upstream.last.header('via');
}

t.test('the subprotocol that the upstream chooses passes, and a missing one stays missing', async (t) => {
  upstream.onRequest = () => SWITCH.replace('x\r\n', 'x\r\nsec-websocket-protocol: b\r\n');
  const chosen = await opened('/', ['sec-websocket-protocol: a, b']);
  t.equal(chosen.response.header('sec-websocket-protocol'), 'b');
  upstream.onRequest = () => SWITCH;
  const none = await opened('/', ['sec-websocket-protocol: a, b']);
  t.equal(none.response.header('sec-websocket-protocol'), undefined);
  chosen.client.close();
  none.client.close();
});

t.test("a refused upgrade gets the upstream's answer", async (t) => {
  const refusals: Record<string, string | Buffer> = {
    length: ok(
      'plain',
      'x-name: \xe5',
      'set-cookie: a=1',
      'set-cookie: b=2',
      'content-disposition: x="\xc3\xa5"',
    ),
    chunks: `${head('403 No', 'transfer-encoding: chunked', 'trailer: x')}5\r\nplain\r\n0\r\nx: 1\r\n\r\n`,
    close: `${head('426 Upgrade Required', 'connection: close')}plain`,
    large: `${head('404 Not Found', `x: ${'x'.repeat(20_000)}`, 'content-length: 5')}plain`,
  };
  for (const [kind, answer] of Object.entries(refusals)) {
    upstream.onRequest = ({ connection }) => {
      connection.send(answer);
      if (kind === 'close') connection.end();
    };
    const { client, response } = await opened();
    t.same([response.text, response.whole, response.trailers], ['plain', true, ''], kind);
    t.equal(response.header('via'), '1.1 bearerd', kind);
    if (kind === 'length') {
      t.same([response.header('x-name'), response.all('set-cookie')], ['\xe5', ['a=1', 'b=2']]);
      t.equal(response.header('content-disposition'), 'x="\xc3\xa5"');
    }
    t.equal(await client.end(), 'end', kind);
    await upstream.last.connection.closed;
  }
  upstream.onRequest = () => head('204 No Content');
  t.equal((await opened()).response.status, 204);
  upstream.onRequest = () => head('426 Upgrade Required', 'upgrade: other', 'content-length: 0');
  const { client, response } = await opened();
  t.same([response.header('upgrade'), response.header('connection')], ['other', 'close, upgrade']);
  t.equal(await client.end(), 'end');
});

t.test('a refusal that breaks off, or is no HTTP, gives a problem or a break', async (t) => {
  for (const [answer, status] of [
    ['HTP/1.1 101 x\r\n\r\n', 502],
    [head('999 Odd', 'content-length: 0'), 502],
    [head('200 OK', `x: ${'x'.repeat(40_000)}`), 502],
    [head('200 OK', 'transfer-encoding: gzip, chunked'), 502],
    ['', 502],
    ['HTTP/1.1 101 Sw', 502],
  ] as const) {
    for (const how of ['end', 'reset'] as const) {
      upstream.onRequest = async ({ connection }) => {
        connection.send(answer);
        await whenRead(20);
        connection[how]();
      };
      const { client, response } = await opened();
      t.same(
        [response.status, response.header('content-type')],
        [status, 'application/problem+json'],
        answer,
      );
      client.close();
    }
  }
  for (const answer of [`${head('200 OK', 'content-length: 9')}plain`, `${head('200 OK')}plain`]) {
    upstream.onRequest = async ({ connection }) => {
      connection.send(answer);
      await whenRead(20);
      connection.reset();
    };
    const { client, response } = await opened();
    t.same([response.text, response.whole && (await client.end()) === 'end'], ['plain', false]);
  }
});

/** Protocols that carry further requests, with and without a version. */
const NOT_TUNNELLED = [
  ...['h2c', 'h2', 'H2C', 'h3', 'HTTP/2.0', 'HTTP', 'http', 'TLS/1.3', 'TLS', 'Secure-HTTP/1.4', 'SHTTP'],
  ...['websocket, h2c', 'websocket, HTTP', 'HTTP ,websocket', 'websocket,tls', ''],
];

t.test(
  'h2c and similar upgrades are ignored: Upgrade is not forwarded, and the answer is an ordinary one',
  async (t) => {
    upstream.onRequest = () => ok('plain');
    for (const protocol of NOT_TUNNELLED) {
      const lines = [
        'connection: Upgrade, HTTP2-Settings',
        `upgrade: ${protocol}`,
        'http2-settings: AAMAAABkAARAAAAAAAIAAAAA',
      ];
      const client = await proxy.client();
      const { status, text } = await client.send(request('GET', '/', ...lines)).response();
      t.same([status, text], [200, 'plain'], protocol);
      t.notMatch(upstream.last.head, /upgrade|http2/i);
      t.equal((await client.send(request('GET', '/')).response()).status, 200, 'the connection stays open');
      client.close();
    }
    const ignored = request('POST', '/', 'connection: upgrade', 'upgrade: h2c', 'content-length: 4');
    t.equal((await proxy.ask(`${ignored}body`)).status, 200, 'with a body');
    t.equal((await upstream.last.message).body.toString(), 'body');
    t.equal((await proxy.ask(`GET / HTTP/1.0\r\n${WS.join('\r\n')}\r\n\r\n`)).text, 'plain', 'in HTTP/1.0');
    upstream.onRequest = () => ok('plain', 'connection: upgrade', 'upgrade: h2c');
    t.equal(
      (await proxy.get('/')).header('upgrade'),
      undefined,
      'an Upgrade header of the upstream is removed',
    );
  },
);

t.test('an Upgrade header that is no valid token is ignored', async (t) => {
  upstream.onRequest = () => ok('plain');
  for (const protocol of [
    'webso\x80cket',
    'web socket',
    'a/b/c',
    '/1',
    'a/',
    '"a"',
    'ok, a@b',
    ',',
    ' , ,',
  ]) {
    const { status, text } = await proxy.get('/', 'connection: Upgrade', `upgrade: ${protocol}`);
    t.same([status, text], [200, 'plain'], protocol);
    t.notMatch(upstream.last.head, /upgrade/i, protocol);
  }
  upstream.onRequest = ({ header }) =>
    head('101 Switching Protocols', 'connection: Upgrade', `upgrade: ${header('upgrade')}`);
  for (const protocol of ['websocket', 'a/1.0', 'a, ,b', "x!#$%&'*+-.^_`|~1"]) {
    const client = await proxy.client();
    client.send(request('GET', '/', 'connection: Upgrade', `upgrade: ${protocol}`));
    t.equal((await client.response()).status, 101, protocol);
    client.close();
  }
});

t.test('a 101 with a protocol that was not requested opens no tunnel', async (t) => {
  for (const named of ['h2c', 'websocket, h2c', 'websocket/13', 'HTTP/2.0', 'web', '']) {
    upstream.onRequest = () => head('101 Switching Protocols', 'connection: Upgrade', `upgrade: ${named}`);
    const response = await proxy.get('/', 'connection: Upgrade', 'upgrade: websocket');
    t.equal(response.status, 502, named);
    t.match(JSON.parse(response.text), { code: 'upstream-invalid' }, named);
    t.ok(await until(() => upstream.last.connection.isClosed, 'the connection to the upstream stays open'));
  }
  for (const [asked, named] of [
    ['websocket', 'WebSocket'],
    ['a/1, b', 'B'],
    ['a, b', 'b, a'],
  ] as const) {
    upstream.onRequest = () => head('101 Switching Protocols', 'connection: Upgrade', `upgrade: ${named}`);
    const client = await proxy.client();
    client.send(request('GET', '/', 'connection: Upgrade', `upgrade: ${asked}`));
    t.equal((await client.response()).status, 101, named);
    client.close();
  }
});

const IGNORED = request('GET', '/ignored', 'connection: Upgrade', 'upgrade: h2c');
const PLAIN = request('GET', '/plain');

/** Sends each piece after the proxy has read the one before. */
async function sendApart(client: RawClient, pieces: readonly string[]): Promise<void> {
  let sent = 0;
  const socket = (await until(() => accepted.get(client.socket.localPort), 'no connection'))!;
  for (const piece of pieces) {
    client.send(piece);
    sent += piece.length;
    await until(() => socket.destroyed || socket.bytesRead === sent, 'the piece is not read');
  }
}

t.test('after an ignored upgrade that ends a piece, the connection stays open', async (t) => {
  upstream.onRequest = () => ok('plain');
  const posted = `${request('POST', '/posted', 'content-length: 4')}\r\n\r\n`;
  for (const pieces of [
    [IGNORED, PLAIN],
    [IGNORED, IGNORED, PLAIN, IGNORED, PLAIN + PLAIN],
    [...IGNORED, PLAIN],
    [PLAIN + IGNORED.slice(0, 9), IGNORED.slice(9), PLAIN],
    [PLAIN, IGNORED.slice(0, -2), IGNORED.slice(-2), posted, PLAIN],
    [IGNORED, posted.slice(0, -2), posted.slice(-2), PLAIN],
  ]) {
    upstream.reset();
    upstream.onRequest = () => ok('plain');
    const client = await proxy.client();
    await sendApart(client, pieces);
    const targets = [...pieces.join('').matchAll(/\/(?:ignored|plain|posted)(?= )/g)].map(
      ([target]) => target,
    );
    for (const target of targets) {
      const { text, header } = await client.response();
      t.same([text, header('connection')?.toLowerCase()], ['plain', 'keep-alive'], target);
    }
    t.same(
      upstream.requests.map(({ target }) => target),
      targets,
    );
    client.close();
  }
});

t.test('requests in one piece with an ignored upgrade are answered, too', async (t) => {
  const later = request('GET', '/later');
  for (const pieces of [
    [IGNORED + request('POST', '/posted', 'content-length: 44'), later.padEnd(44), later],
    [IGNORED + PLAIN, later],
    [PLAIN + IGNORED + PLAIN, later],
    [IGNORED.slice(0, -1), IGNORED.slice(-1) + PLAIN, later],
    [`${IGNORED}\r\n`, later],
    [IGNORED + PLAIN.slice(0, 10), PLAIN.slice(10), later],
    [request('POST', '/posted', 'content-length: 4'), `body${IGNORED}`, later],
    [request('POST', '/ignored', 'connection: upgrade', 'upgrade: h2c', 'content-length: 4'), `body${PLAIN}`],
  ]) {
    upstream.reset();
    upstream.onRequest = () => ok('plain');
    const client = await proxy.client();
    await sendApart(client, pieces);
    const targets = [...pieces.join('').matchAll(/(?:GET|POST) (\/\w+)(?= )/g)]
      .map(([, target]) => target!)
      .filter((target, n, all) => target !== '/later' || n === all.length - 1);
    for (const target of targets) t.equal((await client.response()).text, 'plain', target);
    t.same(
      upstream.requests.map(({ target }) => target),
      targets,
    );
    t.notMatch(client.received, /connection: close/i);
    client.close();
  }
});

t.test('after a refusal by 205 nothing that the upstream sends reaches the client', async (t) => {
  upstream.onHead = ({ connection }) => {
    connection.send(`${head('205 Reset Content')}HTTP/1.1 200 OK\r\n\r\n`).end();
  };
  const client = await proxy.client();
  const { status, header } = await client.send(request('GET', '/', ...WS)).response();
  t.same([status, header('content-length')], [205, '0']);
  t.equal(await client.end(), 'end');
  t.equal(client.received.indexOf('\r\n\r\n'), client.received.length - 4);
});

t.test('a refusal may have a long body', async (t) => {
  upstream.onHead = () => ok('x'.repeat(3_000_000));
  const client = await proxy.client();
  const { body, whole } = await client.send(request('GET', '/', ...WS)).response();
  t.same([body.length, whole], [3_000_000, true]);
});

t.test('a handshake goes upstream without a body, whatever its method', async (t) => {
  upstream.onHead = () => SWITCH;
  for (const [method, framing] of [
    ['POST', 'content-length: 0'],
    ['PUT', 'content-length: 0'],
    ['GET', undefined],
  ] as const) {
    const client = await proxy.client();
    t.equal((await client.send(request(method, '/', ...WS)).response()).status, 101, method);
    t.equal(/^(content-length|transfer-encoding).*$/im.exec(upstream.last.head)?.[0].trim(), framing, method);
    client.close();
  }
});

const WITH_BODY = { skip: !READS_UPGRADE_BODIES && 'this Node reads no body before a tunnel' };
const IGNORED_WITH_BODY = { skip: READS_UPGRADE_BODIES && 'this Node reads the body before a tunnel' };

t.test('on Node 24 an upgrade with a body is an ordinary request', IGNORED_WITH_BODY, async (t) => {
  upstream.onRequest = async ({ message }) => ok((await message).body);
  const client = await proxy.client();
  for (const [framing, sent] of [
    ['content-length: 4', 'body'],
    ['transfer-encoding: chunked', chunked('bo', 'dy')],
  ] as const) {
    client.send(request('POST', '/exec/1/start', ...WS, framing) + sent.slice(0, 3));
    const response = client.send(sent.slice(3)).response();
    t.match(await response, { status: 200, text: 'body' }, framing);
    t.equal(upstream.last.header('upgrade'), undefined);
    t.equal(upstream.last.header('authorization'), `Bearer tok-${upstream.logins}`);
  }
  client.close();
});

t.test('an upgrade with a body becomes a tunnel, and the body goes up first', WITH_BODY, async (t) => {
  // This is how Docker's client sends `exec start`.
  const DOCKER = ['connection: Upgrade', 'upgrade: tcp', 'content-type: application/json'];
  const switched = head(
    '101 UPGRADED',
    'content-type: application/vnd.docker.raw-stream',
    'connection: Upgrade',
    'upgrade: tcp',
  );
  const body = '{"Detach":false,"Tty":true}';
  const framings = [
    [`content-length: ${body.length}`, body],
    ['transfer-encoding: chunked', `${chunked(body.slice(0, 5), body.slice(5))}`],
  ] as const;
  for (const when of ['head', 'body'] as const)
    for (const [framing, sent] of framings)
      for (const cut of [0, 3, sent.length - 1, sent.length]) {
        upstream.reset();
        if (when === 'body') upstream.onRequest = () => switched;
        else upstream.onHead = () => switched;
        const client = await proxy.client();
        client.send(request('POST', '/exec/1/start', ...DOCKER, framing) + sent.slice(0, cut));
        const what = `${framing}, cut at ${cut}, switched after the ${when}`;
        await new Promise((resolve) => setTimeout(resolve, 10));
        client.send(`${sent.slice(cut)}early`);
        const response = await client.response();
        t.same([response.status, response.header('upgrade')], [101, 'tcp'], what);
        t.equal(response.header('content-type'), 'application/vnd.docker.raw-stream');
        const other = upstream.last.connection;
        await until(() => other.received.endsWith('early'), 'early bytes');
        t.match(upstream.last.header('connection'), /^upgrade$/i);
        t.equal(upstream.last.header('authorization'), `Bearer tok-${upstream.logins}`);
        t.match(other.received, framing.startsWith('content') ? `\r\n\r\n${body}early` : /0\r\n\r\nearly$/);
        other.send('\x01\x00out');
        t.equal(await client.bytes(5), '\x01\x00out');
        client.send('in');
        await until(() => other.received.endsWith('earlyin'), 'the typed bytes do not arrive');
        client.close();
        await other.closed;
      }
});

t.test(
  'an upgrade whose body is refused, broken off or malformed does not disturb other requests',
  WITH_BODY,
  async (t) => {
    const asking = request('POST', '/x', ...WS, 'content-length: 9');
    upstream.onHead = () => `${head('403 Forbidden', 'content-length: 2')}no`;
    const refused = await proxy.client();
    t.equal((await refused.send(`${asking}half`).response()).text, 'no');
    refused.close();
    upstream.reset();
    upstream.onHead = () => SWITCH;
    const leaving = await proxy.client();
    leaving.send(`${asking}half`);
    await until(() => upstream.requests.length === 1, 'no request');
    leaving.close();
    await upstream.last.connection.closed;
    const closing = await proxy.client();
    closing.send(`${asking}half`);
    await until(() => upstream.requests.length === 2, 'no request');
    upstream.last.connection.socket.destroy();
    t.ok(await closing.end());
    const malformed = await proxy.client();
    malformed.send(`${request('POST', '/x', ...WS, 'transfer-encoding: chunked')}2\r\nok\r\nzz\r\n`);
    t.equal((await malformed.response()).status, 400);
    t.equal(await malformed.end(), 'end');
  },
);

/** The upstream accepts only this token. */
function takes(token: string) {
  return ({ header }: UpstreamRequest) =>
    header('authorization') === `Bearer ${token}`
      ? SWITCH
      : `${head('401 Unauthorized', 'www-authenticate: Bearer', 'content-length: 2')}no`;
}

t.test(
  'after a 401 the handshake is sent once more with a new token; the next one has this token at its first try',
  async (t) => {
    const fresh = await gatewayFor(t, { baseUrl: upstream.url });
    const first = upstream.logins;
    upstream.onRequest = takes(`tok-${first + 1}`);
    const { client, response } = await opened('/ws', [], fresh);
    t.equal(response.status, 101);
    t.same(
      upstream.requests.map(({ header }) => header('authorization')),
      [`Bearer tok-${first}`, `Bearer tok-${first + 1}`],
    );
    client.close();
    const next = await opened('/ws', [], fresh);
    t.equal(upstream.requests.length, 3);
    next.client.close();
    upstream.onRequest = takes('none');
    const refused = await opened('/ws', [], fresh);
    t.same([refused.response.status, refused.response.text], [401, 'no'], 'a second 401 passes');
    t.equal(refused.response.header('www-authenticate'), 'Bearer');
    t.equal(upstream.logins, first + 1);
  },
);

t.test('a handshake waits for a token, and gets 503 if there is none', async (t) => {
  upstream.onLogin = () => head('500 Oops', 'content-length: 0');
  const env = { BEARERD_TOKEN_WAIT: '200ms' };
  const tokenless = await gatewayFor(t, { baseUrl: upstream.url, env, loggedIn: false });
  const client = await tokenless.client();
  const response = await client.send(request('GET', '/', ...WS)).response();
  t.same([response.status, JSON.parse(response.text).code], [503, 'token-unavailable']);
  t.ok(response.header('retry-after'));
  t.equal(await client.end(), 'end');
  upstream.onLogin = () => grant('late');
  const patient = await gatewayFor(t, { baseUrl: upstream.url, loggedIn: false });
  const { client: late } = await opened('/', [], patient);
  t.equal(upstream.last.header('authorization'), 'Bearer late');
  late.close();
});

t.test('every guard applies to a handshake, too', async (t) => {
  const guarded = await gatewayFor(t, {
    baseUrl: upstream.url,
    yaml: ROUTES,
    env: { BEARERD_CALLER_KEY: 'caller' },
  });
  const asked = async (target: string, ...lines: string[]) => {
    const client = await guarded.client();
    const response = await client.send(request('GET', target, ...WS, ...lines)).response();
    t.equal(await client.end(), 'end');
    return [response.status, JSON.parse(response.text).code];
  };
  const key = 'x-bearerd-key: caller';
  t.same(await asked('/'), [407, 'caller-key-required']);
  t.same(await asked('/', 'x-bearerd-key: wrong'), [407, 'caller-key-required']);
  t.same(await asked('/', key, 'origin: http://evil.test'), [403, 'origin-refused']);
  t.same(await asked('/', key, 'origin: null'), [403, 'origin-refused']);
  t.same(await asked('/', key, 'sec-fetch-site: cross-site'), [403, 'origin-refused']);
  t.same(await asked('/denied/x', key), [403, 'route-denied']);
  t.same(await asked('/get', key), [405, 'method-refused']);
  t.same(await asked('/api/identity/v1/session', key), [403, 'route-denied']);
  t.same(await asked('/a/../b', key), [400, 'bad-path']);
  t.same(await asked('/', key, 'host: localhost'), [400, 'bad-request']);
  const foreign = await guarded.client();
  foreign.send(`GET / HTTP/1.1\r\nhost: evil.test\r\n${WS.join('\r\n')}\r\n${key}\r\n\r\n`);
  t.equal((await foreign.response()).status, 403);
  t.same(upstream.requests, []);
  const client = await guarded.client();
  t.equal((await client.send(request('GET', '/', ...WS, key)).response()).status, 101);
  t.equal(upstream.last.header('x-bearerd-key'), undefined);
  client.close();
  const nowhere = await proxy.client();
  await nowhere.send(request('GET', '//evil.test:1/x', ...WS)).response();
  t.equal(upstream.last.target, '//evil.test:1/x', 'a target names no host');
  nowhere.close();
});

t.test('if one side ends or breaks, so does the other, after the bytes sent before', async (t) => {
  for (const leave of ['close', 'reset', 'halfClose'] as const) {
    const client = await RawClient.to(proxy.port, { allowHalfOpen: true });
    await client.send(request('GET', '/', ...WS)).response();
    const { connection } = upstream.last;
    client.send('bye');
    await until(() => connection.received.endsWith('bye'), 'the bytes do not arrive');
    if (leave === 'halfClose') client.send('\x88\x00');
    client[leave]();
    await until(() => connection.isClosed, `${leave}: the upstream connection stays open`);
    if (leave === 'halfClose')
      t.ok(connection.received.endsWith('bye\x88\x00'), 'the last frame does not arrive');
    client.close();
  }
  for (const leave of ['end', 'reset'] as const) {
    const { client, other } = await opened();
    other.send('bye');
    t.equal(await client.bytes(3), 'bye');
    if (leave === 'end') other.send('\x88\x00');
    other[leave]();
    if (leave === 'end') t.equal(await client.bytes(2), '\x88\x00');
    t.equal(await client.end(), leave === 'end' ? 'end' : 'reset');
  }
});

async function leftover(t: Test): Promise<void> {
  await until(() => proxy.gateway.inFlight === 0, 'tunnels do not end');
  await until(() => upstream.open <= 2, `${upstream.open} upstream connections stay open`);
  t.same(proxy.internalErrors(), []);
}

t.test('a client that leaves during the handshake leaves nothing behind', async (t) => {
  for (const leave of ['close', 'reset', 'halfClose'] as const) {
    for (let i = 0; i < 20; i++) {
      upstream.reset();
      upstream.onRequest = i % 2 === 0 ? () => undefined : () => SWITCH;
      const client = await proxy.client();
      client.send(request('GET', '/', ...WS));
      if (i % 4 < 2) await until(() => upstream.requests.length > 0, 'no request');
      client[leave]();
      await client.end();
    }
  }
  await leftover(t);
});

t.test('an upstream that breaks during or after the handshake does not disturb other requests', async (t) => {
  for (let i = 0; i < 50; i++) {
    upstream.onRequest = ({ connection }) => {
      if (i % 3 !== 0) connection.send(SWITCH);
      connection.reset();
    };
    const client = await proxy.client();
    client.send(request('GET', '/', ...WS));
    if (i % 3 === 0) t.equal((await client.response()).status, 502);
    if (i % 3 === 1) client.reset();
    await client.end();
  }
  await leftover(t);
  upstream.onRequest = () => SWITCH;
  const { client } = await opened();
  client.close();
});

t.test('a tunnel without traffic is closed at the idle timeout; one with traffic is not', async (t) => {
  // The pause between two pieces is far from it, so that a busy machine makes no difference.
  const hasty = await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_IDLE_TIMEOUT: '1500ms' } });
  const still = await opened('/', [], hasty);
  const moving = await opened('/', [], hasty);
  const timer = setInterval(() => moving.other.send('.'), 50);
  t.equal(await still.client.end(), 'end');
  await still.other.closed;
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.notOk(moving.other.isClosed);
  clearInterval(timer);
  moving.client.close();
});

t.test('with closeTunnels: at-expiry a tunnel ends with its token; by default it does not', async (t) => {
  const short = await RawUpstream.startedFor(t);
  short.onLogin = (login) => grant(`tok-${login}`, 2);
  short.onRequest = () => SWITCH;
  const yaml = 'routes: [{ prefix: /, credential: token }, { prefix: /none, credential: none }]\n';
  const options = { baseUrl: short.url, yaml };
  const never = await gatewayFor(t, options);
  const env = { BEARERD_CLOSE_TUNNELS: 'at-expiry' };
  const atExpiry = await gatewayFor(t, { ...options, env });
  const open = async (gateway: TestGateway, target: string) => {
    const client = await gateway.client();
    t.equal((await client.send(request('GET', target, ...WS)).response()).status, 101);
    return { client, other: short.last.connection };
  };
  const kept = [await open(never, '/'), await open(atExpiry, '/none')];
  const closed = await open(atExpiry, '/');
  closed.other.send('last words');
  t.equal(await closed.client.end(), 'end');
  t.match(closed.client.received, /last words$/);
  await closed.other.closed;
  await until(() => atExpiry.requests().length === 1, 'no event');
  t.match(atExpiry.requests()[0], { status: 101, closedBy: 'token-expiry', aborted: false });
  for (const { client, other } of kept) {
    other.send('still here');
    t.equal(await client.bytes(10), 'still here');
    client.close();
  }
  await until(() => never.requests().length === 1, 'no event');
  t.equal(never.requests()[0]!.closedBy, undefined);
});

t.test('a handshake that gets no answer gets 504', async (t) => {
  const hasty = await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_RESPONSE_TIMEOUT: '200ms' } });
  upstream.onRequest = () => undefined;
  const { client, response } = await opened('/', [], hasty);
  t.same([response.status, JSON.parse(response.text).code], [504, 'upstream-timeout']);
  t.equal(await client.end(), 'end');
  await upstream.last.connection.closed;
});

t.test('a side that does not read slows down the other side', async (t) => {
  const { client, other } = await opened();
  const piece = Buffer.alloc(1 << 20, 'x');
  const pump = (socket: RawClient['socket']) => {
    let sent = 0;
    const more = () => {
      while (!socket.destroyed && sent < 256 << 20 && socket.write(piece)) sent += piece.length;
    };
    socket.on('drain', more);
    more();
    return () => sent;
  };
  client.socket.pause();
  const down = pump(other.socket);
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.ok(down() < 64 << 20, `${down()} bytes went into a client that does not read`);
  client.close();
  await other.closed;
  const second = await opened();
  second.other.socket.pause();
  const up = pump(second.client.socket);
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.ok(up() < 64 << 20, `${up()} bytes went into an upstream that does not read`);
  second.client.close();
  second.other.reset();
});

t.test('a 401 to an upgrade that breaks off during the renewal gives a 401, or a tunnel', async (t) => {
  for (const renews of [true, false]) {
    const broken = await RawUpstream.startedFor(t);
    let logins = 0;
    broken.onLogin = () => {
      logins++;
      if (logins === 1) return grant('tok-1');
      return renews ? grant('tok-2') : head('500 No', 'content-length: 0');
    };
    broken.onRequest = ({ header, connection }) => {
      if (header('authorization') === 'Bearer tok-2') {
        return head('101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket');
      }
      connection.send(`${head('401 No', 'content-length: 10')}12345`);
      later(30, () => connection.reset());
      return undefined;
    };
    const through = await gatewayFor(t, { baseUrl: broken.url });
    const client = await through.client();
    client.send(request('GET', '/', 'connection: upgrade', 'upgrade: websocket'));
    const answer = await client.response();
    t.equal(answer.status, renews ? 101 : 401);
    if (!renews) t.equal(answer.whole, false, 'the client can tell that the 401 broke off');
    t.same(through.internalErrors(), []);
    client.close();
  }
});
