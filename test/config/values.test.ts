import t from 'tap';

import { clash, formatAddress, isLoopbackHost, parseAddress } from '../../src/config/values/addresses.ts';
import { headerValueProblem, parseHeaderName, parseScheme } from '../../src/config/values/header-values.ts';
import type { Parsed } from '../../src/config/values/kind.ts';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../src/config/values/measures.ts';
import { nearest } from '../../src/config/values/nearest.ts';
import { parsePath, parseSessionPath } from '../../src/config/values/paths.ts';
import { formatRate, parseRate } from '../../src/config/values/rates.ts';
import {
  isInsecure,
  parseAllowedHost,
  parseBaseUrl,
  parseOrigin,
  parseTokenUrl,
  parseWebOrigin,
} from '../../src/config/values/urls.ts';
import { fc } from '../support/properties.ts';

type Test = Pick<typeof t, 'same' | 'ok' | 'notOk'>;

function takes<T>(t: Test, parse: (text: string) => Parsed<T>, cases: Readonly<Record<string, T>>): void {
  for (const [text, value] of Object.entries(cases)) t.same(parse(text), { value }, JSON.stringify(text));
}

function refuses(t: Test, parse: (text: string) => Parsed<unknown>, texts: readonly string[]): void {
  for (const text of texts) {
    const parsed = parse(text);
    t.ok('problem' in parsed, `${JSON.stringify(text)} is refused`);
    if ('problem' in parsed && text.length > 8)
      t.notOk(parsed.problem.includes(text), 'the text is not quoted');
  }
}

t.test('a duration is a whole number with a unit', async (t) => {
  takes(t, parseDuration, { '500ms': 500, '10s': 10_000, '15m': 900_000, '1h': 3_600_000, '0s': 0 });
  refuses(t, parseDuration, [
    '',
    '10',
    '1.5s',
    '1h30m',
    '-1s',
    '10 s',
    '10S',
    'off',
    '1d',
    '99999999999999999h',
  ]);
  t.same(parseDuration('10'), { problem: 'has no unit; write 10s' });
  t.same(parseDuration('off', { off: true, min: 1 }), { value: 0 });
  t.match(parseDuration('0s', { off: true, min: 1 }), { problem: /at least 1ms, or off/ });
  t.match(parseDuration('2h', { max: 3_600_000 }), { problem: /at most 1h/ });
});

t.test('a size is a whole number with a unit', async (t) => {
  takes(t, parseSize, { '512B': 512, '32KiB': 32_768, '1MiB': 1_048_576, '2GiB': 2 ** 31 });
  refuses(t, parseSize, ['', '32', '32KB', '32k', '1.5MiB', '32kib']);
  t.same(parseSize('32768'), { problem: 'has no unit; write 32768B' });
});

t.test('formatting and parsing are inverse', async () => {
  const amounts = fc.oneof(
    fc.nat(),
    fc.maxSafeNat(),
    fc.nat(5000).map((n) => n * 3_600_000),
  );
  fc.assert(fc.property(amounts, (ms) => isValue(parseDuration(formatDuration(ms)), ms)));
  fc.assert(fc.property(amounts, (bytes) => isValue(parseSize(formatSize(bytes)), bytes)));
  const hosts = fc.oneof(fc.ipV4(), fc.constantFrom('localhost', 'my_host.internal', '::1', 'fe80::1'));
  fc.assert(
    fc.property(hosts, fc.integer({ min: 0, max: 65_535 }), (host, port) => {
      const parsed = parseAddress(formatAddress({ kind: 'tcp', host, port }));
      return (
        'value' in parsed &&
        parsed.value.kind === 'tcp' &&
        parsed.value.host === host &&
        parsed.value.port === port
      );
    }),
  );
});

function isValue<T>(parsed: Parsed<T>, value: T): boolean {
  return 'value' in parsed && parsed.value === value;
}

