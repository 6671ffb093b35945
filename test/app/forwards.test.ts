import { METHODS } from 'node:http';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { chunked, gatewayFor, request } from '../support/gateway.ts';
import { until } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// Methods, framing, paths, headers and bodies pass unchanged, both ways.

const upstream = await RawUpstream.startedFor(t);
const proxy = await gatewayFor(t, { baseUrl: upstream.url });
t.beforeEach(() => upstream.reset());

/** Sends a request; gives the request as the upstream got it, and the answer's status. */
async function seen(bytes: string | Buffer) {
  const response = await proxy.ask(bytes);
  const got = upstream.requests.at(-1);
  return { status: response.status, response, got, message: await got?.message };
}

const FORWARDED = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE');
const hex = (text: string | undefined) => Buffer.from(text ?? '', 'latin1').toString('hex');

t.test('every method that Node parses reaches the upstream, with and without a body', async (t) => {
  for (const method of FORWARDED) {
    const without = await seen(request(method, '/m'));
    t.same([without.status, without.got?.startLine], [200, `${method} /m HTTP/1.1`], method);
    t.same([without.message?.body.length, without.message?.whole], [0, true], `${method}: no body`);
    const line = method === 'QUERY' ? [] : ['content-type: text/plain'];
    const sized = await seen(`${request(method, '/m', ...line, 'content-length: 5')}12345`);
    t.same(
      [sized.status, sized.message?.body.toString(), sized.message?.framing],
      [200, '12345', 'length'],
      method,
    );
    const inChunks = await seen(request(method, '/m', 'transfer-encoding: chunked') + chunked('123', '45'));
    t.same([inChunks.status, inChunks.message?.body.toString()], [200, '12345'], `${method}: chunked`);
    const zero = await seen(request(method, '/m', 'content-length: 0'));
    t.same([zero.status, zero.message?.body.length], [200, 0], `${method}: zero`);
  }
});

t.test(
  'with any framing of an answer the client can tell where it ends, and the connection stays open',
  async (t) => {
    const answers: Record<string, { bytes: string | Buffer; status: number; body: string; end?: boolean }> = {
      length: { bytes: ok('12345'), status: 200, body: '12345' },
      empty: { bytes: ok(''), status: 200, body: '' },
      chunked: {
        bytes: head('200 OK', 'transfer-encoding: chunked') + chunked('12', '345'),
        status: 200,
        body: '12345',
      },
      close: { bytes: `${head('200 OK')}12345`, status: 200, body: '12345', end: true },
      'http/1.0': { bytes: 'HTTP/1.0 200 OK\r\n\r\n12345', status: 200, body: '12345', end: true },
      'no content': { bytes: head('204 No Content'), status: 204, body: '' },
      'no content, with a length': {
        bytes: head('204 No Content', 'content-length: 0'),
        status: 204,
        body: '',
      },
      'not modified': {
        bytes: head('304 Not Modified', 'content-length: 100', 'etag: "a"'),
        status: 304,
        body: '',
      },
      'reset content': { bytes: head('205 Reset Content', 'content-length: 0'), status: 205, body: '' },
      'reset content, without a length': { bytes: head('205 Reset Content'), status: 205, body: '' },
      'unusual status': { bytes: `${head('299 Odd', 'content-length: 1')}x`, status: 299, body: 'x' },
    };
    const requests: Record<string, string> = {
      GET: request('GET', '/'),
      POST: `${request('POST', '/', 'content-length: 3')}abc`,
      PROPFIND: request('PROPFIND', '/', 'transfer-encoding: chunked') + chunked('abc'),
      OPTIONS: request('OPTIONS', '/', 'content-length: 0'),
    };
    for (const [kind, answer] of Object.entries(answers)) {
      for (const [method, bytes] of Object.entries(requests)) {
        upstream.onRequest = ({ connection }) => {
          connection.send(answer.bytes);
          if (answer.end) connection.end();
        };
        const client = await proxy.client();
        const response = await client.send(bytes).response();
        t.same(
          [response.status, response.text, response.whole],
          [answer.status, answer.body, true],
          `${method}, ${kind}`,
        );
        if (response.status === 204) t.notMatch(response.head, /content-length|transfer-encoding/i);
        if (kind === 'not modified') t.equal(response.header('content-length'), '100');
        upstream.onRequest = () => ok('next');
        t.equal(
          (await client.send(request('GET', '/')).response()).text,
          'next',
          `${method}, ${kind}: goes on`,
        );
        client.close();
      }
    }
    t.same(
      proxy.events.filter(({ type }) => type === 'upstream-failed'),
      [],
      'no answer counts as a failure',
    );
  },
);

t.test('the answer to a HEAD keeps its length and has no body', async (t) => {
  const client = await proxy.client();
  for (const bytes of [
    head('200 OK', 'content-length: 9757', 'etag: "x"'),
    head('200 OK', 'transfer-encoding: chunked', 'etag: "x"'),
    head('200 OK', 'etag: "x"'),
  ]) {
    upstream.onRequest = () => bytes;
    const response = await client.send(request('HEAD', '/')).response('HEAD');
    t.equal(response.header('content-length'), bytes.includes('9757') ? '9757' : undefined);
    t.same([response.status, response.header('etag')], [200, '"x"']);
    upstream.onRequest = () => ok('body');
    t.equal((await client.send(request('GET', '/')).response()).text, 'body');
  }
  client.close();
});

