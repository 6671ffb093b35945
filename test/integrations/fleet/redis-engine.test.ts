import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as afterReading, setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { EngineState } from '../../../src/base/engine-state.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { TlsFiles } from '../../../src/config/sections/tls.ts';
import { parseShareUrl } from '../../../src/config/values/share-url.ts';
import { AccountKeys } from '../../../src/integrations/fleet/keys.ts';
import { RedisEngine } from '../../../src/integrations/fleet/redis-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { readTls } from '../../support/h2-upstream.ts';
import { until } from '../../support/raw-client.ts';
import { NO_REDIS, RedisServer, speaksTls } from '../../support/redis.ts';
import { type Story, undisturbed } from '../../support/undisturbed.ts';

// Each operation, with a real redis-server.

const REDIS = { skip: NO_REDIS };
const { names } = new AccountKeys({ identity: new Secret('x'), secrets: [new Secret('s')] }, 'bearerd');

function engineFor(t: Story, url: string, tls: TlsFiles = {}) {
  const states: EngineState[] = [];
  const parsed = parseShareUrl(new Secret(url));
  if ('problem' in parsed) throw new Error(parsed.problem);
  const engine = new RedisEngine({
    server: parsed.value,
    tls,
    probe: 'bearerd:probe',
    onState: (state) => states.push(state),
  });
  t.teardown(() => engine.close());
  return { engine, states };
}

/** The reason of a lost connection, or the state. */
const reasonOf = (state: EngineState | undefined) =>
  state?.state === 'gone' ? state.reason : `${state?.state}`;

const publication = (generation: number, more: object = {}) => ({
  generation,
  sealed: `${generation}.text`,
  ttlMs: 60_000,
  mark: `mark-${generation}`,
  unreadable: '',
  isNew: true,
  owner: '',
  lockForMs: 0,
  ...more,
});

t.test(
  'one instance has the lock, and no other can give it back',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { engine } = engineFor(t, redis.url);
    const seen = (await engine.look(names))!;
    t.same([seen.token, seen.hold, seen.retired], [undefined, undefined, undefined]);
    t.equal(await engine.lock(names, 'one', 5_000, seen), 'mine');
    t.equal(await engine.lock(names, 'two', 5_000, seen), 'another');
    await engine.unlock(names, 'two', 0, undefined);
    t.equal(await engine.lock(names, 'two', 5_000, seen), 'another');
    const leftMs = async () => Number(/:(\d+)/.exec(await redis.command('PTTL', names.lock))?.[1]);
    await engine.extend(names, 'two', 1);
    t.ok((await leftMs()) > 1);
    await engine.extend(names, 'one', 4_000_000);
    t.ok((await leftMs()) > 3_000_000);
    await engine.unlock(names, 'one', 0, undefined);
    t.equal(await engine.lock(names, 'two', 50, seen), 'mine');
    await until(
      async () => (await engine.lock(names, 'one', 5_000, seen)) === 'mine',
      'a lock without an expiry blocks',
    );
  }),
);

t.test(
  "an instance that hasn't seen the newest token must look again before it logs in",
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { engine } = engineFor(t, redis.url);
    const before = (await engine.look(names))!;
    t.equal(await engine.publish(names, publication(1)), 'done');
    t.equal(await engine.lock(names, 'one', 5_000, before), 'changed');
    const after = (await engine.look(names))!;
    t.equal(after.token?.text, '1.text');
    t.ok(after.token!.ttlMs > 50_000 && after.token!.ttlMs <= 60_000);
    t.equal(await engine.unlock(names, '', 0, { text: 'why', ttlMs: 9_000 }), 'done');
    t.equal(await engine.lock(names, 'one', 5_000, after), 'changed');
    t.equal((await engine.look(names))!.hold?.text, 'why');
  }),
);

