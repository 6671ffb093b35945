import { inspect } from 'node:util';
import t from 'tap';
import { untilMs } from '../../src/base/deadline.ts';
import { Secret } from '../../src/base/secret.ts';
import { createAccessToken, isUsable } from '../../src/login/access-token.ts';
import { FakeClock } from '../support/fake-clock.ts';

t.test('a token may be sent until the transit margin before its end', async (t) => {
  for (const [lifetimeMs, usableMs] of [
    [3_600_000, 3_599_750],
    [12_500, 12_250],
    [2000, 1960],
    [100, 98],
  ] as const) {
    const clock = new FakeClock();
    const token = createAccessToken(new Secret('tok-1'), 'Bearer', lifetimeMs, clock);
    await clock.advance(usableMs - 1);
    t.ok(isUsable(token, clock), `${lifetimeMs} ms`);
    await clock.advance(1);
    t.notOk(isUsable(token, clock), `${lifetimeMs} ms: not after ${usableMs}`);
    t.equal(untilMs(token.expires, clock), lifetimeMs - usableMs);
  }
});

t.test('neither clock makes a token live longer', async (t) => {
  const clock = new FakeClock();
  const asleep = createAccessToken(new Secret('tok-1'), 'Bearer', 60_000, clock);
  await clock.suspend(60_000);
  t.notOk(isUsable(asleep, clock), 'the monotonic clock stopped while the machine slept');
  const setBack = createAccessToken(new Secret('tok-2'), 'Bearer', 60_000, clock);
  await clock.stepWall(-3_600_000);
  t.ok(isUsable(setBack, clock));
  await clock.advance(60_000);
  t.notOk(isUsable(setBack, clock), 'the wall clock was set back by an hour');
});

t.test('a token prints only its fingerprint', async (t) => {
  const clock = new FakeClock();
  const token = createAccessToken(new Secret('tok-secret'), 'Bearer', 60_000, clock);
  const again = createAccessToken(new Secret('tok-secret'), '', 60_000, clock);
  t.match(token.fingerprint, /^[0-9a-f]{8}$/);
  t.equal(token.fingerprint, again.fingerprint);
  t.ok(token.value.equals(again.value));
  t.equal(token.headerValue.expose(), 'Bearer tok-secret');
  t.equal(again.headerValue.expose(), 'tok-secret');
  t.notMatch(`${token.value}`, /tok-secret/);
  t.notMatch(inspect(token.value), /tok-secret/);
});