t.test('an HTTP/1.0 client gets a plain body and the end of the connection', async (t) => {
  upstream.onRequest = () => head('200 OK', 'transfer-encoding: chunked') + chunked('123', '45');
  for (const lines of ['', 'connection: keep-alive\r\n', 'te: chunked\r\n']) {
    const client = await proxy.client();
    const response = await client.send(`GET / HTTP/1.0\r\n${lines}\r\n`).response();
    t.same([response.status, response.header('transfer-encoding'), response.text], [200, undefined, '12345']);
    t.equal(await client.end(), 'end');
  }
  upstream.onRequest = () => ok('12345');
  const client = await proxy.client();
  const both = client.send('GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n');
  t.equal((await both.response()).header('connection'), 'keep-alive');
  t.equal((await client.send('GET / HTTP/1.0\r\n\r\n').response()).text, '12345');
  t.equal(await client.end(), 'end');
  const expecting = await proxy.ask('POST / HTTP/1.0\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\nhi');
  t.same([expecting.status, expecting.interim], [200, []], 'HTTP/1.0 has no 100');
});

t.test('a body passes whatever its content type', async (t) => {
  const types = [
    'application/x-odd',
    ';;',
    'multipart/form-data',
    'text',
    'a/b; c="',
    '',
    'text/plain; charset=x-none',
  ];
  for (const method of ['POST', 'PUT', 'QUERY', 'GET', 'DELETE']) {
    for (const type of types) {
      const { status, message } = await seen(
        `${request(method, '/', `content-type: ${type}`, 'content-length: 2')}{]`,
      );
      t.same([status, message?.body.toString()], [200, '{]'], `${method} ${type}`);
      t.match(message?.head, `content-type: ${type}`);
    }
  }
  const two = await seen(
    `${request('POST', '/', 'content-type: a/b', 'content-type: c/d', 'content-length: 1')}x`,
  );
  t.same([two.status, two.got?.all('content-type')], [200, ['a/b', 'c/d']]);
  const none = await seen(request('POST', '/', 'transfer-encoding: chunked') + chunked('x'));
  t.same([none.status, none.got?.all('content-type'), none.message?.body.toString()], [200, [], 'x']);
  const form = await seen(
    `${request('POST', '/', 'content-type: application/x-www-form-urlencoded', 'content-length: 15')}a=1&a=2&b=%20+%`,
  );
  t.equal(form.message?.body.toString(), 'a=1&a=2&b=%20+%');
});

t.test('a body is never another request', async (t) => {
  const smuggled = 'GET /evil HTTP/1.1\r\nHost: u\r\n\r\n';
  for (const method of ['DELETE', 'OPTIONS', 'GET', 'HEAD', 'POST']) {
    upstream.reset();
    const { got, message } = await seen(
      request(method, '/a', 'transfer-encoding: chunked') + chunked(smuggled),
    );
    t.same([got?.target, message?.body.toString(), message?.whole], ['/a', smuggled, true], method);
    t.equal(upstream.requests.length, 1);
    const client = await proxy.client();
    client.send(
      `${request(method, '/a', `content-length: ${smuggled.length}`)}${smuggled}${request('GET', '/b')}`,
    );
    await client.response(method);
    await client.response();
    t.same(
      upstream.requests.slice(1).map(({ target }) => target),
      ['/a', '/b'],
    );
    client.close();
  }
});

t.test('ambiguous framing gets 400, and the connection ends', async (t) => {
  const cases: Record<string, string> = {
    'length and chunks': 'content-length: 0\r\ntransfer-encoding: chunked\r\n\r\n20\r\n',
    'chunks and length': 'transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n',
    'two lengths': 'content-length: 5\r\ncontent-length: 6\r\n\r\n12345',
    'a list of lengths': 'content-length: 5, 5\r\n\r\n12345',
    'a signed length': 'content-length: +5\r\n\r\n12345',
    'a hexadecimal length': 'content-length: 0x5\r\n\r\n12345',
    'a coding that is not chunked': 'transfer-encoding: gzip\r\n\r\nx',
    'chunked twice': 'transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n',
    'two codings': 'transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'chunked with a tab before it': 'transfer-encoding:\x0bchunked\r\n\r\n0\r\n\r\n',
    'a blank before the colon': 'content-length : 5\r\n\r\n12345',
    'a folded line': 'x-a: 1\r\n 2\r\n\r\n',
    'no blank between name and line end': 'x-a\r\n\r\n',
  };
  for (const [kind, rest] of Object.entries(cases)) {
    const client = await proxy.client();
    const response = await client.send(`POST / HTTP/1.1\r\nhost: localhost\r\n${rest}`).response();
    t.same([response.status, JSON.parse(response.text).code], [400, 'bad-request'], kind);
    t.equal(response.header('connection')?.toLowerCase(), 'close', kind);
    t.equal(await client.end(), 'end', kind);
  }
  const old = await proxy.ask('POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n');
  t.equal(old.status, 400, 'HTTP/1.0 has no chunks');
  t.same(upstream.requests, []);
});

