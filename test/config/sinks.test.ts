import t from 'tap';
import { annotated } from '../../src/config/shown/annotated.ts';
import { faultsOfYaml, loadYaml } from './load-from.ts';

// The section `sinks`: places outside bearerd that hold credentials.

const TOKEN = `
baseUrl: https://api.example.com
credentials:
  token: { type: session, clientId: a, clientSecret: { file: secret } }
  key: { type: apiKey, key: k }
  query: { type: apiKey, key: q, in: query, name: key }
  kept: { type: apiKey, key: q }
routes:
  - { prefix: /, credential: token }
  - { prefix: /key, credential: key }
  - { prefix: /query, credential: query }
  - { prefix: /kept, credential: kept, clientAuthorization: keep }
  - { prefix: /none, credential: none }
`;
const FILES = { '/srv/app/secret': 's' };

t.test('by default there are no sinks', async (t) => {
  const config = await loadYaml(TOKEN, {}, FILES);
  t.same(config.sinks, []);
  t.notOk('sinks' in config.effective);
});

t.test(
  'each type of sink is read, and the configuration names it as a place that holds credentials',
  async (t) => {
    const config = await loadYaml(
      `${TOKEN}
sinks:
  - { haproxy: 'unix:/run/haproxy.sock', map: /etc/haproxy/tokens.map }
  - { envoySds: sds/token.yaml, name: bearer }
  - { file: /run/token, credential: key }`,
      {},
      FILES,
    );
    t.same(config.sinks, [
      {
        kind: 'haproxy',
        path: '/run/haproxy.sock',
        map: '/etc/haproxy/tokens.map',
        credentials: ['token', 'key'],
      },
      { kind: 'envoySds', path: '/srv/app/sds/token.yaml', name: 'bearer', credential: 'token' },
      { kind: 'file', path: '/run/token', credential: 'key' },
    ]);
    const shown = await annotated(config);
    t.match(shown, '# the HAProxy at /run/haproxy.sock holds token, key\n');
    t.match(shown, '# the file for Envoy /srv/app/sds/token.yaml holds token\n');
    t.match(shown, '# the file /run/token holds key\n');
    t.match(shown, 'haproxy: unix:/run/haproxy.sock');
  },
);

t.test('the share engine is named as a place that holds tokens, without its URL', async (t) => {
  const url = 'redis://bearerd:pass@cache.example.com';
  const shown = await annotated(await loadYaml(TOKEN, { BEARERD_SHARE_URL: url }, FILES));
  t.match(shown, '# the engine that share.url names holds access tokens, sealed\n');
  t.notMatch(shown, 'cache.example.com');
  t.notMatch(await annotated(await loadYaml(TOKEN, {}, FILES)), 'the engine');
});

t.test('an invalid sink, or one that would overwrite something, is a fault', async (t) => {
  const faults = async (sinks: string) => faultsOfYaml(`${TOKEN}\nsinks: ${sinks}`, {}, FILES);
  t.same(await faults('{ file: x }'), ['sinks: must be a list of maps, each with haproxy, envoySds or file']);
  t.same(await faults('[{ fil: x }]'), [
    'sinks[0]: must be a map with one of haproxy, envoySds, file; did you mean file?',
  ]);
  t.same(await faults('[{ file: x, envoySds: y.json }]'), [
    'sinks[0]: must be a map with one of haproxy, envoySds, file',
  ]);
  t.same(await faults('[{ haproxy: localhost:1, map: m }, { haproxy: "unix:/x" }]'), [
    'sinks[0].haproxy: must be unix:/path/to/socket',
    'sinks[1].map: is missing',
  ]);
  t.same(await faults('[{ envoySds: x, name: n }, { envoySds: x.json }]'), [
    'sinks[0].envoySds: must end with .json, .yaml or .yml',
    'sinks[1].name: is missing',
  ]);
  t.same(await faults('[{ file: x, credential: kay }]'), [
    'sinks[0].credential: names the credential kay, which does not exist (there are token, key, query, kept); did you mean key?',
  ]);
  t.same(await faults('[{ file: x, map: m }]'), ['sinks[0].map: unknown key']);
  t.same(await faults('[{ file: x }, { file: ./x }]'), ['sinks[1].file: is the place of another sink']);
  t.same(await faults('[{ file: secret }, { file: bearerd.yaml }]'), [
    'sinks[0].file: names a file of the configuration itself',
    'sinks[1].file: names a file of the configuration itself',
  ]);
});
