import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { configOf, type GatewayOptions, gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { ask, until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream } from '../support/raw-upstream.ts';
import { NO_REDIS, RedisServer } from '../support/redis.ts';
import { type Story, TRY_MS, undisturbed } from '../support/undisturbed.ts';

// Whole proxies and a real redis-server that works. For its failures see shares-troubles.test.ts.

// Each test has its own proxies and engine, and mostly waits.
const REDIS = { skip: NO_REDIS, buffered: true };
t.jobs = 2;
const SHORT_FLOOR_MS = 1_050; // One login a second, at most.

const ADMIN = { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };

async function fleet(t: Story, size: number, redis: RedisServer) {
  const upstream = await RawUpstream.startedFor(t);
  const join = (more: Partial<GatewayOptions> = {}) =>
    gatewayFor(t, {
      baseUrl: upstream.url,
      ...more,
      env: { BEARERD_SHARE_URL: redis.url, ...ADMIN, ...more.env },
    });
  const members = await Promise.all(Array.from({ length: size }, () => join()));
  return { upstream, members, join };
}

const renew = ({ adminPort }: TestGateway) => ask(adminPort, request('POST', '/renew', 'content-length: 0'));
const metricsOf = async ({ adminPort }: TestGateway) =>
  (await ask(adminPort, request('GET', '/metrics', 'connection: close'))).body.toString();

const fingerprint = ({ gateway }: TestGateway) => gateway.status.credentials.token!.fingerprint;

t.test(
  'one instance logs in, and the others use its token',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { upstream, members, join } = await fleet(t, 5, redis);
    const late = await join();
    t.equal(upstream.logins, 1);
    for (const member of [...members, late]) t.equal((await member.get('/x')).status, 200);
    t.same(
      new Set(upstream.requests.map((request) => request.header('authorization'))),
      new Set(['Bearer tok-1']),
    );
    t.same(late.gateway.status.share, { state: 'ready' });
    t.same(late.gateway.readiness.share, { state: 'ready' });
  }),
);

t.test(
  'a renewal is one login, and all instances get its token',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { upstream, members } = await fleet(t, 4, redis);
    await until(() => new Set(members.map(fingerprint)).size === 1, 'an instance has another token');
    await sleep(SHORT_FLOOR_MS);
    // On a busy machine the engine may answer late, and an instance logs in by itself.
    const { logins } = upstream;
    const before = fingerprint(members[0]!);
    t.equal((await renew(members[0]!)).status, 200);
    await until(
      () => new Set(members.map(fingerprint)).size === 1 && fingerprint(members[0]!) !== before,
      'an instance does not get the new token',
    );
    await sleep(300);
    t.equal(upstream.logins, logins + 1);
  }),
);

t.test(
  'a token that the upstream rejects for one instance is dropped by all, with one new login',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { upstream, members } = await fleet(t, 4, redis);
    upstream.onRequest = (request) =>
      request.header('authorization') === 'Bearer tok-1'
        ? head('401 Unauthorized', 'content-length: 0')
        : ok('ok');
    const before = new Set(members.map(fingerprint));
    t.equal(before.size, 1);
    await sleep(SHORT_FLOOR_MS);
    const answers = await Promise.all([members[0]!.get('/x'), members[0]!.get('/y')]);
    t.same(
      answers.map(({ status }) => status),
      [200, 200],
    );
    const retired = () => members.every((member) => !before.has(fingerprint(member)));
    await until(retired, 'an instance keeps the token', TRY_MS);
    t.equal(upstream.logins, 2);
  }),
);

t.test(
  'a `Retry-After` that one instance gets delays the logins of all',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const upstream = await RawUpstream.startedFor(t);
    upstream.onLogin = () => head('429 Too Many Requests', 'retry-after: 120', 'content-length: 0');
    const join = () =>
      gatewayFor(t, {
        baseUrl: upstream.url,
        env: { BEARERD_SHARE_URL: redis.url, ...ADMIN },
        loggedIn: false,
      });
    const members = await Promise.all(Array.from({ length: 5 }, join));
    const heard = ({ events }: TestGateway) => events.find(({ type }) => type === 'login-failed');
    await until(() => members.every(heard), 'an instance does not get the Retry-After');
    const late = await join();
    await until(() => heard(late), 'an instance that starts later does not get the Retry-After');
    t.equal(upstream.logins, 1);
    for (const { gateway } of [...members, late]) {
      t.ok(gateway.status.credentials.token!.nextLoginInSeconds! > 100);
      t.equal(gateway.status.credentials.token!.lastFailure?.reason, 'rate-limited');
    }
    const metrics = await Promise.all([...members, late].map(metricsOf));
    const counted = metrics.filter((text) => /logins_total\{.*result="rate-limited"\} 1/.test(text));
    t.equal(counted.length, 1, 'only a login at the server is counted');
  }),
);