t.test('a malformed chunk ends both connections', async (t) => {
  upstream.onHead = () => undefined;
  const client = await proxy.client();
  client.send(`${request('POST', '/', 'transfer-encoding: chunked')}5\r\n12345\r\n`);
  await until(() => upstream.requests.length === 1, 'no request');
  client.send('ZZ\r\nrubbish');
  t.equal((await client.response()).status, 400);
  t.equal(await client.end(), 'end');
  await upstream.last.connection.closed;
  t.equal((await upstream.last.message).whole, false, 'the upstream does not see the body end');
});

t.test('bearerd answers Expect: 100-continue itself, in any letter case', async (t) => {
  for (const value of ['100-continue', '100-Continue', '100-CONTINUE']) {
    upstream.reset();
    const client = await proxy.client();
    client.send(request('PUT', '/up', `Expect: ${value}`, 'content-length: 5'));
    await until(() => client.received.includes('\r\n\r\n'), 'no 100');
    t.equal(client.received, 'HTTP/1.1 100 Continue\r\n\r\n');
    const response = await client.send('12345').response();
    t.same([response.status, response.interim], [200, [100]]);
    t.same(
      [upstream.last.header('expect'), (await upstream.last.message).body.toString()],
      [undefined, '12345'],
    );
    client.close();
  }
});

t.test('an answer that comes before the end of the upload reaches the client at once', async (t) => {
  for (const status of ['413 Too Large', '403 Forbidden']) {
    upstream.onHead = () => `${head(status, 'content-length: 2')}no`;
    const client = await proxy.client();
    client.send(request('PUT', '/up', 'expect: 100-continue', 'transfer-encoding: chunked'));
    await until(() => client.received.includes('\r\n\r\n'), 'no 100');
    t.equal((await client.send('1\r\nx\r\n').response()).text, 'no', status);
    client.close();
  }
});

t.test('another expectation gets 417, after the answers to the requests before it', async (t) => {
  for (const value of ['x', '100-continue, x', ', x,']) {
    const client = await proxy.client();
    client.send(
      `${request('GET', '/first')}${request('PUT', '/up', `expect: ${value}`, 'content-length: 5')}`,
    );
    t.equal((await client.response()).status, 200);
    const response = await client.response();
    t.same([response.status, JSON.parse(response.text).code], [417, 'expectation-failed'], value);
    client.close();
  }
});

t.test('an empty Expect passes, and the connection stays open', async (t) => {
  const client = await proxy.client();
  for (const value of ['', ' ', ',', ' , ,']) {
    for (const [target, status] of [
      ['/up', 200],
      ['/x/%zz', 400],
    ] as const) {
      const sent = `${request('PUT', target, `expect: ${value}`, 'content-length: 2')}hi`;
      const response = await client.send(sent).response();
      t.same([response.status, response.interim], [status, []], `${JSON.stringify(value)} ${target}`);
      t.notMatch(response.header('connection'), /close/i);
    }
  }
  client.send(request('PUT', '/up', 'expect: , 100-continue ,', 'content-length: 2'));
  await until(() => client.received.includes('100 Continue'), 'no 100');
  client.close();
});

t.test('hop-by-hop headers of the client, and headers that its Connection names, are removed', async (t) => {
  const lines = [
    'Connection: close, X-Foo, authorization',
    'CONNECTION: Host, Content-Length , x-bar,,',
    'X-Foo: 1',
    'x-bar: 2',
    'X-Kept: 3',
    'Keep-Alive: timeout=5',
    'Proxy-Connection: keep-alive',
    'TE: trailers',
    'Trailer: X-Sum',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    'Proxy-Authorization: Basic eA==',
    'X-Bearerd-Key: k',
    'Authorization: Basic c2VjcmV0',
    'content-length: 5',
  ];
  const { got, message } = await seen(`${request('POST', '/', ...lines)}12345`);
  t.equal(message?.body.toString(), '12345');
  t.same(
    got?.lines.filter(([name]) => name !== 'via'),
    [
      ['host', `127.0.0.1:${upstream.port}`],
      ['connection', 'keep-alive'],
      ['X-Kept', '3'],
      ['Authorization', 'Bearer tok-1'],
      ['content-length', '5'],
    ],
  );
});

