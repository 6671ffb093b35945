import t from 'tap';
import { accountSecretsOf, isShared } from '../../src/config/sections/share.ts';
import { faultsOf, faultsOfYaml, LEAST, loadFrom, loadYaml } from './load-from.ts';

// The section `share`: the engine through which instances share a token.

const PASSWORD = 'c4n4ry-p%41ss';
const shareOf = async (url: string) => (await loadFrom({ env: { ...LEAST, BEARERD_SHARE_URL: url } })).share;

t.test('the share URL has the address, the user name and the password', async (t) => {
  const plain = await shareOf('redis://cache.example');
  t.same(plain?.server, { address: { host: 'cache.example', port: 6379, tls: false }, database: 0 });
  t.equal(plain?.prefix, 'bearerd');
  const full = await shareOf(`rediss://ada:${encodeURIComponent(PASSWORD)}@[::1]:6380/3`);
  t.same(full?.server.address, { host: '::1', port: 6380, tls: true });
  t.equal(full?.server.database, 3);
  t.equal(full?.server.username?.expose(), 'ada');
  t.equal(full?.server.password?.expose(), PASSWORD);
  const key = await shareOf(`redis://:${encodeURIComponent(PASSWORD)}@cache.example`);
  t.equal(key?.server.username, undefined);
  t.equal(key?.server.password?.expose(), PASSWORD);
  const socket = await shareOf(`unix:/run/my%20redis.sock?db=2&password=${encodeURIComponent(PASSWORD)}`);
  t.same(socket?.server.address, { path: '/run/my redis.sock' });
  t.equal(socket?.server.database, 2);
  t.equal(socket?.server.password?.expose(), PASSWORD);
});

t.test('an invalid share URL is a fault that does not quote it', async (t) => {
  for (const url of [
    'cache.example',
    'http://cache.example',
    'redis://',
    'redis://cache.example:0',
    'redis://cache.example/x',
    'redis://cache.example/1/2',
    'redis://cache.example?db=1',
    'redis://cache.example#c4n4ry',
    'redis://c4n4ry:%zz@cache.example',
    'redis://c4n4ry @cache.example',
    'unix:',
    'unix:relative',
    'unix://host/run/redis.sock',
    'unix:/run/redis.sock?db=c4n4ry',
    'unix:/run/redis.sock?c4n4ry=1',
  ]) {
    const faults = await faultsOf({ env: { ...LEAST, BEARERD_SHARE_URL: url } });
    t.equal(faults.length, 1, url);
    t.match(faults[0], /^BEARERD_SHARE_URL: /, url);
    t.notMatch(faults.join(), /c4n4ry/);
  }
});

t.test('a placeholder in the share URL is a fault, in each form of the setting', async (t) => {
  const url = `redis://:\${C4N4RY}@cache.example`;
  const problem = `holds \${…}, which nothing replaces here; write the password, %-encoded`;
  t.same(await faultsOf({ env: { ...LEAST, BEARERD_SHARE_URL: url } }), [`BEARERD_SHARE_URL: ${problem}`]);
  t.same(await faultsOfYaml(`share: { url: "${url}" }`, LEAST), [`share.url: ${problem}`]);
});

t.test(
  'the share URL is a secret: it may be in a file, the file is watched, and it is shown as ***',
  async (t) => {
    const url = `redis://:${encodeURIComponent(PASSWORD)}@cache.example`;
    const env = { ...LEAST, BEARERD_SHARE_URL_FILE: 'url', BEARERD_SHARE_KEY_FILE: 'key' };
    const files = { '/srv/app/url': `${url}\n`, '/srv/app/key': 'c4n4ry-key\n' };
    const { share, watchedFiles, effective } = await loadFrom({ env, files });
    t.equal(share?.server.password?.expose(), PASSWORD);
    t.equal(share?.key?.expose(), 'c4n4ry-key');
    t.same([...watchedFiles].sort(), ['/srv/app/key', '/srv/app/url']);
    t.same(effective.share, { url: '***', prefix: 'bearerd', key: '***' });
    t.notMatch(JSON.stringify({ share, effective }), /c4n4ry/);
  },
);

