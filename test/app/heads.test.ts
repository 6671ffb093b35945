import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { gatewayFor, request } from '../support/gateway.ts';
import { RawClient, type RawResponse } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

// The head of a request, on each listener: the proxy's and the admin listener, over TCP and over a Unix socket.

const upstream = await RawUpstream.startedFor(t);
const sockets = [0, 1].map(() => join(tmpdir(), `bearerd-${randomUUID()}.sock`));
const proxy = await gatewayFor(t, {
  baseUrl: upstream.url,
  env: {
    BEARERD_LISTEN: `127.0.0.1:0,unix:${sockets[0]}`,
    BEARERD_ADMIN_LISTEN: `127.0.0.1:0,unix:${sockets[1]}`,
    BEARERD_ALLOWED_ORIGINS: 'http://localhost:3000',
  },
});
t.beforeEach(() => upstream.reset());

const LISTENERS: Readonly<Record<string, number | string>> = {
  proxy: proxy.port,
  'proxy, Unix socket': sockets[0]!,
  admin: proxy.adminPort,
  'admin, Unix socket': sockets[1]!,
};

async function ask(where: number | string, bytes: string): Promise<RawResponse> {
  const client = await RawClient.to(where);
  const response = await client.send(bytes).response(/^\S+/.exec(bytes)?.[0]);
  client.close();
  return response;
}

function refused(t: Test, { status, text }: RawResponse, expected: readonly unknown[], what: string): void {
  t.same([status, JSON.parse(text).code], expected, what);
  t.same(upstream.requests, [], `${what}: nothing goes upstream`);
}

t.test('no option of Node makes the parsers of the listeners lenient', async (t) => {
  const servers = new Map<Server, string>();
  const note = (message: unknown) => {
    const { server, request } = message as { server: Server; request: IncomingMessage };
    if (request.url?.startsWith('/lenient')) servers.set(server, request.url);
  };
  subscribe('http.server.request.start', note);
  const pem = (name: string) => new URL(`../support/tls/${name}`, import.meta.url).pathname;
  const secure = await gatewayFor(t, {
    baseUrl: upstream.url,
    env: {
      BEARERD_LISTEN_TLS_CERT_FILE: pem('server.pem'),
      BEARERD_LISTEN_TLS_KEY_FILE: pem('server.key'),
    },
  });
  for (const [name, where] of Object.entries(LISTENERS))
    await ask(where, request('GET', `/lenient/${encodeURI(name)}`));
  const client = await RawClient.secure(secure.port, { rejectUnauthorized: false });
  await client.send(request('GET', '/lenient/TLS')).response();
  client.close();
  unsubscribe('http.server.request.start', note);
  t.equal(servers.size, 5);
  for (const [server, url] of servers)
    t.equal((server as { insecureHTTPParser?: boolean }).insecureHTTPParser, false, url);
});

for (const [name, where] of Object.entries(LISTENERS)) {
  t.test(`${name}: the size of headers is counted as on the wire`, async (t) => {
    const few = Array.from({ length: 5_000 }, () => 'a:b');
    t.equal(
      (await ask(where, request('GET', '/healthz', ...few))).status,
      200,
      '5,000 lines are 30,000 bytes',
    );
    upstream.reset();
    const many = Array.from({ length: 14_000 }, () => 'a:b');
    refused(t, await ask(where, request('GET', '/healthz', ...many)), [431, 'headers-too-large'], 'lines');
    const empty = Array.from({ length: 11_000 }, () => 'a:');
    refused(
      t,
      await ask(where, request('GET', '/healthz', ...empty)),
      [431, 'headers-too-large'],
      'empty lines',
    );
    const target = `/healthz?${'x'.repeat(32_720)}`;
    refused(
      t,
      await ask(where, request('GET', target, 'a:b', 'a:b', 'a:b', 'a:b')),
      [431, 'headers-too-large'],
      'target and lines',
    );
  });

  t.test(
    `${name}: an unknown transfer coding gets 501, and one that hides the end of the body gets 400`,
    async (t) => {
      const coded = (...lines: string[]) =>
        ask(where, `${request('POST', '/renew', ...lines)}5\r\nhello\r\n0\r\n\r\n`);
      for (const lines of [
        ['transfer-encoding: gzip, chunked'],
        ['Transfer-Encoding: GZIP , Chunked'],
        ['transfer-encoding: gzip', 'transfer-encoding: chunked'],
        ['transfer-encoding: gzip;q=1, chunked'],
        ['transfer-encoding: identity, chunked'],
      ]) {
        const client = await RawClient.to(where);
        client.send(`${request('POST', '/renew', ...lines)}5\r\nhello\r\n0\r\n\r\n`);
        refused(t, await client.response(), [501, 'not-implemented'], lines.join());
        t.equal(await client.end(), 'end', 'the connection ends: the end of the body is unknown');
      }
      for (const lines of [
        ['transfer-encoding: chunked, gzip'],
        ['transfer-encoding: gzip'],
        ['transfer-encoding: chunked, chunked'],
        ['transfer-encoding: chunked', 'transfer-encoding: chunked'],
        ['transfer-encoding: gzip, chunked', 'transfer-encoding: chunked'],
        ['transfer-encoding: g\xe9zip, chunked'],
        ['transfer-encoding: , chunked'],
      ]) {
        refused(t, await coded(...lines), [400, 'bad-request'], lines.join());
      }
    },
  );

  t.test(`${name}: OPTIONS * concerns the server, and bearerd answers it`, async (t) => {
    for (const target of ['*', 'http://localhost', 'HTTP://LOCALHOST:80']) {
      const answer = await ask(where, request('OPTIONS', target));
      t.equal(answer.status, 204, target);
      t.match(answer.header('allow'), /^GET, HEAD, POST,.*OPTIONS$/);
      t.notMatch(answer.head, /content-length|transfer-encoding/i);
    }
    refused(t, await ask(where, request('GET', '*')), [400, 'bad-path'], 'another method');
    refused(t, await ask(where, request('OPTIONS', '*?x')), [400, 'bad-path'], 'a query');
    const elsewhere = 'OPTIONS * HTTP/1.1\r\nhost: evil.test\r\n\r\n';
    const absolute = request('OPTIONS', 'http://evil.test');
    for (const other of [elsewhere, absolute]) {
      const answer = await ask(where, other);
      // No web page reaches a Unix socket, so any Host is accepted there.
      if (typeof where === 'string') t.equal(answer.status, 204, other);
      else refused(t, answer, [403, 'host-refused'], 'the Host rule holds for the target, too');
    }
    const page = request('OPTIONS', '*', 'origin: http://evil.test');
    refused(t, await ask(where, page), [403, 'origin-refused'], 'the Origin rule holds');
  });
}

