import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { createDiscovery, metadataPaths, tokenEndpointOf } from '../../src/login/issuer.ts';
import type { LoginServer } from '../../src/login/login-server.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { loginServer } from '../support/login-server.ts';
import { settled } from '../support/outcome.ts';
import { PATIENCE_MS } from '../support/raw-client.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

const OAUTH = '/.well-known/oauth-authorization-server/t';
const OPENID = '/t/.well-known/openid-configuration';

/** An issuer with the path `/t` on its own server. */
async function issuerAt(t: Test, script: RawUpstream['onRequest'], clock = systemClock) {
  const server = await RawUpstream.startedFor(t);
  server.onRequest = script;
  const question = { issuer: `${server.url}/t`, withCertificate: false };
  const discovery = createDiscovery(question, { at: async () => loginServer(server.url) }, clock);
  const find = () => settled(discovery.find(AbortSignal.timeout(PATIENCE_MS)));
  return {
    server,
    discovery,
    find,
    metadata: (endpoint: string) => ok(JSON.stringify({ issuer: question.issuer, token_endpoint: endpoint })),
  };
}

t.test('metadata of an issuer is requested by RFC 8414, then by OpenID discovery', async (t) => {
  t.same(metadataPaths('https://a.example'), [
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
  ]);
  t.same(metadataPaths('https://a.example/t/'), [OAUTH, OPENID]);
  const world = await issuerAt(t, ({ target }) =>
    target === OPENID ? world.metadata(`${world.server.url}/token?x=1`) : head('404 No', 'content-length: 0'),
  );
  t.same(await world.find(), { origin: world.server.url, path: '/token?x=1' });
  t.same(
    world.server.requests.map(({ target }) => target),
    [OAUTH, OPENID],
  );
});

t.test('metadata of an issuer is cached for an hour, or until forget()', async (t) => {
  const clock = new FakeClock();
  const world = await issuerAt(t, () => world.metadata(`${world.server.url}/token`), clock);
  const asked = async () => {
    await world.find();
    return world.server.requests.length;
  };
  t.same([await asked(), await asked()], [1, 1]);
  await clock.advance(3_599_000);
  t.equal(await asked(), 1);
  await clock.advance(2_000);
  t.equal(await asked(), 2);
  world.discovery.forget();
  t.equal(await asked(), 3);
});

t.test(
  'a redirect of an issuer is not followed, and an answer without its metadata fails the login',
  async (t) => {
    for (const [answer, code] of [
      [head('302 Found', `location: ${OPENID}`, 'content-length: 0'), 'server-error'],
      [head('500 Oh', 'content-length: 0'), 'server-error'],
      [ok('<html>canary</html>'), 'server-error'],
      [ok('{"token_endpoint":"https://a.example/canary"}'), 'server-error'],
      [ok('{"issuer":"https://canary.example/t","token_endpoint":"https://a.example/t"}'), 'unusable'],
      [ok(`{"issuer":"x","filler":"${'x'.repeat(70_000)}"}`), 'server-error'],
      ['HTTP/1.1 nonsense canary\r\n\r\n', 'unreachable'],
    ] as const) {
      const { find, server } = await issuerAt(t, () => answer);
      const error = await find();
      t.match(error, { code }, String(answer).slice(0, 80));
      t.notMatch((error as Error).message, /canary/);
      t.ok(server.requests.length <= 2);
    }
  },
);

t.test('a 1xx before the metadata of an issuer is skipped', async (t) => {
  const world = await issuerAt(t, () =>
    Buffer.concat([
      Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'),
      world.metadata(`${world.server.url}/token`),
    ]),
  );
  t.same(await world.find(), { origin: world.server.url, path: '/token' });
});

t.test('a failed discovery says how far it got', async (t) => {
  const { server } = await issuerAt(t, () => undefined);
  const reached = loginServer(server.url);
  const open = await new Promise<Socket>((resolve) => {
    reached.connect((_error, socket) => resolve(socket!), AbortSignal.timeout(PATIENCE_MS));
  });
  t.teardown(() => open.destroy());
  const failure = async (connect: LoginServer['connect'], timeoutMs = PATIENCE_MS) => {
    const question = { issuer: server.url, withCertificate: false };
    const servers = { at: async () => ({ ...reached, connect }), timeoutMs };
    const error = await settled(
      createDiscovery(question, servers, systemClock).find(new AbortController().signal),
    );
    return (error as Error).message;
  };
  t.match(await failure(() => {}, 20), /can't be reached: no connection was made in time \(within 0\.02 s\)/);
  t.match(
    await failure((done) => done(null, open), 20),
    /gives no complete answer in time \(within 0\.02 s\)/,
  );
  server.onRequest = ({ connection }) => connection.end();
  t.match(
    await failure(reached.connect),
    /closed the connection without an answer, as a port that speaks TLS/,
  );
  server.onRequest = ({ connection }) => {
    connection.send('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{').end();
  };
  t.match(await failure(reached.connect), /closed the connection before its answer was complete/);
});

t.test('a cancelled discovery opens no connection', async (t) => {
  const { server, discovery } = await issuerAt(t, () => ok('{}'));
  t.match(await settled(discovery.find(AbortSignal.abort())), { code: 'unreachable' });
  t.same(server.connections, []);
});

t.test('no secret is sent to a token endpoint in clear text, whatever the metadata says', async (t) => {
  const issuer = 'https://a.example';
  const at = (token_endpoint: unknown, more = {}) =>
    settled(
      (async () => tokenEndpointOf({ issuer, token_endpoint, ...more }, { issuer, withCertificate: true }))(),
    );
  t.same(await at('https://other.example/token'), { origin: 'https://other.example', path: '/token' });
  for (const url of [
    'http://a.example/t',
    'http://127.0.0.1/t',
    'ftp://a',
    '/t',
    '',
    7,
    undefined,
    'https://u:p@a.example/',
  ]) {
    t.match(await at(url), { code: 'unusable' }, String(url));
  }
  const aliases = { mtls_endpoint_aliases: { token_endpoint: 'https://mtls.example/t' } };
  t.same(await at('https://a.example/t', aliases), { origin: 'https://mtls.example', path: '/t' });
  const plain = { issuer, token_endpoint: 'https://a.example/t', ...aliases };
  t.same(tokenEndpointOf(plain, { issuer, withCertificate: false }).origin, issuer);
  t.match(
    await settled(
      (async () => tokenEndpointOf({ ...plain, issuer: `${issuer}/` }, { issuer, withCertificate: false }))(),
    ),
    {
      code: 'unusable',
    },
  );
});