t.test('the share URL may be in the configuration file, and a misspelt key does not show it', async (t) => {
  const yaml = (share: string) =>
    `baseUrl: https://api.example.com\ncredentials: { token: { type: session, clientId: a, clientSecret: b } }\n${share}`;
  const { share } = await loadYaml(
    yaml('share: { url: { env: MY_URL }, prefix: "blue:1", key: { env: MY_KEY } }'),
    { MY_URL: 'redis://cache.example', MY_KEY: 'k' },
  );
  t.match(share, { prefix: 'blue:1', server: { address: { host: 'cache.example' } } });
  t.equal((await loadYaml(yaml(''))).effective.share, undefined);
  t.same(await faultsOfYaml(yaml('share: { prefix: "no blanks" }')), [
    'share.prefix: must be 1 to 64 letters, digits, and any of . : _ -',
  ]);
  t.same(await faultsOfYaml(yaml('share: { key: k }')), [
    'share.key: seals what is shared by share.url, which is not given',
  ]);
  t.match(await faultsOfYaml(yaml('share: { uri: redis://c4n4ry }')), [/^share\.uri: .*share\.url/]);
  t.notMatch((await faultsOfYaml(yaml('share: { uri: redis://c4n4ry }'))).join(), /c4n4ry/);
});

const OAUTH2 = (more: string) => `
baseUrl: https://api.example.com
share: { url: redis://cache.example }
credentials:
  token: { type: oauth2, tokenUrl: https://idp.example/token, ${more} }
`;

t.test('an account without a secret needs a sealing key', async (t) => {
  const missing = [
    'share.key: is required: the credential token has no secret that its token could be sealed by',
  ];
  for (const more of [
    'clientId: a, clientAuthentication: assertion, assertion: { file: f }',
    'clientId: a, clientAuthentication: privateKeyJwt, privateKey: { file: f }',
    'clientId: a, clientAuthentication: tls, tls: { certFile: c, keyFile: k }',
  ]) {
    t.same(await faultsOfYaml(OAUTH2(more)), missing, more);
    const keyed = OAUTH2(more).replace('redis://cache.example', 'redis://cache.example, key: k');
    t.same(await faultsOfYaml(keyed), [], more);
  }
  t.same(await faultsOfYaml(OAUTH2('clientId: a, clientSecret: b')), []);
});

t.test('tokens of a command or of a token exchange are not shared', async (t) => {
  const sharedOf = async (yaml: string) => {
    const { credentials } = await loadYaml(yaml);
    const token = credentials.get('token')!;
    return { shared: isShared(token), secrets: accountSecretsOf(token).map((secret) => secret.expose()) };
  };
  t.same(await sharedOf(OAUTH2('clientId: a, clientSecret: b')), { shared: true, secrets: ['b'] });
  const exchange = 'clientId: a, clientSecret: b, grant: tokenExchange, subjectToken: { file: f }';
  t.equal((await sharedOf(OAUTH2(exchange))).shared, false);
  const exec =
    'baseUrl: https://api.example.com\nshare: { url: redis://c }\ncredentials: { token: { type: exec, command: [x] } }';
  t.same(await sharedOf(exec), { shared: false, secrets: [] });
});

t.test(
  'a token of the password grant is sealed by both secrets: the client’s opens no user’s token',
  async (t) => {
    const secretsOf = async (more: string) => {
      const { credentials } = await loadYaml(OAUTH2(`${more}, grant: password, username: u, password: p`));
      return accountSecretsOf(credentials.get('token')!).map((secret) => secret.expose());
    };
    t.same(await secretsOf('clientId: a, clientSecret: b'), ['b', 'p']);
    t.same(await secretsOf('clientId: a, clientAuthentication: none'), ['p']);
  },
);