t.test(
  'hop-by-hop headers of the upstream, and headers that its Connection names, are removed',
  async (t) => {
    const lines = [
      'connection: Set-Cookie , x-foo',
      'Connection: keep-alive, content-length',
      'set-cookie: a=1',
      'x-foo: 1',
      'keep-alive: timeout=1',
      'proxy-connection: close',
      'trailer: x-sum',
      'upgrade: h2c',
      'x-kept: 3',
      'content-length: 2',
    ];
    upstream.onRequest = () => `${head('200 OK', ...lines)}ok`;
    const { lines: passed, text } = await proxy.get('/');
    t.equal(text, 'ok');
    t.same(passed.slice(0, 3), [
      ['x-kept', '3'],
      ['content-length', '2'],
      ['via', '1.1 bearerd'],
    ]);
    t.same(
      passed.slice(3).map(([name]) => name.toLowerCase()),
      ['connection', 'keep-alive'],
    );
  },
);

t.test('a 426 says which protocols it requires, but for those that are not tunnelled', async (t) => {
  const cases: [lines: readonly string[], upgrade: string | undefined, connection: string][] = [
    [['connection: upgrade', 'upgrade: websocket'], 'websocket', 'upgrade'],
    [['upgrade: websocket/13', 'Connection: close, Upgrade'], 'websocket/13', 'upgrade'],
    [['upgrade: h2c, a/1,b , TLS/1.2', 'Upgrade: HTTP/2.0, c'], 'a/1, b, c', 'upgrade'],
    [['connection: upgrade', 'upgrade: TLS/1.0, HTTP/1.1'], undefined, 'keep-alive'],
    [['upgrade:'], undefined, 'keep-alive'],
    [['upgrade: a b'], undefined, 'keep-alive'],
    [[], undefined, 'keep-alive'],
  ];
  const client = await proxy.client();
  for (const [lines, upgrade, connection] of cases) {
    upstream.onRequest = () => `${head('426 Upgrade Required', ...lines, 'content-length: 2')}no`;
    const response = await client.send(request('GET', '/')).response();
    t.same(
      [response.status, response.text, response.header('upgrade'), response.header('connection')],
      [426, 'no', upgrade, connection],
      lines.join(),
    );
  }
  const offer = ['upgrade: websocket', 'content-length: 2'];
  upstream.onRequest = () => `${head('400 Bad Request', ...offer)}no`;
  t.equal((await client.send(request('GET', '/')).response()).header('upgrade'), undefined, 'another status');

  upstream.onHead = () => `${head('426 Upgrade Required', ...offer)}no`;
  client.send(`${request('POST', '/', 'content-length: 10')}part`);
  const last = await client.response();
  t.same([last.header('upgrade'), last.header('connection')], ['websocket', 'close, upgrade']);
  t.equal(await client.end(), 'end', 'the answer to an incomplete request closes the connection');
});

t.test('header bytes, repeated lines and their order stay unchanged, both ways', async (t) => {
  const lines = [
    'X-Name: \xe6\x97\xa5',
    'x-latin: \xe5\xff\x80',
    'X-Empty:',
    'Set-Cookie: a=1; Expires=Thu, 01 Jan 2026 00:00:00 GMT',
    'WWW-Authenticate: Basic',
    'Set-Cookie: b=2',
    'Link: </a>',
    'wWw-aUTHENTICATE: Digest',
    'Link: </b>',
    'Set-Cookie: c=3',
    'Via: 1.0 a',
    'VIA: 1.1 b',
    'X-Tab: a\tb',
    'Server: x',
    'Date: Thu, 01 Jan 2026 00:00:00 GMT',
    'Vary: *',
  ];
  const pairs = lines.map((line) => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 1).trim(),
  ]);
  const names = new Set(pairs.map(([name]) => name!.toLowerCase()));
  const only = (all: readonly (readonly [string, string])[]) =>
    all.filter(([name]) => names.has(name.toLowerCase()));
  upstream.onRequest = () => ok('', ...lines);
  const { response, got } = await seen(request('GET', '/', ...lines));
  t.same(only(response.lines), [...pairs, ['via', '1.1 bearerd']]);
  const viaOfOurs = got?.all('via').at(-1);
  t.match(viaOfOurs, /^1\.1 bearerd \([^)]+\)$/);
  t.same(only(got!.lines), [...pairs, ['via', viaOfOurs]]);
});

t.test(
  'the bytes of a file name in a header pass in every encoding, before and after Content-Length',
  async (t) => {
    for (const name of ['\xe5', '\xc3\xa5', '\xe6\x97\xa5', 'a', '\xff\xfe']) {
      const line = `Content-Disposition: attachment; filename="${name}.pdf"`;
      for (const lines of [
        ['content-length: 1', line],
        [line, 'content-length: 1'],
        [line, 'transfer-encoding: chunked'],
      ]) {
        upstream.onRequest = () =>
          head('200 OK', ...lines) + (lines.at(-1) === 'transfer-encoding: chunked' ? chunked('x') : 'x');
        const { response, got } = await seen(request('GET', '/', line));
        t.equal(hex(response.header('content-disposition')), hex(line.slice(21)), `${lines}`);
        t.equal(hex(got?.header('content-disposition')), hex(line.slice(21)));
      }
      upstream.onRequest = () => head('200 OK', 'content-length: 0', line);
      const { response } = await seen(request('GET', '/'));
      t.equal(hex(response.header('content-disposition')), hex(line.slice(21)), 'with an empty body, too');
    }
  },
);