t.test('no parser throws, whatever the text', async () => {
  const parsers = [
    parseAddress,
    parseAllowedHost,
    parseBaseUrl,
    parseDuration,
    parseOrigin,
    parsePath,
    parseSize,
    parseTokenUrl,
    parseWebOrigin,
  ];
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), fc.ipV6()), (text) => {
      for (const parse of parsers) parse(text);
    }),
  );
});

t.test('an address is HOST:PORT, [v6]:PORT or unix:/path', async (t) => {
  takes(t, parseAddress, {
    'localhost:9180': { kind: 'tcp', host: 'localhost', port: 9180 },
    '0.0.0.0:0': { kind: 'tcp', host: '0.0.0.0', port: 0 },
    '[::1]:9180': { kind: 'tcp', host: '::1', port: 9180 },
    'unix:/run/bearerd.sock': { kind: 'unix', path: '/run/bearerd.sock' },
  });
  refuses(t, parseAddress, [
    '',
    '9180',
    ':9180',
    'localhost',
    'localhost:',
    'localhost:65536',
    'localhost:http',
    '::1:9180',
    '[::1]',
    '[nonsense]:9180',
    '*:9180',
    'http://localhost:9180',
    'unix:',
    'unix:run/x.sock',
    `unix:/${'x'.repeat(107)}`,
    'a b:1',
  ]);
  t.match(parseAddress('::1:9180'), { problem: /brackets/ });
});

t.test('loopback is localhost, names below localhost, 127.0.0.0/8 and ::1', async (t) => {
  for (const host of ['localhost', 'LOCALHOST', 'a.localhost', '127.0.0.1', '127.9.9.9', '::1', '[::1]']) {
    t.ok(isLoopbackHost(host), host);
  }
  for (const host of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    'localhost.example.com',
    'notlocalhost',
    '127.evil.example',
    '',
  ]) {
    t.notOk(isLoopbackHost(host), host);
  }
});

t.test('two listeners clash if the second would find its address in use', async (t) => {
  const at = (text: string) => {
    const parsed = parseAddress(text);
    if ('problem' in parsed) throw new Error(parsed.problem);
    return parsed.value;
  };
  const clashing = [
    'localhost:1 127.0.0.1:1',
    '[::1]:1 localhost:1',
    '0.0.0.0:1 127.0.0.1:1',
    '[::]:1 10.0.0.1:1',
    'unix:/a unix:/a',
    'a:1 A:1',
    'a.localhost:1 127.0.0.1:1',
    'LOCALHOST:1 [::1]:1',
    'a.localhost:1 b.localhost:1',
  ];
  const apart = [
    'localhost:1 localhost:2',
    'localhost:0 localhost:0',
    '0.0.0.0:1 [::1]:1',
    '127.0.0.1:1 127.0.0.2:1',
    'unix:/a unix:/b',
    'unix:/a localhost:1',
  ];
  for (const [pairs, expected] of [
    [clashing, true],
    [apart, false],
  ] as const) {
    for (const pair of pairs) {
      const [a = '', b = ''] = pair.split(' ');
      t.equal(clash(at(a), at(b)), expected, pair);
      t.equal(clash(at(b), at(a)), expected, `${pair}, turned round`);
    }
  }
});

t.test('a base URL has a scheme, a host and an optional path', async (t) => {
  takes(t, parseBaseUrl, {
    'https://api.example.com': { origin: 'https://api.example.com', basePath: '' },
    'https://api.example.com/': { origin: 'https://api.example.com', basePath: '' },
    'HTTPS://API.example.com:443/v2/': { origin: 'https://api.example.com', basePath: '/v2' },
    'http://[::1]:8080/caf%C3%A9': { origin: 'http://[::1]:8080', basePath: '/caf%C3%A9' },
  });
  refuses(t, parseBaseUrl, [
    '',
    'api.example.com',
    'ftp://api.example.com',
    'https://',
    'https://user:pass@api.example.com',
    'https://user@api.example.com',
    'https://api.example.com?x=1',
    'https://api.example.com/a?',
    'https://api.example.com#top',
    'https://api.example.com/a/../b',
    'https://api.example.com/%2e%2e/b',
    'https://api.example.com//a',
    'https://api.example.com\\a',
    'https://a b.example',
    'https://api.example.com:99999',
    'https:/api.example.com',
    'https:///api.example.com',
    'https://api.exa\tmple.com',
  ]);
});

