import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type GatewayOptions, gatewayFor, request, type TestGateway } from '../support/gateway.ts';
import { ask, until } from '../support/raw-client.ts';
import { grant, head, ok, RawUpstream } from '../support/raw-upstream.ts';
import { NO_REDIS, RedisServer } from '../support/redis.ts';
import { shortest } from '../support/shortest.ts';
import { type Story, TRY_MS, undisturbed } from '../support/undisturbed.ts';

// Whole proxies and a real redis-server that is killed, paused, full, emptied, or holds foreign values.

// Each test has its own proxies and engine, and mostly waits.
const REDIS = { skip: NO_REDIS, buffered: true };
t.jobs = 2;
const FLOOR_MS = 1_050; // One login a second, at most.
const COMES_BACK_MS = TRY_MS;

async function setUp(t: Story, ...settings: string[]) {
  const redis = await RedisServer.startedFor(t, ...settings);
  const upstream = await RawUpstream.startedFor(t);
  const join = (more: Partial<GatewayOptions> = {}) =>
    gatewayFor(t, {
      baseUrl: upstream.url,
      env: { BEARERD_SHARE_URL: redis.url, BEARERD_ADMIN_LISTEN: '127.0.0.1:0' },
      ...more,
    });
  return { redis, upstream, join };
}

const fingerprint = ({ gateway }: TestGateway) => gateway.status.credentials.token!.fingerprint;
const share = ({ gateway }: TestGateway) => gateway.status.share;
const renew = ({ adminPort }: TestGateway) => ask(adminPort, request('POST', '/renew', 'content-length: 0'));

async function ready(member: TestGateway): Promise<void> {
  await until(() => share(member)?.state === 'ready', 'the proxy does not reconnect to Redis', COMES_BACK_MS);
}

async function gone(member: TestGateway, reason: RegExp): Promise<void> {
  await until(
    () => share(member)?.state === 'gone',
    'the proxy does not notice that Redis is gone',
    COMES_BACK_MS,
  );
  const state = share(member)!;
  if (state.state !== 'gone' || !reason.test(state.reason)) throw new Error(JSON.stringify(state));
}

t.test(
  'if Redis is down at the start, each instance logs in by itself, and shares once Redis is up',
  REDIS,
  undisturbed(async (t) => {
    const { redis, upstream, join } = await setUp(t);
    await redis.kill();
    const members = await Promise.all([join(), join()]);
    t.equal(upstream.logins, 2);
    for (const member of members) {
      await gone(member, /^(ENOENT|ECONNREFUSED)$/);
      t.equal(member.gateway.readiness.ready, true);
      t.equal((await member.get('/x')).status, 200);
    }
    await redis.start();
    for (const member of members) await ready(member);
    const late = await join();
    t.equal(upstream.logins, 2, 'an instance that starts later gets the shared token');
    t.ok(members.map(fingerprint).includes(fingerprint(late)));
  }),
);

t.test(
  'a Redis that hangs at the start delays readiness by less than 4 s',
  REDIS,
  undisturbed(async (t) => {
    const { redis, upstream, join } = await setUp(t);
    redis.pause();
    const joined: TestGateway[] = [];
    t.ok((await shortest(4_000, async () => joined.push(await join()))) < 4_000);
    const member = joined.at(-1)!;
    const { logins } = upstream;
    t.equal(logins, joined.length, 'each instance logged in by itself');
    await gone(member, /^ETIMEDOUT$/);
    redis.resume();
    await ready(member);
    await join();
    t.equal(upstream.logins, logins);
  }),
);

t.test(
  'if Redis is killed, requests are served, and a restarted Redis gets the token again',
  REDIS,
  undisturbed(async (t) => {
    const { redis, upstream, join } = await setUp(t, '--appendonly', 'no');
    const members = await Promise.all([join(), join()]);
    await redis.kill();
    for (const member of members) {
      await gone(member, /./);
      t.equal((await member.get('/x')).status, 200);
    }
    await redis.start();
    for (const member of members) await ready(member);
    await until(async () => (await redis.keys('*:token')).length === 1, 'the token is not shared again');
    await join();
    t.equal(upstream.logins, 1);
  }),
);

t.test(
  'a Redis that hangs is detected before a request needs it',
  REDIS,
  undisturbed(async (t) => {
    const { redis, upstream, join } = await setUp(t);
    const member = await join();
    const other = await join();
    redis.pause();
    await gone(member, /^ETIMEDOUT$/);
    // A token that ends now is renewed without asking the hanging engine, which would take a second each time.
    const times: number[] = [];
    while (times.length < 10 && !times.some((ms) => ms < 900)) {
      if (times.length > 0) await sleep(FLOOR_MS); // The machine was busy.
      const refused = `Bearer tok-${upstream.logins}`;
      upstream.onRequest = (request) =>
        request.header('authorization') === refused ? head('401 No', 'content-length: 0') : ok('ok');
      const startedMs = performance.now();
      t.equal((await member.get('/x')).status, 200);
      times.push(performance.now() - startedMs);
    }
    t.ok(Math.min(...times) < 900, `${times} ms`);
    const logins = 1 + times.length;
    t.equal(upstream.logins, logins);
    redis.resume();
    await ready(member);
    await until(
      () => fingerprint(other) === fingerprint(member),
      'the other instance keeps the rejected token',
      COMES_BACK_MS,
    );
    t.equal(upstream.logins, logins);
  }),
);