t.test('the reason phrase passes, and a missing one stays missing', async (t) => {
  for (const phrase of ['OK', 'All is well', '', 'Gr\xc3\xbc\xc3\x9fe']) {
    upstream.onRequest = () => `HTTP/1.1 200 ${phrase}\r\ncontent-length: 0\r\n\r\n`;
    t.equal((await proxy.get('/')).reason, phrase);
  }
  upstream.onRequest = () => 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n';
  t.equal((await proxy.get('/')).status, 200);
});

t.test(
  'headers pass up to the size limit; past it a request gets 431, and an answer gives 502',
  async (t) => {
    const big = 'x'.repeat(20_000);
    upstream.onRequest = () => ok('ok', `x-big: ${big}`);
    const { status, response, got } = await seen(request('GET', '/', `x-big: ${big}`));
    t.same([status, response.header('x-big')?.length, got?.header('x-big')?.length], [200, 20_000, 20_000]);
    const many = Array.from({ length: 2_500 }, (_, i) => `x-${i}: 1`);
    upstream.onRequest = () => ok('ok', ...many);
    const lines = await seen(request('GET', '/', ...many));
    t.same(
      [lines.status, lines.response.lines.length > 2_500, lines.got!.lines.length > 2_500],
      [200, true, true],
    );

    upstream.reset();
    const client = await proxy.client();
    const refused = await client.send(request('GET', '/', `x-big: ${'x'.repeat(40_000)}`)).response();
    t.same([refused.status, JSON.parse(refused.text).code], [431, 'headers-too-large']);
    t.equal(await client.end(), 'end');
    t.same(upstream.requests, []);
    upstream.onRequest = () => ok('ok', `x-big: ${'x'.repeat(40_000)}`);
    const invalid = await proxy.get('/');
    t.same([invalid.status, JSON.parse(invalid.text).code], [502, 'upstream-invalid']);
    t.match(invalid.header('proxy-status'), /http_response_header_section_size/);
  },
);

t.test('path and query go upstream byte for byte', async (t) => {
  const targets = [
    '/',
    '/a/x%2Fy',
    '/a/%2f',
    '/q/%2F/guest',
    '/caf%E9',
    '/%ff%FE',
    '/a%5Cb',
    "/%5Bid%5D/a%2520b/c%20d/@2x:~!$'()*,",
    '/a+b;v=1',
    '/p?',
    '/p??',
    '/p?a&a=1&a=2&&',
    '/p?x=%',
    '/p?x=%zz&y=%00',
    '/p?a=b?c',
    '/p?a=/../b&c=//d',
    '/p?q="<>|\\^`{}[]',
    '?x',
    `/long/${'a'.repeat(8_000)}`,
  ];
  for (const target of targets.slice(0, -2)) {
    const { status, got } = await seen(request('GET', target));
    t.same([status, hex(got?.target)], [200, hex(target)], target);
  }
  t.equal((await seen(request('GET', targets.at(-1)!))).got?.target, targets.at(-1));
  t.equal((await seen(request('GET', targets.at(-2)!))).status, 400, 'a target without a slash is refused');
});

t.test('a target with bytes that none may hold gets 400 and is not forwarded', async (t) => {
  const targets = [
    '/\xe8\x8c\x83',
    '/\xe5',
    '/a b',
    '/a\tb',
    '/a\x7f',
    '/p#f',
    '/p?a#f',
    '/#',
    '/p?a b',
    '/p?a\x7f',
    '/p?\xe5',
  ];
  for (const target of [
    ...targets,
    '/p?\x01',
    '/\x00',
    '/p?a\tb',
    '/a\\b',
    '/%zz',
    '/%',
    '/a%0d%0ab',
    '*',
    'a',
    '',
  ]) {
    const response = await proxy.ask(request('GET', target));
    t.same([response.status, JSON.parse(response.text).code], [400, 'bad-path'], JSON.stringify(target));
  }
  t.same(upstream.requests, []);
});

t.test('a request target never leads to another host', async (t) => {
  const evil = await RawUpstream.startedFor(t);
  const double = await seen(request('GET', `//127.0.0.1:${evil.port}/x`));
  t.same([double.status, double.got?.target], [200, `//127.0.0.1:${evil.port}/x`]);
  const own = await seen(request('GET', 'http://localhost:1/p?q'));
  t.same([own.status, own.got?.target], [200, '/p?q']);
  t.equal((await seen(request('GET', 'http://localhost'))).got?.target, '/');
  t.equal((await seen(request('GET', 'http://localhost?x'))).got?.target, '/?x');
  t.equal((await seen(request('GET', 'HTTPS://LOCALHOST:9/s'))).got?.target, '/s');
  for (const target of [
    `http://127.0.0.2:${evil.port}/p`,
    'http://evil.test/p',
    'http://localhost@evil.test/',
    'http:///p',
  ]) {
    const { status, response } = await seen(request('GET', target));
    t.same([status, JSON.parse(response.text).code], [403, 'host-refused'], target);
  }
  for (const target of ['ftp://localhost/p', 'localhost:80', 'http:/p']) {
    t.equal((await seen(request('GET', target))).status, 400, target);
  }
  t.equal(evil.connections.length, 0);
});