t.test('a token URL has a scheme and a host, and an optional path and query', async (t) => {
  const at = (path: string) => ({ origin: 'https://login.example', path });
  takes(t, parseTokenUrl, {
    'https://login.example': at('/'),
    'https://login.example?x': at('/?x'),
    'HTTPS://LOGIN.example:443/oauth2/token/': at('/oauth2/token/'),
    'https://login.example/token?api-version=1&x=%2F': at('/token?api-version=1&x=%2F'),
    'http://[::1]:8080/t': { origin: 'http://[::1]:8080', path: '/t' },
  });
  refuses(t, parseTokenUrl, [
    '',
    'login.example/token',
    'ftp://login.example/token',
    'https://',
    'https:///token',
    'https://user:pass@login.example/token',
    'https://user@login.example/token',
    'https://login.example/token#',
    'https://login.example/token?x#y',
    'https://login.example/to ken',
    'https://login.example\\token',
    'https://login.example:99999/token',
    'https://login.example:0/token',
  ]);
});

t.test('http:// is insecure unless the host is loopback', async (t) => {
  for (const origin of ['http://api.example.com', 'http://10.0.0.1', 'http://localhost.example.com'])
    t.ok(isInsecure(origin), origin);
  for (const origin of [
    'https://api.example.com',
    'http://localhost:1',
    'http://x.localhost',
    'http://127.1.2.3',
    'http://[::1]:1',
    'http://localhost.',
  ]) {
    t.notOk(isInsecure(origin), origin);
  }
});

t.test('an origin is a scheme and a host with an optional port', async (t) => {
  takes(t, parseOrigin, {
    'https://API.example.com:443': 'https://api.example.com',
    'http://localhost:3000': 'http://localhost:3000',
  });
  takes(t, parseWebOrigin, { 'chrome-extension://abcdef': 'chrome-extension://abcdef' });
  const wrong = [
    '',
    '*',
    'null',
    'https://a.example/',
    'https://a.example/x',
    'https://a.example?x',
    'https://u@a.example',
    'a.example',
    'https://',
    'https://*.a.example',
  ];
  refuses(t, parseOrigin, [...wrong, 'chrome-extension://abcdef']);
  refuses(t, parseWebOrigin, wrong);
});

t.test('an allowed host is a name, *.suffix or an address, without a port', async (t) => {
  takes(t, parseAllowedHost, {
    Sidecar: 'sidecar',
    my_service: 'my_service',
    '*.svc.Cluster.local': '*.svc.cluster.local',
    'a.example.': 'a.example',
    '10.0.0.7': '10.0.0.7',
    '[FD00::7]': '[fd00::7]',
  });
  refuses(t, parseAllowedHost, [
    '',
    '*',
    'a.*',
    '*a.example',
    'a.example:80',
    'http://a.example',
    'fd00::7',
    'a b',
    'a/b',
    '.a',
    'bücher.example',
  ]);
});