t.test(
  'one instance tries wrong credentials, and the others learn of the refusal',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const upstream = await RawUpstream.startedFor(t);
    upstream.onLogin = () => head('401 Unauthorized', 'content-length: 0');
    const members = await Promise.all(
      Array.from({ length: 4 }, () =>
        gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_SHARE_URL: redis.url }, loggedIn: false }),
      ),
    );
    await until(
      () => members.every(({ gateway }) => gateway.status.credentials.token!.state === 'refused'),
      'an instance does not learn of the refusal',
    );
    t.equal(upstream.logins, 1);
    const answer = await members[3]!.get('/x');
    t.equal(answer.status, 503);
    t.match(answer.body.toString(), /login-refused/);
  }),
);

t.test(
  'an instance whose login fails does not block the others',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const upstream = await RawUpstream.startedFor(t);
    upstream.onLogin = (login) =>
      login === 1 ? head('500 Oops', 'content-length: 0') : grant(`tok-${login}`);
    const members = await Promise.all(
      Array.from({ length: 3 }, () =>
        gatewayFor(t, { baseUrl: upstream.url, env: { BEARERD_SHARE_URL: redis.url } }),
      ),
    );
    t.equal(upstream.logins, 2);
    t.equal(new Set(members.map(fingerprint)).size, 1);
  }),
);

t.test(
  'a different account, secret, prefix or sealing key has a token of its own',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { upstream, join } = await fleet(t, 1, redis);
    await join({ env: { BEARERD_CLIENT_ID: 'sa-2' } });
    await join({ env: { BEARERD_CLIENT_SECRET: 'another' } });
    await join({ env: { BEARERD_SHARE_PREFIX: 'blue' } });
    await join({ env: { BEARERD_SHARE_KEY: 'a key beside the secret' } });
    t.equal(upstream.logins, 5);
  }),
);

t.test(
  'a reload with the same account causes no login; one with a new secret does',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { upstream, members } = await fleet(t, 2, redis);
    const [one] = members;
    const env = { BEARERD_SHARE_URL: redis.url, ...ADMIN };
    const again = (more: Record<string, string>) =>
      configOf({ baseUrl: upstream.url, env: { ...env, ...more } });
    one!.gateway.reconfigure(await again({ BEARERD_ROUTES: '/more=token' }));
    await sleep(SHORT_FLOOR_MS);
    t.equal(upstream.logins, 1);
    const before = fingerprint(one!);
    one!.gateway.reconfigure(await again({ BEARERD_CLIENT_SECRET: 'another' }));
    await until(() => fingerprint(one!) !== before, 'the old token stays in use');
    t.equal(upstream.logins, 2);
    one!.gateway.reconfigure(await configOf({ baseUrl: upstream.url, env: ADMIN }));
    t.equal(one!.gateway.status.share, undefined);
  }),
);

t.test(
  'Redis neither stores, logs nor receives a token or a secret in clear',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const told = await redis.monitor();
    const { upstream, members } = await fleet(t, 2, redis);
    upstream.onRequest = (request) =>
      request.header('authorization') === 'Bearer tok-1' ? head('401 No', 'content-length: 0') : ok('ok');
    await sleep(SHORT_FLOOR_MS);
    await members[0]!.get('/x');
    upstream.onLogin = () => head('401 No', 'content-length: 0');
    await sleep(SHORT_FLOOR_MS);
    t.equal((await renew(members[1]!)).status, 502);
    const kept = await redis.kept();
    told.socket.destroy();
    for (const [place, text] of Object.entries({ ...kept, monitor: told.text() })) {
      t.match(text, /bearerd:\{[0-9a-f]{32}\}:token/, `${place} holds something`);
      for (const word of ['tok-1', 'tok-2', 'client-secret', 'sa-1', '127.0.0.1', 'session'])
        for (const form of [word, Buffer.from(word).toString('base64url'), Buffer.from(word).toString('hex')])
          t.notOk(text.replaceAll('127.0.0.1:0', '').includes(form), `${place}: ${form}`);
    }
  }),
);