t.test(
  'a base path and a rewrite are added to the path, and removed from a Location and a Link',
  async (t) => {
    const yaml = `
routes:
  - { prefix: /svc, credential: token, rewrite: / }
  - { prefix: /companies, credential: token, rewrite: /data/companies }
  - { prefix: /keys, credential: token }
  - { prefix: /, credential: token }
`;
    const based = await gatewayFor(t, { baseUrl: `${upstream.url}/v1/`, yaml });
    const sent = async (target: string) => {
      await based.get(target);
      return upstream.last.target;
    };
    t.equal(await sent('/svc'), '/v1');
    t.equal(await sent('/svc/'), '/v1/');
    t.equal(await sent('/svc?x=/svc/y'), '/v1?x=/svc/y');
    t.equal(await sent('/svc/svc/a'), '/v1/svc/a');
    t.equal(await sent('/svcx'), '/v1/svcx');
    t.equal(await sent('/companies/7?a'), '/v1/data/companies/7?a');
    t.equal(await sent('/'), '/v1/');
    t.equal(await sent('/?a'), '/v1/?a');

    const location = async (target: string, value: string) => {
      upstream.onRequest = () => head('302 Found', 'content-length: 0', `location: ${value}`);
      return (await based.get(target)).header('location');
    };
    const url = upstream.url;
    t.equal(await location('/a', `${url}/v1/b?c#d`), '/b?c#d');
    t.equal(await location('/a', '/v1/b'), '/b');
    t.equal(await location('/a', `${url}/v1`), '/');
    t.equal(await location('/a', `//127.0.0.1:${upstream.port}/v1/b`), '/b');
    t.equal(await location('/a', `${url.toUpperCase()}/v1/b`), '/b');
    t.equal(await location('/companies/1', `${url}/v1/data/companies/2`), '/companies/2');
    t.equal(await location('/companies/1', '/v1/data/companies'), '/companies');
    t.equal(await location('/companies/1', '/v1/other'), '/other');
    t.equal(
      await location('/a', '/v1/data/companies/2'),
      '/data/companies/2',
      'the route of the request comes first',
    );
    t.equal(
      await location('/keys/a', '/v1/data/companies/2'),
      '/companies/2',
      'otherwise the route with the longest upstream path',
    );
    for (const hidden of ['/\\evil.test/x', '/\t/evil.test/x', '/\t\\evil.test']) {
      t.equal(
        await location('/a', `${url}/v1${hidden}`),
        `${url}/v1${hidden}`,
        'a browser would read // there',
      );
    }
    t.equal(await location('/svc/a', '/v1/b'), '/svc/b');
    upstream.onRequest = () =>
      ok(
        '',
        `Link: <${url}/v1/data/companies?page=2>; rel="next", <${url}/v1/x>`,
        'link: <//evil.test/>',
        'LINK: </v1/y>',
      );
    const linked = await based.get('/companies');
    t.same(linked.all('link'), ['</companies?page=2>; rel="next", </x>', '<//evil.test/>', '</y>']);
    t.match(linked.head, /^Link: .*^link: .*^LINK: /ms);
    t.equal(await location('/a', `${url}/v1/b%2Fc`), '/b%2Fc');
    for (const foreign of [
      'http://evil.test/v1/b',
      'http://127.0.0.1:1/v1/b',
      `http://u@127.0.0.1:${upstream.port}/v1/b`,
      '//evil.test/v1',
      '/\\evil.test/v1',
      `https://127.0.0.1:${upstream.port}/v1/b`,
      `${url}/v10/b`,
      '/elsewhere',
      'relative/b',
      '?q',
      'mailto:a@b',
      '',
    ]) {
      t.equal(await location('/a', foreign), foreign);
    }
    t.equal(
      await location('/a', `${url}/v1//evil.test/`),
      `${url}/v1//evil.test/`,
      'without its origin it would name another host',
    );
    t.equal(await location('/a', '/v1//evil.test/'), `${url}/v1//evil.test/`);
  },
);

t.test('a request that comes back to the same proxy gets 508', async (t) => {
  upstream.onRequest = async ({ target, all }) =>
    target === '/loop'
      ? ok(
          '',
          `x-status: ${(await proxy.ask(request('GET', '/again', `via: 1.0 x, ${all('via').join(', ')}`))).startLine}`,
        )
      : ok('again');
  t.equal((await seen(request('GET', '/loop'))).response.header('x-status'), 'HTTP/1.1 508 Loop Detected');
  const other = await seen(request('GET', '/', 'via: 1.1 bearerd (another process)'));
  t.equal(other.status, 200, 'another bearerd on the way is no loop');
});