t.test(
  'an emptied Redis gets the next token, and an instance that starts later does not log in',
  REDIS,
  undisturbed(async (t) => {
    const { redis, upstream, join } = await setUp(t);
    const members = await Promise.all([join(), join()]);
    await redis.command('FLUSHALL');
    await sleep(FLOOR_MS);
    t.equal((await renew(members[0]!)).status, 200);
    await until(
      () => fingerprint(members[0]!) === fingerprint(members[1]!),
      'the other instance keeps the old token',
    );
    await join();
    t.equal(upstream.logins, 2);
  }),
);

t.test(
  'a full Redis is still read, each instance logs in by itself, and sharing resumes when there is room',
  REDIS,
  undisturbed(async (t) => {
    const { redis, upstream, join } = await setUp(t, '--maxmemory-policy', 'noeviction');
    const [one, two] = await Promise.all([join(), join()]);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1');
    await sleep(FLOOR_MS);
    t.equal((await renew(one!)).status, 200);
    t.equal(upstream.logins, 2);
    await gone(one!, /^OOM$/);
    t.equal((await one!.get('/x')).status, 200);
    t.equal(one!.gateway.readiness.ready, true);
    const late = await join();
    t.equal(fingerprint(late), fingerprint(two!), 'the stored token is used');
    await gone(late, /^OOM$/);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await ready(one!);
    await until(
      () => fingerprint(two!) === fingerprint(one!),
      'the other instance does not get the new token',
    );
    t.equal(upstream.logins, 2);
  }),
);

type Put = (redis: RedisServer, key: string) => Promise<unknown>;

const GARBAGE: readonly (readonly [what: string, put: Put])[] = Object.entries<Put>({
  'a list': (redis, key) => redis.command('RPUSH', key, 'x'),
  'a hash': (redis, key) => redis.command('HSET', key, 'x', 'y'),
  'bytes that are no text': (redis, key) => redis.command('SET', key, Buffer.from([0xff, 0, 0xfe, 10])),
  'a generation and garbage': (redis, key) => redis.command('SET', key, '999999999999999.AAAA'),
  'a generation and bytes': (redis, key) =>
    redis.command('SET', key, Buffer.concat([Buffer.from('12.'), Buffer.from([0xff, 0])])),
  much: (redis, key) => redis.command('SET', key, `5.${'A'.repeat(300_000)}`),
  'a number': (redis, key) => redis.command('SET', key, '7'),
  'something for a year': (redis, key) => redis.command('SET', key, 'x', 'EX', '31536000'),
});

t.test(
  'foreign values in Redis are overwritten',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const spoiled = async ([what, put]: (typeof GARBAGE)[number], prefix: string) => {
      const upstream = await RawUpstream.startedFor(t);
      const env = { BEARERD_SHARE_URL: redis.url, BEARERD_SHARE_PREFIX: prefix };
      const join = () => gatewayFor(t, { baseUrl: upstream.url, env });
      // While it runs, it would store its token again.
      await join().then(({ gateway }) => gateway.destroy());
      const [token] = await redis.keys(`${prefix}:*:token`);
      const names = ['token', 'hold', 'lock', 'retired', 'floor'].map((part) =>
        token!.replace(/token$/, part),
      );
      await redis.command('DEL', ...names);
      for (const name of names) await put(redis, name);
      const [one, two] = await Promise.all([join(), join()]);
      t.equal(upstream.logins, 2, what);
      t.equal(fingerprint(one!), fingerprint(two!), what);
      upstream.onRequest = (request) =>
        request.header('authorization') === 'Bearer tok-2' ? head('401 No', 'content-length: 0') : ok('ok');
      await sleep(FLOOR_MS);
      t.equal((await one!.get('/x')).status, 200, what);
      await until(
        () => fingerprint(one!) === fingerprint(two!),
        `${what}: the other instance keeps the rejected token`,
      );
      t.equal(upstream.logins, 3, what);
    };
    await Promise.all(GARBAGE.map((entry, index) => spoiled(entry, `case-${index}`)));
  }),
);

t.test(
  'a shared token is not used past its sealed expiry, whatever Redis says',
  REDIS,
  undisturbed(async (t) => {
    const { redis, upstream, join } = await setUp(t);
    upstream.onLogin = (login) => grant(`tok-${login}`, login === 1 ? 3 : 3600);
    await join().then(({ gateway }) => gateway.destroy());
    const [key] = await redis.keys('*:token');
    await redis.command('PERSIST', key!);
    await redis.command('DEL', key!.replace(/token$/, 'lock'));
    const late = await join();
    t.equal(upstream.logins, 1);
    const { expiresInSeconds } = late.gateway.status.credentials.token!;
    t.ok(expiresInSeconds! <= 3);
    await until(() => upstream.logins === 2, 'the token is not renewed at its expiry', COMES_BACK_MS);
  }),
);

t.test(
  'an instance that dies during its login blocks the others only briefly',
  REDIS,
  undisturbed(async (t) => {
    const { redis, upstream, join } = await setUp(t);
    await join().then(({ gateway }) => gateway.destroy());
    const [key] = await redis.keys('*:token');
    await redis.command('DEL', key!);
    await redis.command('SET', key!.replace(/token$/, 'lock'), 'somebody', 'PX', '2000');
    const startedMs = performance.now();
    await join();
    t.equal(upstream.logins, 2);
    t.ok(performance.now() - startedMs > 1_500);
  }),
);