t.test('a path that can be read in two ways is refused', async (t) => {
  takes(t, parsePath, {
    '/': '/',
    '/api': '/api',
    '/api/': '/api',
    '/a.b/..c': '/a.b/..c',
    '/caf%C3%A9': '/caf%C3%A9',
    '/a;v=1': '/a;v=1',
    '/a%20b': '/a%20b',
  });
  refuses(t, parsePath, [
    '',
    'api',
    '/a?x',
    '/a#x',
    '/a\\b',
    '/a b',
    '/a/./b',
    '/a/..',
    '/..;x/a',
    '/a//b',
    '//',
    '/a%',
    '/a%2',
    '/a%zz',
    '/a%00b',
    '/a%7fb',
    '/%61pi',
    '/%2e%2e/a',
    '/a%2Fb',
    '/a%5Cb',
    '/a%252e',
    '/caf%E9',
    '/%EF%BC%8E%EF%BC%8E/a',
    '/.%20/a',
    '/ä',
    '/a\nb',
    '/api/*',
  ]);
  refuses(t, parseSessionPath, ['/', 'session', '/a/../b']);
});

t.test('a header value may hold tabs and visible text, and no white space at its ends', async (t) => {
  for (const text of ['key', 'a b', 'a\tb', '~!', '\x80\xff', 'é', '€', '日本'])
    t.equal(headerValueProblem(text), undefined, JSON.stringify(text));
  for (const text of ['a\n', 'a\r\nb', '\0', 'a\x7f', '\x1b', ' a', 'a ', '\ta']) {
    t.type(headerValueProblem(text), 'string', JSON.stringify(text));
  }
});

t.test(
  'the header of a credential may not be one of HTTP, of the client or of bearerd; a scheme is one token',
  async (t) => {
    takes(t, parseHeaderName, { Authorization: 'Authorization', 'X-Api-Key': 'X-Api-Key' });
    refuses(t, parseHeaderName, [
      '',
      'X Api',
      'X:',
      'Host',
      'connection',
      'Content-Length',
      'Transfer-Encoding',
      'Proxy-Authorization',
      'Cookie',
      'X-Bearerd-Key',
      'HTTP2-Settings',
      'X-Original-URL',
      'X-\n',
    ]);
    takes(t, parseScheme, { '': '', Bearer: 'Bearer', ApiKey: 'ApiKey' });
    refuses(t, parseScheme, ['Bearer x', 'a\nb', 'a,b']);
  },
);

t.test('nearest finds the most similar name', async (t) => {
  const names = ['tokenWait', 'renewAfter', 'path', 'connectTimeout', 'idleTimeout'];
  t.equal(nearest('tokenwait', names), 'tokenWait', 'letter case');
  t.equal(nearest('token_wait', names), 'tokenWait', 'another style');
  t.equal(nearest('tokneWait', names), 'tokenWait', 'two letters are swapped');
  t.equal(nearest('pth', names), 'path', 'a letter is missing');
  t.equal(nearest('timeout', names), 'idleTimeout', 'a part of it');
  t.equal(nearest('nonsense', names), undefined);
  t.equal(nearest('', names), undefined);
  t.equal(nearest('x'.repeat(100_000), names), undefined, 'soon');
});

t.test('a rate is N/DURATION', async (t) => {
  takes(t, parseRate, {
    '60/1m': { requests: 60, perMs: 60_000 },
    '1/1s': { requests: 1, perMs: 1_000 },
    '1000000/24h': { requests: 1_000_000, perMs: 86_400_000 },
    '5 / 1500ms': { requests: 5, perMs: 1_500 },
  });
  const wrong = [
    '',
    '60',
    '1m',
    '/1m',
    '60/',
    '0/1m',
    '1000001/1m',
    '-1/1m',
    '1.5/1m',
    '60/1',
    '60/1d',
    '60/999ms',
    '60/25h',
    '60/off',
    '60 per 1m',
  ];
  refuses(t, parseRate, wrong);
  t.same(parseRate('60/m'), { problem: 'has a unit without a number; write 60/1m' });
  t.same(parseRate('60/60'), { problem: 'the duration has no unit; write 60s' });
  t.same(parseRate('60/25h'), { problem: 'the duration must be at most 24h' });
  t.equal(formatRate({ requests: 60, perMs: 60_000 }), '60/1m');
  t.equal(formatRate({ requests: 5, perMs: 1_500 }), '5/1500ms');
});
