import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import type { LoginError } from '../../src/base/login-error.ts';
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
      [head('302 Found', `location: ${OPENID}`, 'content-length: 0'), 'redirected'],
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
      const { message } = error as Error;
      t.ok(message.startsWith(`the issuer ${server.url}/`), message);
      t.notMatch(message, /canary/);
      t.ok(server.requests.length <= 2);
    }
  },
);

const NONE = 'content-length: 0';

/** A discovery that fails, by the answers at both paths in turn; the URLs are those that were asked. */
async function failing(t: Test, ...answers: readonly (string | Buffer)[]) {
  const world = await issuerAt(t, ({ target }) => answers[target === OAUTH ? 0 : 1]!);
  const error = await world.find();
  const urls = world.server.requests.map(({ target }) => `${world.server.url}${target}`);
  return { error: error as LoginError, urls, origin: world.server.url };
}

t.test('an answer without metadata fails the login as an answer to a login does', async (t) => {
  for (const [status, code, words] of [
    ['400 No', 'refused', 'refuses to give its metadata (status 400). It needs no credential'],
    ['401 No', 'refused', 'refuses to give its metadata (status 401). It needs no credential'],
    ['403 No', 'refused', 'refuses to give its metadata (status 403). It needs no credential'],
    ['405 No', 'server-error', 'gives no metadata (status 405). Check issuer'],
    ['429 No', 'rate-limited', 'asks to wait (status 429). Nothing needs to be done'],
    ['500 No', 'server-error', 'gives no metadata (status 500). The fault is in the server'],
    ['503 No', 'server-error', 'gives no metadata (status 503). The fault is in the server'],
    ['101 No', 'server-error', 'gives no metadata (status 101). The fault is in the server'],
  ] as const) {
    const { error, urls } = await failing(t, head(status, NONE), head(status, NONE));
    t.match(error, { code, status: Number(status.slice(0, 3)) }, status);
    t.ok(error.message.startsWith(`the issuer ${urls.at(-1)} ${words}`), error.message);
    t.equal(urls.length, /429|503/.test(status) ? 1 : 2, 'a server that has enough is asked no more');
  }
  const moved = head('302 Found', `location: ${OPENID}canary`, NONE);
  const { error } = await failing(t, moved, moved);
  t.match(error, { code: 'redirected', message: /redirects, .* \(status 302, to another place on the same/ });
});

t.test('the Retry-After of an issuer is obeyed, in seconds and as a date', async (t) => {
  const date = 'date: Tue, 01 Dec 2026 10:00:00 GMT';
  for (const [when, retryAfterMs] of [
    ['120', 120_000],
    ['Tue, 01 Dec 2026 10:00:30 GMT', 30_000],
  ] as const) {
    for (const status of ['429 No', '503 No']) {
      const { error, urls } = await failing(t, head(status, date, `retry-after: ${when}`, NONE));
      t.match(error, { code: 'rate-limited', retryAfterMs, message: /asks to wait/ });
      t.equal(urls.length, 1);
    }
  }
});

t.test('an issuer without metadata is told with both URLs, and by the one that is no 404', async (t) => {
  const missing = head('404 No', NONE);
  const { error, urls, origin } = await failing(t, missing, missing);
  const notes = `status 404 at ${urls[0]}, status 404 at ${urls[1]}`;
  t.match(error, { code: 'server-error', status: 404 });
  t.ok(error.message.startsWith(`the issuer ${origin} gives no metadata (${notes}). Check issuer`));
  for (const [first, second, asked] of [
    [head('403 No', NONE), missing, 0],
    [missing, head('403 No', NONE), 1],
    [head('500 No', NONE), head('403 No', NONE), 1],
  ] as const) {
    const { error, urls } = await failing(t, first, second);
    t.match(error, { code: 'refused', status: 403 });
    t.ok(error.message.startsWith(`the issuer ${urls[asked]} refuses`), error.message);
  }
});

t.test('an answer without metadata at the first path does not hide the metadata at the second', async (t) => {
  for (const first of [head('403 No', NONE), ok('<html>'.padEnd(70_000)), ok('x', 'content-encoding: x')]) {
    const world = await issuerAt(t, ({ target }) =>
      target === OAUTH ? first : world.metadata(`${world.server.url}/token`),
    );
    t.same(await world.find(), { origin: world.server.url, path: '/token' });
  }
});

t.test('metadata with a content coding is decoded, up to 64 KiB', async (t) => {
  const coded = async (text: (server: RawUpstream) => string) => {
    const world = await issuerAt(t, () => ok(gzipSync(text(world.server)), 'content-encoding: gzip'));
    return { found: await world.find(), url: world.server.url };
  };
  const metadata = ({ url }: RawUpstream) =>
    JSON.stringify({ issuer: `${url}/t`, token_endpoint: `${url}/token` });
  for (const length of [0, 65_536]) {
    const { found, url } = await coded((server) => metadata(server).padEnd(length));
    t.same(found, { origin: url, path: '/token' }, `${length}`);
  }
  t.match((await coded((server) => `\ufeff${metadata(server)}`)).found, { path: '/token' }, 'with a BOM');
  t.match((await coded((server) => metadata(server).padEnd(65_537))).found, {
    message: /gives no metadata \(the answer is larger than 64 KiB\)/,
  });
  const plain = ok('{"issuer":"canary"}', 'content-encoding: gzip');
  const { error } = await failing(t, plain, plain);
  t.match(error, { status: 200, message: /gives no metadata \(the answer's content coding can't be read\)/ });
  t.notMatch(error.message, /canary/);
});

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