t.test(
  'a later token replaces an earlier one and ends a hold; an earlier token does neither',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { engine } = engineFor(t, redis.url);
    await engine.unlock(names, '', 0, { text: 'why', ttlMs: 9_000 });
    t.equal(await engine.publish(names, publication(2, { isNew: false })), 'done');
    t.ok((await engine.look(names))!.hold, 'a token that is not new does not end the hold');
    t.equal(await engine.publish(names, publication(3)), 'done');
    t.equal((await engine.look(names))!.hold, undefined);
    t.equal(await engine.publish(names, publication(3, { sealed: '3.other' })), 'older');
    t.equal(await engine.publish(names, publication(2)), 'older');
    t.equal((await engine.look(names))!.token?.text, '3.text');
    const { versions } = (await engine.look(names))!;
    t.equal(await engine.publish(names, publication(1, { unreadable: versions.token })), 'done');
  }),
);

t.test(
  'a retired token is deleted and can not be published again; the next one is protected for a time',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { engine } = engineFor(t, redis.url);
    const retirement = (generation: number) => ({
      generation,
      mark: `mark-${generation}`,
      ttlMs: 60_000,
      floorMs: 60_000,
    });
    await engine.publish(names, publication(1));
    t.equal(await engine.retire(names, retirement(1)), 'done');
    t.equal(await engine.retire(names, retirement(1)), 'done', 'the same token again');
    const seen = (await engine.look(names))!;
    t.same([seen.token, seen.retired], [undefined, 'mark-1']);
    t.equal(await engine.publish(names, publication(1)), 'retired');
    await engine.publish(names, publication(2));
    t.equal(await engine.retire(names, retirement(2)), 'protected');
    t.ok((await engine.look(names))!.token);
    await redis.command('PEXPIRE', names.floor, '1');
    await until(
      async () => (await engine.retire(names, retirement(2))) === 'done',
      'the next token can not be retired',
    );
  }),
);

t.test(
  'a listener is called for new tokens, also for those of its own instance',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const [one, two] = [engineFor(t, redis.url), engineFor(t, redis.url)];
    await Promise.all([one.engine.look(names), two.engine.look(names)]);
    let calls = 0;
    const end = two.engine.listen(names, () => calls++);
    await until(() => calls === 1, 'no call at the beginning');
    await one.engine.publish(names, publication(1));
    await until(() => calls === 2, 'no call');
    end();
    await one.engine.publish(names, publication(2));
    await two.engine.look(names);
    t.equal(calls, 2);
    await redis.kill();
    await redis.start();
    two.engine.listen(names, () => calls++);
    await until(() => calls === 3, 'no call after the reconnect');
  }),
);

t.test(
  'a reply that arrived in time counts, even if the process was too busy to read it',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const { engine, states } = engineFor(t, redis.url);
    await engine.look(names);
    redis.pause();
    const looking = engine.look(names);
    await sleep(50);
    await afterReading(); // Data that comes from now on is read after the timers that are due.
    redis.resume();
    const busyUntil = performance.now() + 1_200; // Longer than the limit for a command.
    while (performance.now() < busyUntil);
    t.ok(await looking);
    t.same(states, [{ state: 'ready' }]);
  }),
);

t.test(
  'user, password and database of the URL are used; a wrong password has its own code',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t, '--requirepass', 'p%ss', '--databases', '4');
    const good = engineFor(t, `${redis.url}?password=p%25ss&db=3`);
    t.ok(await good.engine.look(names));
    t.same(good.states, [{ state: 'ready' }]);
    for (const url of [`${redis.url}?password=no`, redis.url, `${redis.url}?password=p%25ss&db=7`]) {
      const bad = engineFor(t, url);
      t.equal(await bad.engine.look(names), undefined);
      t.match(reasonOf(bad.states[0]), /^(WRONGPASS|NOAUTH|ERR)$/);
    }
  }),
);