const FOREIGN = [
  'GET /x RTSP/1.0',
  'POST /x RTSP/1.1',
  'OPTIONS * RTSP/1.0',
  'SOURCE /x ICE/1.0',
  'GET  /x  RTSP/1.0',
];
const head = (line: string, ...lines: string[]) =>
  `${[line, 'host: localhost', ...lines].join('\r\n')}\r\n\r\n`;

for (const [name, where] of Object.entries(LISTENERS)) {
  t.test(
    `${name}: a request of another protocol is refused, in any pieces and behind other requests`,
    async (t) => {
      const ended = async (client: RawClient, what: string) => {
        refused(t, await client.response(), [400, 'bad-request'], what);
        t.equal(await client.end(), 'end');
      };
      for (const line of [
        ...FOREIGN,
        '\rGET /x HTTP/1.1',
        '\r\r\rGET /x HTTP/1.1',
        '\r\n\r\rGET /x HTTP/1.1',
      ]) {
        const bytes = head(line);
        await ended((await RawClient.to(where)).send(bytes), line);
        const slow = await RawClient.to(where);
        for (const byte of bytes) {
          slow.send(byte);
          await new Promise((resolve) => setImmediate(resolve));
        }
        await ended(slow, `${line}, byte by byte`);
        const cut = (await RawClient.to(where)).send(bytes.slice(0, line.length - 5));
        await new Promise((resolve) => setTimeout(resolve, 20));
        await ended(cut.send(bytes.slice(line.length - 5)), `${line}, in two pieces`);
      }
      for (const line of FOREIGN) {
        for (const before of [
          head('GET /healthz HTTP/1.1'),
          `${head('POST /healthz HTTP/1.1', 'content-length: 2')}{}`,
          `${head('POST /healthz HTTP/1.1', 'transfer-encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`,
        ]) {
          const bytes = before + head(line);
          // In one piece; cut after the body; cut within the request line.
          for (const at of [
            bytes.length,
            before.length,
            before.length + 8,
            before.length + line.length - 3,
          ]) {
            const client = await RawClient.to(where);
            client.send(bytes.slice(0, at));
            await new Promise((resolve) => setTimeout(resolve, 10));
            if (at < bytes.length) client.send(bytes.slice(at));
            await client.response();
            upstream.reset();
            await ended(client, `${line} at ${at} behind ${before}`);
          }
        }
        const first = head('GET /healthz HTTP/1.1');
        const twice = await RawClient.to(where);
        const cuts = [first.length - 1, first.length + line.length - 3];
        for (const [n, at] of [...cuts, first.length + head(line).length].entries()) {
          twice.send((first + head(line)).slice(cuts[n - 1] ?? 0, at));
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        await twice.response();
        upstream.reset();
        await ended(twice, `${line}, cut within the end of the head before it, and within itself`);
        const upgrade = head(line, 'connection: upgrade', 'upgrade: websocket');
        await ended((await RawClient.to(where)).send(upgrade), `${line}, an upgrade`);
      }
    },
  );
}

t.test('a request that only looks like another protocol passes', async (t) => {
  for (const line of [
    '\r\n\r\nGET /x HTTP/1.1',
    '\nGET /x HTTP/1.1',
    'SOURCE /x HTTP/1.1',
    'GET /RTSP/1.0?ICE/ HTTP/1.0',
  ]) {
    t.equal((await proxy.ask(head(line))).status, 200, line);
  }
  t.equal((await proxy.ask(head('GET /x HTTP/1.1', 'x-a: GET /y RTSP/1.0', 'x-b: see ICE/1.0'))).status, 200);
  const client = await proxy.client();
  for (const body of ['GET /x RTSP/1.0\r\n\r\n', '\r\r', 'x\r', 'SOURCE /x ICE/1.0\r\n']) {
    client.send(`${head('POST /y HTTP/1.1', `content-length: ${body.length}`)}${body}`);
    t.equal((await client.response()).status, 200, body);
    client.send(head('POST /y HTTP/1.1', `content-length: ${body.length}`));
    await new Promise((resolve) => setTimeout(resolve, 10));
    client.send(body + head('GET /z HTTP/1.1'));
    t.equal((await client.response()).status, 200, body);
    t.equal((await client.response()).status, 200, `behind ${body}`);
  }
  client.close();
});

t.test('an OPTIONS request is forwarded with one less in Max-Forwards, and not forwarded at 0', async (t) => {
  const sent = async (method: string, ...values: string[]) => {
    const before = upstream.requests.length;
    const lines = values.map((value, n) => `${n % 2 === 0 ? 'Max-Forwards' : 'max-forwards'}: ${value}`);
    const answer = await ask(proxy.port, request(method, '/x', ...lines));
    if (upstream.requests.length > before) return upstream.last.all('max-forwards');
    t.equal(answer.status, 204);
    t.match(answer.header('allow'), /^GET, HEAD, POST,.*OPTIONS$/);
    t.equal(answer.header('via'), undefined);
    return 'answered';
  };
  t.same(await sent('OPTIONS'), []);
  t.same(await sent('OPTIONS', '3'), ['2']);
  t.same(await sent('OPTIONS', '1'), ['0']);
  t.same(await sent('OPTIONS', '010'), ['9']);
  t.same(await sent('OPTIONS', '99999999999999999999999'), ['2147483647']);
  t.same(await sent('OPTIONS', '5', '7'), ['4', '6']);
  for (const value of ['0', '000']) t.equal(await sent('OPTIONS', value), 'answered');
  t.equal(await sent('OPTIONS', '5', '0'), 'answered');
  for (const value of ['', '-1', '+1', '1.5', '0x1', '1, 0', 'x'])
    t.same(await sent('OPTIONS', value), [value], 'no number');
  for (const method of ['GET', 'POST', 'PROPFIND'])
    t.same(await sent(method, '0', '3'), ['0', '3'], 'another method');
});

t.test('an OPTIONS request with Max-Forwards: 0 is checked as any other', async (t) => {
  const last = 'max-forwards: 0';
  const keyed = await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_CALLER_KEY: 'caller-key' } });
  t.equal((await keyed.ask(request('OPTIONS', '/x', last))).status, 407);
  t.equal((await keyed.ask(request('OPTIONS', '/x', last, 'x-bearerd-key: caller-key'))).status, 204);
  t.equal((await ask(proxy.port, request('OPTIONS', '/x', last, 'origin: http://evil.test'))).status, 403);
  const origin = 'origin: http://localhost:3000';
  const answer = await ask(proxy.port, request('OPTIONS', '/x', last, origin));
  t.equal(answer.header('access-control-allow-origin'), 'http://localhost:3000');
  t.equal(
    (await ask(proxy.port, request('OPTIONS', '/x', last, 'connection: upgrade', 'upgrade: websocket')))
      .status,
    204,
  );
});

t.test('OPTIONS * needs the caller key, and gives CORS headers to an allowed origin', async (t) => {
  const origin = 'origin: http://localhost:3000';
  const answer = await ask(proxy.port, request('OPTIONS', '*', origin));
  t.equal(answer.header('access-control-allow-origin'), 'http://localhost:3000');
  const keyed = await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_CALLER_KEY: 'caller-key' } });
  t.equal((await keyed.ask(request('OPTIONS', '*'))).status, 407);
  t.equal((await keyed.ask(request('OPTIONS', '*', 'x-bearerd-key: caller-key'))).status, 204);
  t.same(
    keyed.requests().map(({ status, code }) => [status, code]),
    [
      [407, 'caller-key-required'],
      [204, undefined],
    ],
    'both are in the log',
  );
  t.same(keyed.internalErrors(), []);
});

t.test('none of these tests caused an internal error', async (t) => t.same(proxy.internalErrors(), []));
