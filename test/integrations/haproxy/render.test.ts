import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { ConfigError } from '../../../src/base/config-error.ts';
import { VERSION } from '../../../src/base/version.ts';
import { tablesOf } from '../../../src/cli/route-tables.ts';
import { addresses } from '../../../src/config/values/vocabulary.ts';
import { haproxyConfiguration } from '../../../src/integrations/haproxy/configuration.ts';
import { loadYaml } from '../../config/load-from.ts';
import { NO_HAPROXY } from '../../support/haproxy.ts';

// What `bearerd render haproxy` prints, and what it refuses. UPDATE=1 writes the new text to the files; read it before
// a commit.

const TOKEN = 'credentials: { token: { type: session, clientId: a, clientSecret: the-secret } }';
const SINK = "sinks: [{ haproxy: 'unix:/run/bearerd/haproxy.sock', map: /run/bearerd/credentials.map }]";
const SIMPLE = `
baseUrl: https://api.example.com
${TOKEN}
${SINK}
`;
const RICH = `
baseUrl: https://api.example.com/v2
allowedHosts: [sidecar, '*.svc.cluster.local']
upstreamHttp2: false
timeouts: { response: 90s, idle: 90s }
credentials:
  token: { type: session, clientId: a, clientSecret: the-secret }
  apiKey: { type: apiKey, key: the-key, header: X-Api-Key, scheme: '' }
routes:
  - { prefix: /companies, credential: apiKey, rewrite: /data/companies, methods: [GET, HEAD] }
  - { prefix: /svc, credential: token, rewrite: / }
  - { prefix: /api/admin, credential: deny }
  - { prefix: /, credential: token }
sinks: [{ haproxy: 'unix:/run/bearerd/haproxy.sock', map: /run/bearerd/credentials.map }]
`;

const HOSTS = `
baseUrl: https://api.example.com
${TOKEN}
routes:
  - { host: Orders.localhost, prefix: /, credential: token, rewrite: /orders }
  - { host: orders.localhost, prefix: /admin, credential: deny }
  - { host: crm.example, prefix: /crm, credential: token }
  - { prefix: /, credential: token }
${SINK}
`;

async function rendered(
  yaml: string,
  listen = '127.0.0.1:9182',
  env: Record<string, string> = {},
): Promise<string> {
  const config = await loadYaml(yaml, env);
  const parsed = addresses.parse(listen);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return haproxyConfiguration(config, tablesOf(config), parsed.value);
}