t.test(
  'the rights in docs/fleet.md are enough, and a missing one is reported by its code',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t);
    const page = readFileSync(join(import.meta.dirname, '../../../docs/fleet.md'), 'utf8');
    const rights = /^ACL SETUSER .*$/m.exec(page)![0].replace('PASSWORD', 'pass').split(' ');
    t.match(await redis.command(...rights), /^\+OK/);
    const { engine, states } = engineFor(t, `${redis.url}?username=bearerd&password=pass`);
    const seen = (await engine.look(names))!;
    t.equal(await engine.lock(names, 'one', 5_000, seen), 'mine');
    await engine.extend(names, 'one', 5_000);
    t.equal(await engine.publish(names, publication(1, { owner: 'one', lockForMs: 1_000 })), 'done');
    t.equal(await engine.unlock(names, 'one', 0, { text: 'why', ttlMs: 9_000 }), 'done');
    const retirement = { generation: 1, mark: 'mark-1', ttlMs: 60_000, floorMs: 300 };
    t.equal(await engine.retire(names, retirement), 'done');
    let calls = 0;
    engine.listen(names, () => calls++);
    await until(() => calls > 0, 'the user may not subscribe');
    t.same(states, [{ state: 'ready' }]);
    await redis.command('ACL', 'SETUSER', 'bearerd', '-eval');
    const less = engineFor(t, `${redis.url}?username=bearerd&password=pass`);
    t.equal(await less.engine.look(names), undefined);
    t.same(less.states[0], { state: 'gone', reason: 'NOPERM' });
  }),
);

const TLS = { skip: NO_REDIS || (!speaksTls() && 'this redis-server has no TLS') };
const tlsFile = (name: string) => join(import.meta.dirname, '../../support/tls', name);

t.test(
  'rediss:// accepts only a certificate for the name from a known authority',
  TLS,
  undisturbed(async (t) => {
    const served = async (certificate: string) => {
      const port = await freePort();
      const [cert, key] = [tlsFile(`${certificate}.pem`), tlsFile(`${certificate}.key`)];
      const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', tlsFile('ca.pem')];
      await RedisServer.startedFor(t, '--tls-port', `${port}`, '--tls-auth-clients', 'no', ...files);
      return port;
    };
    const [server, elsewhere] = await Promise.all([served('server'), served('elsewhere')]);
    const ca = readTls('ca.pem').toString();
    const known = engineFor(t, `rediss://localhost:${server}`, { ca });
    t.ok(await known.engine.look(names));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    t.teardown(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    for (const [port, tls] of [
      [server, {}],
      [elsewhere, { ca }],
    ] as const) {
      const stranger = engineFor(t, `rediss://localhost:${port}`, tls);
      t.equal(await stranger.engine.look(names), undefined);
      t.match(reasonOf(stranger.states[0]), /^(UNABLE_TO|SELF_SIGNED|ERR_TLS_CERT_ALTNAME|CERT_)/);
    }
    const plain = engineFor(t, `redis://localhost:${server}`);
    t.equal(await plain.engine.look(names), undefined);
  }),
);

t.test(
  'rediss:// to a port without TLS has its own code',
  REDIS,
  undisturbed(async (t) => {
    const port = await freePort();
    await RedisServer.startedFor(t, '--port', `${port}`, '--bind', '127.0.0.1');
    const { engine, states } = engineFor(t, `rediss://127.0.0.1:${port}`);
    t.equal(await engine.look(names), undefined);
    t.match(reasonOf(states[0]), /^(ETIMEDOUT|ERR_SSL_[A-Z_]+|ECONNRESET)$/);
  }),
);

t.test(
  'a Redis Cluster is recognized and not used',
  REDIS,
  undisturbed(async (t) => {
    const redis = await RedisServer.startedFor(t, '--cluster-enabled', 'yes');
    const { engine, states } = engineFor(t, redis.url);
    t.equal(await engine.look(names), undefined);
    t.same(states[0], { state: 'gone', reason: 'CLUSTER' });
  }),
);
