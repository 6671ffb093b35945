import t from 'tap';
import { formatUpstreamAddress, parseUpstreamAddress } from '../../src/config/values/addresses.ts';
import { faultsOf, faultsOfYaml, LEAST, loadFrom, loadYaml } from './load-from.ts';

t.test('an upstream address is a host with an optional port', async (t) => {
  for (const [text, value] of Object.entries({
    '10.1.2.3': { host: '10.1.2.3' },
    '10.1.2.3:8443': { host: '10.1.2.3', port: 8443 },
    'api.internal.:443': { host: 'api.internal.', port: 443 },
    '[::1]': { host: '::1' },
    '[fd00::7]:65535': { host: 'fd00::7', port: 65_535 },
  })) {
    t.same(parseUpstreamAddress(text), { value }, text);
    t.equal(formatUpstreamAddress(value), text);
  }
  for (const text of [
    '',
    ':80',
    'a:',
    'a:0',
    'a:65536',
    'a b',
    '::1',
    '[::1',
    '[x]',
    'https://a',
    'a/b',
    '-a',
    'a@b',
  ]) {
    t.match(parseUpstreamAddress(text), { problem: /^must / }, text);
  }
});

t.test('the address applies to the origin of the base URL: its routes and its logins', async (t) => {
  const config = await loadFrom({ env: { ...LEAST, BEARERD_UPSTREAM_ADDRESS: '10.1.2.3' } });
  t.same(config.routes[0]?.upstreamAddress, { host: '10.1.2.3' });
  t.same([...config.upstreamAddresses], [['https://api.example.com', { host: '10.1.2.3' }]]);
  t.equal(config.effective.upstreamAddress, '10.1.2.3');
  t.notOk(
    'upstreamAddress' in (config.effective.routes as object[])[0]!,
    'a route does not repeat the global address',
  );
});

const routes = (...lines: string[]) => `
baseUrl: https://api.example.com
credentials: { apiKey: { type: apiKey, key: k, origins: ['https://api.example.com', 'https://other.example'] } }
routes:
${lines.map((line, n) => `  - { prefix: /${n}, credential: apiKey, ${line} }`).join('\n')}
`;
const OTHER = 'upstream: https://other.example';

t.test('logins at another origin use the address that all routes to this origin share', async (t) => {
  const addresses = async (...lines: string[]) => [...(await loadYaml(routes(...lines))).upstreamAddresses];
  const there = [['https://other.example', { host: 'a' }]];
  t.same(await addresses(`${OTHER}, upstreamAddress: a`), there);
  t.same(await addresses(`${OTHER}, upstreamAddress: a`, `${OTHER}/x, upstreamAddress: a`), there);
  t.same(await addresses(`${OTHER}, upstreamAddress: a`, `${OTHER}, upstreamAddress: b`), []);
  t.same(await addresses(`${OTHER}, upstreamAddress: a`, OTHER), []);
  t.same(await addresses(OTHER, `${OTHER}, upstreamAddress: a`), []);
  t.same(
    await addresses('upstreamAddress: a', 'methods: [GET]'),
    [],
    'an address of only one route of the base URL',
  );
});

t.test('a credential is bound to the origin of the URL, whatever the address', async (t) => {
  const wrong = routes('upstream: https://third.example, upstreamAddress: api.example.com');
  t.match(await faultsOfYaml(wrong), [
    /routes\[0\]\.upstream: would send apiKey to https:\/\/third\.example/,
  ]);
});

t.test('http:// is accepted only with a loopback address, whatever the name in the URL', async (t) => {
  const http = (url: string, address: string, insecure = 'false') =>
    faultsOf({
      env: {
        ...LEAST,
        BEARERD_BASE_URL: url,
        BEARERD_UPSTREAM_ADDRESS: address,
        BEARERD_ALLOW_INSECURE_UPSTREAM: insecure,
      },
    });
  t.same(await http('http://api.example.com', '127.0.0.1:80'), []);
  t.match(await http('http://localhost:8080', '10.1.2.3'), [
    /^BEARERD_UPSTREAM_ADDRESS: would send http:\/\//,
  ]);
  t.same(await http('http://localhost:8080', '10.1.2.3', 'true'), []);
  const local = (address: string) =>
    `baseUrl: http://localhost:1\ncredentials: { apiKey: { type: apiKey, key: k } }\nroutes: [{ prefix: /, credential: apiKey, upstreamAddress: ${address} }]\n`;
  t.match(await faultsOfYaml(local('10.1.2.3')), [/^routes\[0\]\.upstreamAddress: would send http:\/\//]);
  t.same(await faultsOfYaml(local('127.0.0.2')), []);
});
