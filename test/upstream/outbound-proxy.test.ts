import t from 'tap';
import { Secret } from '../../src/base/secret.ts';
import { outboundWay } from '../../src/upstream/outbound-proxy.ts';

const PROXIES = {
  httpsProxy: new Secret('http://secure.proxy:3128/'),
  httpProxy: new Secret('http://plain.proxy:3128/'),
};

function proxyFor(origin: string, noProxy = ''): string | undefined {
  return outboundWay(origin, { ...PROXIES, noProxy }).proxy?.hostname;
}

t.test('the scheme of the origin chooses the proxy; without one the connection is direct', async (t) => {
  t.equal(proxyFor('https://api.example.com'), 'secure.proxy');
  t.equal(proxyFor('http://api.example.com'), 'plain.proxy');
  const none = { ...PROXIES, httpsProxy: undefined, noProxy: '' };
  t.equal(outboundWay('https://api.example.com', none).proxy, undefined);
});

t.test('a loopback host never uses a proxy; a name that only looks like one does', async (t) => {
  for (const host of [
    'localhost',
    'api.localhost',
    '127.0.0.1',
    '127.9.9.9',
    '[::1]',
    'localhost.',
    'api.localhost.',
  ]) {
    t.equal(proxyFor(`https://${host}:8443`), undefined, host);
  }
  for (const host of ['127.evil.example', 'localhost.evil.example', 'notlocalhost', '128.0.0.1']) {
    t.equal(proxyFor(`https://${host}`), 'secure.proxy', host);
  }
});

t.test('NO_PROXY exempts names with their subdomains, addresses, networks and ports', async (t) => {
  const cases: [noProxy: string, origin: string, exempt: boolean][] = [
    ['*', 'https://api.example.com', true],
    ['example.com', 'https://example.com', true],
    ['example.com', 'https://api.example.com', true],
    ['.example.com', 'https://api.example.com', true],
    ['*.example.com', 'https://api.example.com', true],
    ['EXAMPLE.com', 'https://api.example.com', true],
    ['example.com', 'https://badexample.com', false],
    ['other.org, example.com', 'https://example.com', true],
    ['example.com:8443', 'https://example.com:8443', true],
    ['example.com:8443', 'https://example.com', false],
    ['example.com:443', 'https://example.com', true],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.0.0.0/99', 'https://10.1.2.3', false],
    ['fd00::/8', 'https://[fd00::1]', true],
    ['[fd00::1]:443', 'https://[fd00::1]', true],
    ['1.2.3', 'https://0.1.2.3', false],
    ['example.test', 'https://api.example.test.', true],
    ['example.test.', 'https://api.example.test', true],
    ['.example.test.:443', 'https://api.example.test.', true],
    ['example.test.', 'https://badexample.test', false],
    ['.', 'https://example.com.', false],
    ['', 'https://example.com', false],
  ];
  for (const [noProxy, origin, exempt] of cases) {
    t.equal(proxyFor(origin, noProxy), exempt ? undefined : 'secure.proxy', `${noProxy} for ${origin}`);
  }
});

t.test('a direct way says why it is one', async (t) => {
  const none = { httpsProxy: undefined, httpProxy: undefined, noProxy: '' };
  t.same(outboundWay('https://api.example.com', none), { proxy: undefined, why: 'HTTPS_PROXY is not set' });
  t.same(outboundWay('http://api.example.com', none), { proxy: undefined, why: 'HTTP_PROXY is not set' });
  t.match(outboundWay('https://localhost', { ...PROXIES, noProxy: '' }), { why: /^a loopback host/ });
  t.match(outboundWay('https://example.com', { ...PROXIES, noProxy: '*' }), { why: /^NO_PROXY/ });
});

t.test('what is said of the address that stands in for the host counts, too', async (t) => {
  const way = (host: string, noProxy = '') =>
    outboundWay('https://api.example.com', { ...PROXIES, noProxy }, { host });
  t.match(way('127.0.0.1'), { proxy: undefined, why: /^a loopback host/ });
  t.match(way('10.1.2.3', '10.0.0.0/8'), { proxy: undefined, why: /^NO_PROXY/ });
  t.match(way('10.1.2.3', '10.1.2.3:443'), { proxy: undefined });
  t.equal(way('10.1.2.3').proxy?.hostname, 'secure.proxy');
});