t.test('trailers are dropped both ways, and so are interim answers', async (t) => {
  upstream.onRequest = ({ connection }) => {
    connection.send(head('103 Early Hints', 'link: </a>') + head('102 Processing'));
    connection.send(
      `${head('200 OK', 'transfer-encoding: chunked', 'trailer: x-sum')}2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n`,
    );
  };
  const body = '2\r\nhi\r\n0\r\nx-sum: 1\r\nauthorization: evil\r\n\r\n';
  const { response, message } = await seen(
    request('POST', '/', 'transfer-encoding: chunked', 'trailer: x-sum') + body,
  );
  t.same([response.text, response.whole, response.trailers, response.interim], ['ok', true, '', []]);
  t.same([message?.body.toString(), message?.whole, message?.trailers], ['hi', true, '']);
  t.notMatch(response.head, /trailer/i);
});

t.test('content codings stay unchanged', async (t) => {
  const gzip = gzipSync('hello');
  for (const coding of ['gzip', 'br', 'x-unknown', 'gzip, br']) {
    upstream.onRequest = () => ok(gzip, `content-encoding: ${coding}`);
    const { response, got } = await seen(request('GET', '/', 'accept-encoding: gzip;q=0.5, x'));
    t.same([response.body, response.header('content-encoding')], [gzip, coding]);
    t.equal(got?.header('accept-encoding'), 'gzip;q=0.5, x');
  }
  t.same(
    (await seen(request('GET', '/'))).got?.lines.map(([name]) => name),
    ['host', 'connection', 'Authorization', 'via'],
  );
});

t.test('pipelined requests are forwarded and answered one after another', async (t) => {
  let atOnce = 0;
  let most = 0;
  upstream.onRequest = async ({ target }) => {
    most = Math.max(most, ++atOnce);
    await new Promise((resolve) => setTimeout(resolve, target.endsWith('0') ? 20 : 0));
    atOnce--;
    return ok(target);
  };
  const client = await proxy.client();
  const targets = Array.from({ length: 100 }, (_, i) => `/${i}`);
  client.send(
    targets
      .map((target, i) =>
        i % 3 === 1 ? `${request('POST', target, 'content-length: 2')}{}` : request('GET', target),
      )
      .join(''),
  );
  for (const target of targets) t.equal((await client.response()).text, target);
  t.equal(most, 1, 'one request runs at a time');
  client.close();
});

t.test('after an answer that ends the connection, nothing pipelined is forwarded', async (t) => {
  const client = await proxy.client();
  client.send(request('GET', '/1', 'connection: close') + request('POST', '/2', 'content-length: 0'));
  t.equal((await client.response()).text, 'ok');
  t.equal(await client.end(), 'end');
  t.same(
    upstream.requests.map(({ target }) => target),
    ['/1'],
  );
});

t.test('invalid bytes after a request do not disturb its answer', async (t) => {
  upstream.onRequest = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return ok('first');
  };
  const client = await proxy.client();
  client.send(`${request('GET', '/')}RUBBISH\r\n\r\n`);
  t.equal((await client.response()).text, 'first');
  t.equal((await client.response()).status, 400);
  t.equal(await client.end(), 'end');
});

t.test(
  'an early answer to a large upload is delivered, and the connection is usable afterwards',
  async (t) => {
    const body = Buffer.alloc(20 << 20, 'x');
    for (const lines of [[], ['connection: close']]) {
      upstream.onHead = ({ target }) =>
        target === '/up' ? `${head('413 Too Large', 'content-length: 3')}big` : ok('next');
      const client = await proxy.client();
      client.send(request('POST', '/up', `content-length: ${body.length}`, ...lines)).send(body);
      const response = await client.response();
      t.same([response.status, response.text], [413, 'big']);
      if (response.header('connection') === 'close') t.equal(await client.end(), 'end');
      else t.equal((await client.send(request('GET', '/next')).response()).text, 'next');
      client.close();
    }
    const refused = await proxy.client();
    refused.send(request('POST', '/%zz', 'connection: close', `content-length: ${body.length}`)).send(body);
    t.equal((await refused.response()).status, 400, 'an early answer of bearerd is delivered, too');
    t.equal(await refused.end(), 'end');
  },
);

t.test('large bodies pass whole, both ways', async (t) => {
  const text = Buffer.alloc(3 << 20, 'line of text\n');
  upstream.onRequest = (_request, { body }) => ok(body, 'content-type: text/plain');
  const { response } = await seen(
    Buffer.concat([
      Buffer.from(request('POST', '/', 'content-type: text/plain', `content-length: ${text.length}`)),
      text,
    ]),
  );
  t.ok(response.body.equals(text));
  const client = await proxy.client();
  client.send(request('POST', '/', 'transfer-encoding: chunked'));
  for (let at = 0; at < text.length; at += 100_000) {
    const piece = text.subarray(at, at + 100_000);
    client
      .send(`${piece.length.toString(16)}\r\n`)
      .send(piece)
      .send('\r\n');
  }
  t.ok((await client.send('0\r\n\r\n').response()).body.equals(text));
  client.close();
});

