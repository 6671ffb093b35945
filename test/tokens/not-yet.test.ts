import t from 'tap';
import { Secret } from '../../src/base/secret.ts';
import type { SourceLogin } from '../../src/tokens/source-login.ts';
import { Bench, HOUR } from './scripted-login.ts';

// A login that may answer "not yet", or give the token of another instance.

/** The first login gives a token; `next` answers later ones. Records `spareMs` of each. */
function asked(next: SourceLogin): { readonly spares: number[]; readonly login: SourceLogin } {
  const spares: number[] = [];
  const login: SourceLogin = async (signal, spareMs) => {
    spares.push(spareMs);
    if (spares.length > 1) return next(signal, spareMs);
    return { token: new Secret('tok-1'), lifetimeMs: HOUR, warnings: [] };
  };
  return { spares, login };
}

t.test(
  '"not yet" changes nothing: the token stays in use, and the login is asked again after the given time',
  async (t) => {
    const { spares, login } = asked(async () => ({ notYetMs: 5_000 }));
    const bench = new Bench(t, undefined, { login });
    await bench.clock.advance(0.76 * HOUR + 100);
    t.equal(spares.length, 2);
    t.ok(
      spares[1]! > 0.2 * HOUR && spares[1]! < 0.3 * HOUR,
      'the login gets the time for which the token is still usable',
    );
    t.match(bench.source.status(), { state: 'fresh', lastFailure: undefined });
    t.equal(bench.token, 'tok-1');
    await bench.clock.advance(4_800);
    t.equal(spares.length, 2);
    await bench.clock.advance(200);
    t.equal(spares.length, 3);
  },
);

t.test('a login that is due gets the time left of the token; one on request gets 0', async (t) => {
  const { spares, login } = asked(async () => ({ notYetMs: 60_000 }));
  const bench = new Bench(t, undefined, { login });
  await bench.clock.advance(10_000);
  bench.source.makeRenewalDue();
  await bench.clock.advance(100);
  t.equal(spares.length, 2);
  t.ok(spares[1]! > 0);
  void bench.source.renewNow();
  await bench.clock.advance(1_000);
  t.same(spares.slice(2, 3), [0]);
});

t.test('makeRenewalDue ends a backoff', async (t) => {
  const bench = new Bench(t, (n) => (n === 2 ? { fails: 'refused' } : {}));
  await bench.clock.advance(0.76 * HOUR + 100);
  t.equal(bench.logins.length, 2);
  await bench.clock.advance(1_000);
  bench.source.makeRenewalDue();
  await bench.clock.advance(100);
  t.equal(bench.logins.length, 3);
});

t.test(
  'a token of another instance is renewed by its whole life, and the event says that it was taken over',
  async (t) => {
    const { login } = asked(async () => ({
      token: new Secret('tok-2'),
      lifetimeMs: 0.4 * HOUR,
      ageMs: 0.6 * HOUR,
      warnings: [],
    }));
    const bench = new Bench(t, undefined, { login });
    await bench.clock.advance(10_000);
    bench.source.makeRenewalDue();
    await bench.clock.advance(100);
    t.equal(bench.token, 'tok-2');
    const [own, taken] = bench.eventsOf('login-succeeded');
    t.equal(own!.taken, undefined);
    t.equal(taken!.taken, true);
    t.ok(
      Math.abs(taken!.renewInMs - 0.16 * HOUR) < 1,
      'at 76 % of the whole life, of which 60 % have passed',
    );
  },
);
