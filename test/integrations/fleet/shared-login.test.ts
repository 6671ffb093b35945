import t, { type Test } from 'tap';
import { deadlineIn } from '../../../src/base/deadline.ts';
import type { Event } from '../../../src/base/events.ts';
import { LoginError } from '../../../src/base/login-error.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { Engine, LockAnswer, Seen } from '../../../src/integrations/fleet/engine.ts';
import { AccountKeys } from '../../../src/integrations/fleet/keys.ts';
import { SharedLogin } from '../../../src/integrations/fleet/shared-login.ts';
import { sealToken } from '../../../src/integrations/fleet/shared-token.ts';
import { RenewingSource } from '../../../src/tokens/renewing-source.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { randomFrom } from '../../support/random.ts';
import { MemoryEngine } from './memory-engine.ts';

// When each of many instances logs in by itself, and when none does. The engine is a stub; tests with a real one are
// redis-engine.test.ts and test/app/shares*.test.ts.

const MINUTE = 60_000;
const LIFETIME_MS = 15 * MINUTE;
const MEMBERS = 200;
const keys = new AccountKeys({ identity: new Secret('x'), secrets: [new Secret('s')] }, 'bearerd');
const NOTHING: Seen = {
  token: undefined,
  hold: undefined,
  retired: undefined,
  versions: { token: '', hold: '' },
};

class StubEngine implements Engine {
  /** Undefined while the engine can't be reached. */
  seen: Seen | undefined = NOTHING;
  lockAnswer: LockAnswer = 'another';
  looks = 0;
  readonly #wakes = new Set<() => void>();

  async look() {
    this.looks++;
    return this.seen;
  }

  async lock() {
    return this.seen && this.lockAnswer;
  }

  async publish() {
    return undefined;
  }

  async extend() {}

  async unlock() {
    return undefined;
  }

  async retire() {
    return undefined;
  }

  async close() {}

  listen(_: unknown, wake: () => void) {
    this.#wakes.add(wake);
    return () => this.#wakes.delete(wake);
  }

  /** Holds a token that another instance has just got. */
  give(generation: number, clock: FakeClock, lifetimeMs = LIFETIME_MS): void {
    const token = new Secret(`tok-${generation}`);
    const expires = deadlineIn(lifetimeMs, clock);
    const text = sealToken({ token, generation, mark: '', expires, lifetimeMs }, keys);
    this.seen = { ...NOTHING, token: { text, ttlMs: lifetimeMs } };
    for (const wake of this.#wakes) wake();
  }
}

interface FleetOptions<E extends Engine> {
  readonly size: number;
  readonly login: () => Promise<Secret>;
  readonly lifetimeMs?: number;
  readonly clock?: FakeClock;
  readonly engine: E;
}

function fleet<E extends Engine>(t: Test, options: FleetOptions<E>) {
  const { size, login, lifetimeMs = LIFETIME_MS, clock = new FakeClock(), engine } = options;
  const logins: number[] = [];
  const events: Event[] = [];
  const random = randomFrom(1);
  const members = Array.from({ length: size }, () => {
    const observe = (event: Event) => events.push(event);
    const shared = new SharedLogin({
      keys,
      engine,
      clock,
      random,
      observe,
      login: async () => {
        logins.push(clock.monoMs());
        return { token: await login(), lifetimeMs, warnings: [] };
      },
      news: { fresher: () => source.makeRenewalDue(), refused: () => {} },
    });
    const source: RenewingSource = new RenewingSource({
      name: 'token',
      login: (signal, spareMs) => shared.logIn(signal, spareMs),
      scheme: 'Bearer',
      renewAfterMs: lifetimeMs,
      tokenWaitMs: 10_000,
      maxWaiting: 10,
      clock,
      random,
      observe,
    });
    const loop = source.keepFresh();
    const end = async () => {
      source.abort();
      await shared.close();
      await loop;
    };
    return { source, end };
  });
  t.teardown(async () => {
    const ended = Promise.all(members.map(({ end }) => end()));
    await clock.advance(1_000);
    await ended;
  });
  const internalErrors = () => events.filter(({ type }) => type === 'internal-error').length;
  return { clock, engine, logins, members: members.map(({ source }) => source), internalErrors };
}

const mostWithin = (ms: number, times: readonly number[]) =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));

const usable = (members: readonly RenewingSource[]) =>
  members.filter((member) => member.current() !== undefined).length;

t.test(
  'without the engine each instance logs in once, long before its token ends, and not all at the same time',
  async (t) => {
    let number = 1;
    const { clock, engine, logins, members, internalErrors } = fleet(t, {
      engine: new StubEngine(),
      size: MEMBERS,
      login: async () => new Secret(`own-${++number}`),
    });
    engine.give(1, clock);
    await clock.advance(1_000);
    t.equal(usable(members), MEMBERS);
    engine.seen = undefined;
    const startMs = clock.monoMs();
    for (let minute = 0; minute < 15; minute++) {
      await clock.advance(MINUTE);
      t.equal(usable(members), MEMBERS, `all have a token in minute ${minute}`);
    }
    t.equal(logins.length, MEMBERS);
    const [first, last] = [Math.min(...logins) - startMs, Math.max(...logins) - startMs];
    t.ok(first > 0.84 * LIFETIME_MS, 'the engine has time to come back');
    t.ok(last < 0.965 * LIFETIME_MS, 'there is time for two more attempts');
    t.ok(mostWithin(10_000, logins) < 0.2 * MEMBERS, 'the logins are spread over that time');
    t.equal(internalErrors(), 0);
  },
);