async function refused(yaml: string, listen?: string, env?: Record<string, string>): Promise<string[]> {
  try {
    await rendered(yaml, listen, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(({ key, problem }) => `${key}: ${problem}`);
    throw error;
  }
  return [];
}

for (const [name, yaml] of [
  ['simple', SIMPLE],
  ['rich', RICH],
  ['hosts', HOSTS],
] as const) {
  t.test(
    `the text for a ${name} configuration is the one in the file, which a person has read`,
    async (t) => {
      const file = fileURLToPath(new URL(`${name}.cfg`, import.meta.url));
      const text = (await rendered(yaml)).replace(VERSION, 'VERSION');
      if (process.env.UPDATE === '1') writeFileSync(file, text);
      t.equal(text, readFileSync(file, 'utf8'));
      t.notMatch(text, /the-secret|the-key/);
    },
  );

  t.test(
    `HAProxy accepts the text for a ${name} configuration without a warning`,
    { skip: NO_HAPROXY },
    async (t) => {
      const dir = t.testdir({ map: '' });
      const text = (await rendered(yaml)).replaceAll('/run/bearerd/credentials.map', join(dir, 'map'));
      writeFileSync(join(dir, 'cfg'), text.replaceAll('/run/bearerd/', '/tmp/'));
      const { status, stderr, stdout } = spawnSync('haproxy', ['-c', '-f', join(dir, 'cfg')], {
        encoding: 'utf8',
      });
      t.equal(status, 0, stderr);
      // The example's name can't be resolved here.
      const warnings = (stderr + stdout).split('\n').filter((line) => line.includes('WARNING'));
      t.same(
        warnings.filter((line) => !line.includes('could not resolve')),
        [],
      );
    },
  );
}

t.test('bearerd at a name like localhost is found at 127.0.0.1, wherever the name leads', async (t) => {
  for (const host of ['localhost', 'LOCALHOST', 'proxy.localhost'])
    t.match(await rendered(`${SIMPLE}\nlisten: ${host}:9300`), /server bearerd 127\.0\.0\.1:9300\n/, host);
});

t.test('each setting that HAProxy would treat otherwise is refused, with what would be right', async (t) => {
  const callers = 'callerKey: 0123456789abcdef';
  t.match(await refused(`${SIMPLE}\n${callers}`), ['callerKey: HAProxy would let everybody in']);
  t.match(await refused(`${SIMPLE}\nlog: { requestIdHeader: X-Request-Id }`), ['log.requestIdHeader:']);
  t.match(await refused(SIMPLE.replace(SINK, '')), ['sinks: name no HAProxy; add']);
  t.match(await refused(SIMPLE.replace('/run/bearerd/credentials.map', 'my map')), ['sinks.map:']);
  t.match(await refused(SIMPLE.replace('/run/bearerd/haproxy.sock', `/${'x'.repeat(100)}`)), [
    'sinks.haproxy: is too long',
  ]);
  t.match(await refused(`${SIMPLE}\nlisten: 'unix:/run/x'`), ['listen: needs an address']);
  t.match(await refused(`${SIMPLE}\nlisten: '127.0.0.1:0'`), ['listen: needs an address']);
  t.match(await refused(SIMPLE, 'localhost:9180'), ['--listen: localhost:9180 is taken']);
  t.match(await refused(SIMPLE, 'unix:/run/x'), ['--listen: must be HOST:PORT']);
  t.match(await refused(SIMPLE, '0.0.0.0:80'), [
    /--listen: .*other machines/,
    /--listen: .*put it into allowedHosts/,
  ]);
  t.match(await refused(`${SIMPLE}\nallowRemoteCallers: true\nallowedHosts: [sidecar]`, 'sidecar:80'), []);
  t.match(await refused(SIMPLE, 'api.localhost:80'), []);
  t.same(await refused(HOSTS), []);
  t.match(await refused(HOSTS, 'other.example:80'), [/other machines/, /put it into allowedHosts/]);
  t.match(
    await refused(HOSTS, 'crm.example:80'),
    [/other machines/],
    'the host of a route is an allowed name',
  );
  t.match(await refused(SIMPLE, undefined, { HTTPS_PROXY: 'http://proxy:3128' }), ['HTTPS_PROXY: ']);
  t.match(
    await refused(SIMPLE, undefined, { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'example.com' }),
    [],
  );
  t.match(await refused(`${SIMPLE}\nscrub: true`), [
    'routes: none can have a fast lane (/: scrub looks into',
  ]);
  t.match(await refused(SIMPLE.replace('https://api.example.com', 'https://192.0.2.1')), ['routes: none']);
  t.match(await refused(`${SIMPLE}\ntimeouts: { response: 1m }`), ['routes: none']);
  t.equal((await refused(`${SIMPLE}\n${callers}\nlisten: 'unix:/x'`, 'unix:/y')).length, 3, 'all at once');
});

t.test(
  'HAProxy connects to an upstream address, and the name of the base URL is allowed as Host',
  async (t) => {
    const text = await rendered(`${SIMPLE}\nupstreamAddress: 192.0.2.7:8443`);
    t.match(
      text,
      'server upstream 192.0.2.7:8443 id 1 pool-purge-delay 1s ssl verify required verifyhost api.example.com sni str(api.example.com)',
    );
    t.match(text, /acl our_host .*api\\\.example\\\.com/);
    t.notMatch(text, 'resolvers');
  },
);