t.test('the bodies of a request and its answer may flow at the same time', async (t) => {
  upstream.onHead = () => head('200 OK', 'transfer-encoding: chunked');
  const client = await proxy.client();
  client.send(`${request('POST', '/', 'transfer-encoding: chunked')}2\r\nhi\r\n`);
  await until(() => client.received.endsWith('\r\n\r\n'), 'the head waits for the whole request');
  const { connection } = upstream.last;
  for (const piece of ['one', 'two']) {
    connection.send(`3\r\n${piece}\r\n`);
    await until(() => client.received.includes(piece), `${piece} of the answer waits`);
    client.send(`3\r\n${piece}\r\n`);
    await until(() => connection.received.includes(piece), `${piece} of the request waits`);
  }
  connection.send('0\r\n\r\n');
  t.equal((await client.response()).text, 'onetwo');
  client.close();
});

t.test('server-sent events pass at once', async () => {
  upstream.onRequest = ({ connection }) => {
    connection.send(head('200 OK', 'content-type: text/event-stream', 'transfer-encoding: chunked'));
  };
  const client = await proxy.client();
  client.send(request('GET', '/events'));
  await until(() => client.received.endsWith('\r\n\r\n'), 'the head waits for the first event');
  upstream.last.connection.send('9\r\ndata: 1\n\n\r\n');
  await until(() => client.received.includes('data: 1'), 'the event waits');
  client.close();
  await upstream.last.connection.closed;
});

t.test('cookies of a browser are dropped both ways unless browserCookies is on', async (t) => {
  upstream.onRequest = () => ok('', 'set-cookie: s=1');
  const cookies = async (gateway: typeof proxy, ...lines: string[]) => {
    const response = await gateway.get('/', 'cookie: c=1', ...lines);
    return [upstream.last.header('cookie'), response.header('set-cookie')];
  };
  t.same(await cookies(proxy), ['c=1', 's=1']);
  t.same(await cookies(proxy, 'sec-fetch-site: same-origin'), [undefined, undefined]);
  t.same(await cookies(proxy, 'origin: http://localhost'), [undefined, undefined]);
  const open = await gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_BROWSER_COOKIES: 'true' } });
  t.same(await cookies(open, 'sec-fetch-site: same-origin'), ['c=1', 's=1']);
});

t.test('503 and 429 pass unchanged, and the request is sent once', async (t) => {
  for (const status of ['503 Service Unavailable', '429 Too Many Requests']) {
    upstream.reset();
    upstream.onRequest = () => `${head(status, 'retry-after: 1', 'content-length: 4')}wait`;
    const { response } = await seen(request('GET', '/'));
    t.same(
      [response.startLine, response.header('retry-after'), response.text],
      [`HTTP/1.1 ${status}`, '1', 'wait'],
    );
    t.equal(upstream.requests.length, 1);
  }
});

t.test('X-Forwarded-* and Forwarded pass unchanged, and none is added', async (t) => {
  const { got } = await seen(
    request('GET', '/', 'X-Forwarded-For: 1.2.3.4', 'forwarded: for=a', 'x-forwarded-host: b'),
  );
  t.same(
    [got?.header('x-forwarded-for'), got?.header('forwarded'), got?.header('x-forwarded-host')],
    ['1.2.3.4', 'for=a', 'b'],
  );
  t.notMatch((await seen(request('GET', '/'))).got?.head, /forwarded/i);
});

t.test('none of these tests caused an internal error', async (t) => t.same(proxy.internalErrors(), []));

t.test(
  'a client that pipelines without reading is slowed down by TCP, and all its requests are answered in order',
  async (t) => {
    upstream.onRequest = ({ target }) => ok(target);
    const client = await proxy.client();
    const count = 3_000;
    const all = Array.from({ length: count }, (_, n) => request('GET', `/${n}`)).join('');
    client.socket.pause();
    client.send(all);
    await until(() => proxy.requests().length > 0, 'no request is answered');
    client.socket.resume();
    for (let n = 0; n < count; n++) {
      const { text } = await client.response();
      if (text !== `/${n}`) t.fail(`${n}: ${text}`);
    }
    client.close();
    t.pass('in order');
  },
);

t.test('an invalid method or HTTP version gets a problem of ours', async (t) => {
  for (const line of ['DESCRIBE /x RTSP/1.0', 'SETUP /x RTSP/1.0', 'GET /x HTTP/2.0', 'GET /x HTTP/0.9']) {
    const answer = await proxy.ask(`${line}\r\nhost: localhost\r\n\r\n`);
    t.same([answer.status, JSON.parse(answer.text).code], [400, 'bad-request'], line);
    t.match(answer.header('proxy-status'), 'bearerd; error=');
  }
});

t.test('TRACE and CONNECT are refused as methods, whatever else is wrong', async (t) => {
  const wrong = [' x', ' /a b', ' /a\tb', ' a b:1', ' a:1 HTTP/9.9', '  a:1'];
  for (const method of ['TRACE', 'CONNECT']) {
    for (const target of wrong) {
      const answer = await proxy.ask(`${method}${target} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
      t.match([answer.status, answer.header('allow')], [405, /^GET, HEAD/], method + target);
    }
  }
});