t.test('instances that wait for a token in vain do not all log in at the same time', async (t) => {
  const { clock, logins, internalErrors } = fleet(t, {
    engine: new StubEngine(),
    size: MEMBERS,
    login: async () => {
      throw new LoginError('server-error', 'the server is overloaded');
    },
  });
  await clock.advance(11_000);
  t.equal(logins.length, 0, 'another instance has the lock');
  await clock.advance(13_600);
  t.ok(new Set(logins).size > 1);
  t.ok(mostWithin(1_000, logins) < 0.25 * MEMBERS);
  t.ok(logins.length >= MEMBERS, 'each instance has tried');
  t.equal(internalErrors(), 0);
});

t.test('after a message a token is taken with one look', async (t) => {
  const { clock, engine, logins, members, internalErrors } = fleet(t, {
    engine: new StubEngine(),
    size: 20,
    login: async () => new Secret('own'),
  });
  engine.give(1, clock);
  await clock.advance(60_000);
  const before = engine.looks;
  engine.give(2, clock);
  await clock.advance(1_000);
  for (const member of members) t.equal(member.current()?.value.expose(), 'tok-2');
  t.equal(engine.looks - before, members.length);
  t.equal(logins.length, 0);
  t.equal(internalErrors(), 0);
});

for (const lifetimeMs of [4_000, 20_000, 60_000]) {
  t.test(
    `without the engine, tokens of ${lifetimeMs / 1000} s are not all renewed at the same time`,
    async (t) => {
      let number = 1;
      const { clock, engine, logins, members, internalErrors } = fleet(t, {
        engine: new StubEngine(),
        size: MEMBERS,
        login: async () => new Secret(`own-${++number}`),
        lifetimeMs,
      });
      engine.give(1, clock, lifetimeMs);
      await clock.advance(100);
      engine.seen = undefined;
      for (let step = 0; step < 40; step++) {
        await clock.advance(lifetimeMs / 40);
        t.equal(usable(members), MEMBERS, `all have a token at step ${step}`);
      }
      t.equal(logins.length, MEMBERS);
      const [first, last] = [Math.min(...logins), Math.max(...logins)];
      t.ok(last - first > 0.07 * lifetimeMs, `${last - first} ms from the first to the last`);
      t.ok(
        mostWithin(0.02 * lifetimeMs, logins) < 0.35 * MEMBERS,
        'not more at the same time than chance allows',
      );
      t.equal(internalErrors(), 0);
    },
  );
}

t.test('an abandoned login asks for no lock, and reports no refusal', async (t) => {
  const clock = new FakeClock();
  const engine = new StubEngine();
  const done: string[] = [];
  engine.lock = async () => {
    done.push('lock');
    return 'mine';
  };
  const token = new Secret('tok');
  const shared = new SharedLogin({
    keys,
    engine,
    clock,
    observe: () => {},
    login: async () => ({ token, lifetimeMs: LIFETIME_MS, warnings: [] }),
    news: { fresher: () => done.push('fresher'), refused: () => done.push('refused') },
  });
  t.teardown(() => shared.close());
  await clock.settle();
  await shared.logIn(new AbortController().signal, 0);
  t.same(done.splice(0), ['lock']);
  const look = Promise.withResolvers<Seen>();
  engine.look = () => look.promise;
  const abandoned = new AbortController();
  const login = shared.logIn(abandoned.signal, 0);
  abandoned.abort();
  look.resolve({ ...NOTHING, retired: keys.markOf(token) });
  await t.rejects(login, { name: 'AbortError' });
  t.same(done, []);
});

// A server that fails at once, one that fails slowly, and one that never answers.
for (const [code, takesMs] of [
  ['server-error', 20],
  ['server-error', 3_000],
  ['unusable', 20],
  ['unreachable', 0],
  ['unreachable', 10_000],
] as const) {
  t.test(
    `while logins fail with ${code} after ${takesMs} ms, the fleet logs in once a second at most`,
    async (t) => {
      const clock = new FakeClock();
      let down = true;
      const { logins, members, internalErrors } = fleet(t, {
        clock,
        engine: new MemoryEngine(clock),
        size: 20,
        login: async () => {
          await clock.sleep(takesMs);
          if (down) throw new LoginError(code, 'not now');
          return new Secret('good');
        },
      });
      await clock.advance(120_000);
      t.equal(mostWithin(1_000, logins), 1);
      t.ok(logins.length < 61, `${logins.length} in two minutes`);
      t.ok(logins.length >= 4, 'the fleet goes on trying');
      down = false;
      const before = logins.length;
      await clock.advance(75_000);
      t.equal(usable(members), members.length, 'all have a token soon after the server is back');
      t.ok(logins.length - before <= 2, 'from one login, and perhaps one that was under way');
      t.equal(internalErrors(), 0);
    },
  );
}
