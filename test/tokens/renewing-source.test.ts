import { getEventListeners } from 'node:events';
import t, { type Test } from 'tap';
import type { LoginError } from '../../src/base/login-error.ts';
import type { Problem } from '../../src/base/problem.ts';
import type { AccessToken } from '../../src/login/access-token.ts';
import { Bench, HOUR, type LoginScript, stateOf } from './scripted-login.ts';

const S = 1000;
const MINUTE = 60 * S;
const DAY = 24 * HOUR;

/** The script's entries in order; the last one repeats. */
const inTurn =
  (...scripts: LoginScript[]) =>
  (n: number): LoginScript =>
    scripts[Math.min(n, scripts.length) - 1]!;

/** A bench with its first token. */
async function ready(
  t: Test,
  ...args: ConstructorParameters<typeof Bench> extends [Test, ...infer Rest] ? Rest : never
) {
  const bench = new Bench(t, ...args);
  await bench.clock.settle();
  return bench;
}

const tokenOf = (token: unknown) => (token as AccessToken | undefined)?.value.expose();

/** The value of the token that `rejected` gives, or undefined. */
async function secondChance(bench: Bench, token: AccessToken): Promise<string | undefined> {
  return tokenOf(await bench.source.rejected(token));
}

t.test('the source logs in at the start, and has a token from then on', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 300 }));
  await bench.clock.settle();
  t.equal(bench.source.status().state, 'starting');
  t.equal(bench.token, undefined);
  await bench.clock.advance(300);
  t.equal(bench.token, 'tok-1');
  t.equal(bench.source.current()?.headerValue.expose(), 'Bearer tok-1');
  t.match(bench.source.status(), { state: 'fresh', usable: true, expiresInMs: HOUR, lastFailure: undefined });
  t.match(bench.eventsOf('login-succeeded'), [
    { credential: 'token', durationMs: 300, lifetimeMs: HOUR, renewInMs: 0.76 * HOUR },
  ]);
});

t.test('without a scheme the header value is the bare token', async (t) => {
  const bench = await ready(t, undefined, { scheme: '' });
  t.equal(bench.source.current()?.headerValue.expose(), 'tok-1');
});

t.test('a hundred requests that find no token share one login', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 800 }));
  const waiting = Array.from({ length: 100 }, () => bench.wait());
  await bench.clock.advance(800);
  const tokens = await Promise.all(waiting);
  t.ok(tokens.every((token) => tokenOf(token) === 'tok-1'));
  t.equal(bench.logins.length, 1);
  t.equal(tokenOf(await bench.wait()), 'tok-1', 'a later request does not wait');
});

t.test(
  'a request waits for a token up to tokenWait, through failures too, and then gets a Retry-After',
  async (t) => {
    const bench = new Bench(
      t,
      inTurn({ fails: 'server-error' }, { fails: 'server-error', retryAfterMs: 42 * S }),
      { tokenWaitMs: 5 * S },
    );
    const waiting = bench.wait();
    await bench.clock.advance(4999);
    t.equal(await stateOf(bench.clock, waiting), 'pending');
    await bench.clock.advance(1);
    // The second login failed after 1 s, and 4 s of its 42 have passed.
    t.match(await stateOf(bench.clock, waiting), { code: 'token-unavailable', retryAfterS: 38 });
    t.equal(bench.logins.length, 2);
  },
);

t.test('a waiting request gets the token of the first login that succeeds', async (t) => {
  const bench = new Bench(t, inTurn({ fails: 'unreachable' }, { fails: 'unreachable' }, {}));
  const waiting = bench.wait();
  await bench.clock.advance(10 * S);
  t.equal(tokenOf(await stateOf(bench.clock, waiting)), 'tok-3');
});

t.test('a client that leaves stops waiting', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 9 * S }), { maxWaiting: 1 });
  const leaving = new AbortController();
  const waiting = bench.wait(leaving.signal);
  t.match(await stateOf(bench.clock, bench.wait()), { code: 'overloaded' });
  const reason = new Error('gone');
  leaving.abort(reason);
  t.equal(await stateOf(bench.clock, waiting), reason);
  t.equal(await stateOf(bench.clock, bench.wait()), 'pending', 'another request may wait');
  t.match(await stateOf(bench.clock, bench.wait(AbortSignal.abort())), { code: 'overloaded' });
  const staying = new AbortController();
  const served = Array.from({ length: 3 }, () => new Bench(t, () => ({ takesMs: S })));
  for (const { clock, wait } of served.map((other) => ({
    clock: other.clock,
    wait: other.wait(staying.signal),
  }))) {
    await clock.advance(S);
    await wait;
  }
  t.equal(
    getEventListeners(staying.signal, 'abort').length,
    0,
    'no listener stays on a signal after the wait',
  );
});

t.test('at most maxWaiting requests wait', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 9 * S }), { maxWaiting: 3 });
  const waiting = Array.from({ length: 3 }, () => bench.wait());
  t.match(await stateOf(bench.clock, bench.wait()), { code: 'overloaded', retryAfterS: 1 });
  await bench.clock.advance(9 * S);
  t.same((await Promise.all(waiting)).map(tokenOf), ['tok-1', 'tok-1', 'tok-1']);
});

t.test('the limit is one for all sources, and a caller of renewNow does not count', async (t) => {
  const waitingInAll = () => first.source.waiting + second.source.waiting;
  const options = { maxWaiting: 2, waitingInAll };
  const first = new Bench(t, () => ({ takesMs: 9 * S }), options);
  const second = new Bench(t, () => ({ takesMs: 9 * S }), options);
  void second.source.renewNow();
  const waiting = [first.wait(), second.wait()];
  for (const bench of [first, second]) {
    t.match(await stateOf(bench.clock, bench.wait()), { code: 'overloaded' });
  }
  for (const { clock } of [first, second]) await clock.advance(9 * S);
  t.same((await Promise.all(waiting)).map(tokenOf), ['tok-1', 'tok-1']);
});

t.test('a refused login fails waiting and new requests at once', async (t) => {
  const bench = new Bench(t, () => ({ fails: 'refused', takesMs: 200 }));
  const early = bench.wait();
  await bench.clock.advance(200);
  t.match(await stateOf(bench.clock, early), { code: 'login-refused', retryAfterS: 33 });
  await bench.clock.advance(10 * S);
  t.match(await stateOf(bench.clock, bench.wait()), { code: 'login-refused', retryAfterS: 23 });
  t.match(bench.source.status(), { state: 'refused', usable: false, lastFailure: { code: 'refused' } });
});

t.test('requests cause no login while the endpoint refuses: 10 minutes, 50 requests a second', async (t) => {
  const bench = new Bench(t, () => ({ fails: 'refused' }));
  for (let i = 0; i < 10 * 60 * 10; i++) {
    await bench.clock.advance(100);
    for (let n = 0; n < 5; n++) bench.wait();
  }
  t.ok(bench.logins.length <= 15, `${bench.logins.length} logins`);
  t.ok(
    bench.gaps.every((gap, i) => gap >= 30 * S && gap <= 300 * S && gap >= (bench.gaps[i - 1] ?? 0)),
    'growing pauses between logins',
  );
});

t.test('requests cause no login during a backoff', async (t) => {
  const bench = new Bench(t, () => ({ fails: 'unreachable' }), { tokenWaitMs: 500 });
  for (let i = 0; i < 10 * 60 * 5; i++) {
    await bench.clock.advance(200);
    bench.wait();
  }
  t.ok(bench.gaps.every((gap) => gap >= S && gap <= 60 * S));
  t.ok(bench.logins.length <= 30, `${bench.logins.length} logins in 10 minutes`);
});

t.test('Retry-After is obeyed up to 5 minutes', async (t) => {
  const bench = new Bench(
    t,
    inTurn({ fails: 'rate-limited', retryAfterMs: 7 * S }, { fails: 'rate-limited', retryAfterMs: 1e12 }, {}),
  );
  await bench.clock.advance(7 * S);
  t.same(bench.gaps, [7 * S]);
  t.match(await stateOf(bench.clock, bench.wait()), 'pending');
  await bench.clock.advance(10 * S);
  t.equal(bench.source.status().nextLoginInMs, 290 * S);
  await bench.clock.advance(290 * S);
  t.equal(bench.token, 'tok-3');
  t.same(bench.gaps, [7 * S, 300 * S]);
});

t.test(
  'after a failure the source recovers by itself, and the backoff restarts from its beginning',
  async (t) => {
    const bench = new Bench(t, (n) =>
      n % 4 === 0 ? { lifetimeMs: 3 * S } : { fails: n % 4 === 1 ? 'server-error' : 'unreachable' },
    );
    await bench.clock.advance(10 * MINUTE);
    t.ok(bench.eventsOf('login-succeeded').length > 30);
    t.ok(
      bench.gaps.every((gap) => gap <= 4 * S),
      'no pause is longer than that after three failures',
    );
  },
);

t.test('a token is renewed in the background while the old one is in use', async (t) => {
  const bench = await ready(t, inTurn({ lifetimeMs: 100 * S }, { takesMs: 5 * S }));
  await bench.clock.advance(76 * S - 1);
  t.equal(bench.logins.length, 1);
  await bench.clock.advance(1);
  t.equal(bench.logins.length, 2);
  t.equal(bench.token, 'tok-1');
  t.equal(bench.source.status().state, 'renewing');
  await bench.clock.advance(5 * S);
  t.equal(bench.token, 'tok-2');
});

t.test('a token is renewed at renewAfter, even if it lives longer', async (t) => {
  const bench = await ready(t, undefined, { renewAfterMs: 15 * MINUTE });
  await bench.clock.advance(0.95 * 15 * MINUTE);
  t.same(bench.gaps, [0.95 * 15 * MINUTE]);
});

t.test('while renewals fail the token is used until its end, and never after it', async (t) => {
  const bench = await ready(t, inTurn({ lifetimeMs: 100 * S }, { fails: 'server-error' }));
  await bench.clock.advance(99 * S);
  t.equal(bench.token, 'tok-1');
  t.match(bench.source.status(), {
    state: 'degraded',
    usable: true,
    expiresInMs: S,
    lastFailure: { code: 'server-error' },
  });
  await bench.clock.advance(800);
  t.equal(bench.token, undefined, 'the token is dropped before its end by the transit margin');
  t.match(bench.source.status(), { state: 'expired', usable: false, expiresInMs: undefined });
  t.match(bench.eventsOf('token-expired'), [{ credential: 'token' }]);
  t.equal(await stateOf(bench.clock, bench.wait()), 'pending');
});

t.test(
  'with lifetimes of 2 seconds there is a login about every second, and never a dead token',
  async (t) => {
    const issued = new Map<string, number>();
    const bench = new Bench(t, () => ({ lifetimeMs: 2 * S, takesMs: 50 }));
    for (let i = 0; i < 300; i++) {
      await bench.clock.advance(100);
      for (const token of bench.eventsOf('login-succeeded'))
        if (!issued.has(token.fingerprint)) issued.set(token.fingerprint, bench.clock.monoMs());
      const current = bench.source.current();
      if (i > 0)
        t.ok(current !== undefined && bench.clock.monoMs() < issued.get(current.fingerprint)! + 2 * S);
    }
    t.ok(bench.gaps.every((gap) => gap >= S));
  },
);

t.test('with lifetimes below a second there is one login a second', async (t) => {
  const bench = new Bench(t, () => ({ lifetimeMs: 200 }));
  await bench.clock.advance(30 * S);
  t.equal(bench.logins.length, 31);
  t.equal(bench.mostAtOnce, 1);
});

t.test('with very long lifetimes there is one login, and no timer overflows', async (t) => {
  for (const lifetimeMs of [40 * DAY, 36_500 * DAY]) {
    const bench = await ready(t, () => ({ lifetimeMs }), { renewAfterMs: 36_500 * DAY });
    const sleep = bench.clock.sleep.bind(bench.clock);
    const sleeps: number[] = [];
    bench.clock.sleep = (ms, signal) => {
      sleeps.push(ms);
      return sleep(ms, signal);
    };
    await bench.clock.advance(2 * DAY);
    t.equal(bench.logins.length, 1);
    t.ok(Math.max(...sleeps) < 2 ** 31);
    if (lifetimeMs === 40 * DAY) {
      await bench.clock.advance(28.4 * DAY);
      t.equal(bench.logins.length, 2, 'the token is renewed in the end');
    }
  }
});

t.test('a server that repeats the same token causes no login loop', async (t) => {
  const end = 15 * MINUTE;
  const bench = await ready(t);
  const start = bench.clock.monoMs();
  // The server repeats its token until the token expires.
  bench.script = () => {
    const left = start + end - bench.clock.monoMs();
    return left > 0 ? { token: 'same', lifetimeMs: left } : { token: 'new' };
  };
  void bench.source.renewNow();
  await bench.clock.advance(20 * MINUTE);
  t.ok(bench.logins.length < 15, `${bench.logins.length} logins`);
  t.equal(bench.token, 'new');
});

t.test(
  'an hour without a session endpoint causes at most 150 logins, and the first answer ends it',
  async (t) => {
    for (const fails of ['unreachable', 'server-error'] as const) {
      let away = true;
      const bench = new Bench(t, (n) => (n > 1 && away ? { fails } : {}));
      await bench.clock.advance(S);
      const before = bench.logins.length;
      await bench.clock.advance(HOUR);
      t.ok(
        bench.logins.length - before <= 150,
        `${bench.logins.length - before} logins while the endpoint is ${fails}`,
      );
      away = false;
      await bench.clock.advance(61 * S);
      t.equal(bench.source.status().state, 'fresh');
    }
  },
);

t.test('a server that repeats an unusable answer causes no login loop', async (t) => {
  const bench = new Bench(t, () => ({ fails: 'unusable' }));
  await bench.clock.advance(HOUR);
  t.ok(bench.logins.length < 150, `${bench.logins.length} logins in an hour`);
});

t.test('a 401 ends the token: all requests get the next one, from one login', async (t) => {
  const bench = await ready(t, inTurn({}, { takesMs: 300 }));
  const token = bench.source.current()!;
  const chances = Array.from({ length: 100 }, () => secondChance(bench, token));
  t.equal(bench.token, undefined, 'no request gets the rejected token');
  const waiting = bench.wait();
  await bench.clock.advance(1300);
  t.same(new Set(await Promise.all(chances)), new Set(['tok-2']));
  t.equal(tokenOf(await waiting), 'tok-2');
  t.equal(bench.logins.length, 2);
  t.ok(bench.gaps[0]! >= S, 'still one login a second');
  t.match(bench.eventsOf('token-rejected'), [{ credential: 'token', fingerprint: token.fingerprint }]);
});

t.test('a 401 right after a login is answered within a second', async (t) => {
  const bench = await ready(t);
  await bench.clock.advance(300);
  const chance = secondChance(bench, bench.source.current()!);
  await bench.clock.advance(700);
  t.equal(await stateOf(bench.clock, chance), 'tok-2');
});

t.test('a late 401 for an older token changes nothing', async (t) => {
  const bench = await ready(t);
  const old = bench.source.current()!;
  await bench.clock.advance(5 * S);
  await bench.source.renewNow();
  await bench.clock.advance(MINUTE);
  for (let i = 0; i < 100; i++) t.equal(tokenOf(bench.source.rejected(old)), 'tok-2');
  await bench.clock.advance(MINUTE);
  t.equal(bench.token, 'tok-2');
  t.equal(bench.logins.length, 2);
  t.equal(bench.eventsOf('token-rejected').length, 0);
});

t.test(
  'one endpoint that always answers 401 neither causes a login for each nor takes the token from other requests',
  async (t) => {
    const bench = await ready(t);
    await bench.clock.advance(MINUTE);
    const before = bench.logins.length;
    let without = 0;
    for (let i = 0; i < 30 * 50; i++) {
      const token = bench.source.current();
      if (token === undefined) without++;
      else void bench.source.rejected(token);
      await bench.clock.advance(20);
    }
    t.ok(bench.logins.length - before <= 4, `${bench.logins.length - before} logins in 30 s of 50 a second`);
    t.ok(without <= 3, `${without} requests found no token`);
  },
);

t.test('a 401 does not end a token of a forced renewal within its first 10 s', async (t) => {
  const bench = await ready(t, inTurn({}, { takesMs: 8 * S }));
  await bench.clock.advance(MINUTE);
  const chance = secondChance(bench, bench.source.current()!);
  await bench.clock.advance(8 * S);
  t.equal(await chance, 'tok-2');
  const token = bench.source.current()!;
  await bench.clock.advance(9_999);
  t.equal(bench.source.rejected(token), undefined, 'the 401 passes');
  t.equal(bench.token, 'tok-2');
  await bench.clock.advance(1);
  t.not(bench.source.rejected(token), undefined);
  t.equal(bench.token, undefined, 'after 10 s a 401 ends the token');
});

t.test('a 401 does not end a token from a retry of a forced renewal either', async (t) => {
  const bench = await ready(
    t,
    inTurn({}, { fails: 'unreachable' }, { fails: 'server-error', retryAfterMs: 20 * S }, {}),
  );
  await bench.clock.advance(MINUTE);
  t.equal(await secondChance(bench, bench.source.current()!), undefined);
  await bench.clock.advance(22 * S);
  const token = bench.source.current()!;
  t.equal(tokenOf(token), 'tok-4');
  t.equal(bench.source.rejected(token), undefined);
  t.equal(bench.token, 'tok-4');
});

t.test('a 401 ends a token of an ordinary renewal, however young the token is', async (t) => {
  const bench = await ready(t);
  await bench.clock.advance(MINUTE);
  await secondChance(bench, bench.source.current()!);
  await bench.clock.advance(11 * S);
  await bench.source.renewNow();
  t.equal(bench.token, 'tok-3');
  t.not(bench.source.rejected(bench.source.current()!), undefined);
  t.equal(bench.token, undefined);
});

t.test('if the renewal gives the same token, a late 401 for it passes', async (t) => {
  const bench = await ready(t, () => ({ token: 'same' }));
  await bench.clock.advance(MINUTE);
  const first = bench.source.current()!;
  const chance = secondChance(bench, first);
  t.equal(await stateOf(bench.clock, chance), 'same');
  t.equal(bench.source.rejected(first), undefined, 'there is no other token to try');
  t.equal(bench.token, 'same');
});

t.test('if the renewal fails, the 401 passes', async (t) => {
  const bench = await ready(t, inTurn({}, { fails: 'unreachable', takesMs: 300 }));
  await bench.clock.advance(MINUTE);
  const token = bench.source.current()!;
  const chances = [secondChance(bench, token), secondChance(bench, token)];
  await bench.clock.advance(300);
  t.same(await Promise.all(chances), [undefined, undefined]);
  t.equal(bench.source.rejected(token), undefined, 'in the backoff the 401 passes at once');
  t.equal(bench.logins.length, 2);
});

t.test('a new token that is rejected, too, is reported once, and stays in use', async (t) => {
  const bench = await ready(t);
  await bench.clock.advance(MINUTE);
  const chance = secondChance(bench, bench.source.current()!);
  await bench.clock.settle();
  t.equal(await chance, 'tok-2');
  const token = bench.source.current()!;
  for (let n = 0; n < 3; n++) bench.source.newTokenRejected(token);
  t.match(bench.eventsOf('new-token-rejected'), [{ credential: 'token', fingerprint: token.fingerprint }]);
  t.equal(bench.eventsOf('new-token-rejected').length, 1);
  t.equal(bench.token, 'tok-2');
});

t.test('a 401 during a backoff ends the token and causes no login', async (t) => {
  const bench = await ready(
    t,
    inTurn({ lifetimeMs: 100 * S }, { fails: 'rate-limited', retryAfterMs: 60 * S }),
  );
  await bench.clock.advance(77 * S);
  t.equal(bench.source.rejected(bench.source.current()!), undefined);
  t.equal(bench.token, undefined);
  t.match(bench.eventsOf('token-rejected'), [{ nextTryInMs: 59 * S }], 'and is told so');
  await bench.clock.advance(58 * S);
  t.equal(bench.logins.length, 2);
});

t.test('a request with a 401 for a token that has since expired waits for the due login', async (t) => {
  const bench = await ready(t, inTurn({ lifetimeMs: 100 * S }, { takesMs: 30 * S }));
  const token = bench.source.current()!;
  await bench.clock.advance(100 * S);
  const chance = secondChance(bench, token);
  await bench.clock.advance(6 * S);
  t.equal(await stateOf(bench.clock, chance), 'tok-2');
  t.equal(bench.eventsOf('token-rejected').length, 0);
});

t.test('after a 401 a request waits 11 s for a slow login, or tokenWait if that is longer', async (t) => {
  for (const [tokenWaitMs, limitMs] of [
    [0, 11 * S],
    [10 * S, 11 * S],
    [30 * S, 30 * S],
  ] as const) {
    const bench = await ready(t, inTurn({}, { takesMs: 5 * MINUTE }), { tokenWaitMs });
    await bench.clock.advance(MINUTE);
    const chance = secondChance(bench, bench.source.current()!);
    await bench.clock.advance(limitMs - 1);
    t.equal(await stateOf(bench.clock, chance), 'pending');
    t.equal(bench.source.waiting, 1);
    await bench.clock.advance(1);
    t.equal(await stateOf(bench.clock, chance), undefined, 'the 401 passes');
    t.equal(bench.source.waiting, 0);
    await bench.clock.advance(5 * MINUTE);
    t.equal(bench.token, 'tok-2', 'the login goes on');
  }
});

t.test('requests that wait after a 401 count toward the limit of waiting requests', async (t) => {
  const bench = await ready(t, inTurn({}, { takesMs: 5 * S }), { maxWaiting: 2 });
  await bench.clock.advance(MINUTE);
  const token = bench.source.current()!;
  const chances = [bench.source.rejected(token), bench.source.rejected(token)];
  t.equal(bench.source.rejected(token), undefined, 'the 401 passes');
  t.match(await stateOf(bench.clock, bench.wait()), { code: 'overloaded' });
  await bench.clock.advance(5 * S);
  t.same((await Promise.all(chances)).map(tokenOf), ['tok-2', 'tok-2']);
});

t.test(
  'after the machine slept the next request waits for one login, and never gets the old token',
  async (t) => {
    for (const asleep of [2 * HOUR, 8 * HOUR, 400 * DAY]) {
      const bench = await ready(t, inTurn({}, { takesMs: 400 }));
      await bench.clock.advance(MINUTE);
      await bench.clock.suspend(asleep);
      t.equal(bench.token, undefined);
      const waiting = Array.from({ length: 20 }, () => bench.wait());
      await bench.clock.advance(400);
      t.same(new Set((await Promise.all(waiting)).map(tokenOf)), new Set(['tok-2']));
      t.equal(bench.logins.length, 2);
    }
  },
);

t.test('after the machine slept the source logs in within 30 s without a request', async (t) => {
  const bench = await ready(t);
  await bench.clock.advance(MINUTE);
  await bench.clock.suspend(2 * HOUR);
  t.equal(bench.source.status().state, 'expired');
  await bench.clock.advance(30 * S);
  t.equal(bench.token, 'tok-2');
});

t.test('setting the clock back does not make a token live longer', async (t) => {
  const bench = await ready(t, inTurn({ lifetimeMs: 100 * S }, { fails: 'unreachable' }));
  await bench.clock.stepWall(-HOUR);
  t.equal(bench.token, 'tok-1');
  await bench.clock.advance(76 * S);
  t.equal(bench.logins.length, 2, 'the token is renewed in time');
  await bench.clock.advance(24 * S);
  t.equal(bench.token, undefined);
});

t.test('after the clock is set back and the machine then sleeps, no expired token is used', async (t) => {
  const bench = await ready(t, inTurn({ lifetimeMs: 100 * S }, {}));
  await bench.clock.stepWall(-HOUR);
  await bench.clock.advance(40 * S);
  await bench.clock.suspend(60 * S);
  t.equal(bench.token, undefined);
  t.equal(await stateOf(bench.clock, bench.wait()), bench.source.current());
  t.equal(bench.token, 'tok-2');
});

t.test('setting the clock back does not delay a renewal', async (t) => {
  const bench = await ready(t, inTurn({ lifetimeMs: 100 * S }, {}));
  await bench.clock.stepWall(-HOUR);
  await bench.clock.advance(30 * S); // The loop checks the clock this often.
  await bench.clock.suspend(50 * S);
  t.equal(bench.token, 'tok-1');
  t.equal(bench.source.status().nextLoginInMs, 0);
});

t.test("clocks that drift apart slightly do not extend a token's life", async (t) => {
  const bench = await ready(t, inTurn({ lifetimeMs: 100 * S }, {}));
  for (let i = 0; i < 2500; i++) {
    await bench.clock.stepWall(i % 2 === 0 ? 100 : -100);
    void bench.token;
  }
  t.equal(bench.source.status().expiresInMs, 100 * S);
});

t.test('setting the clock back in small steps is noticed', async (t) => {
  const bench = await ready(t, inTurn({ lifetimeMs: 100 * S }, {}));
  for (let i = 0; i < 20; i++) {
    await bench.clock.stepWall(-990);
    t.equal(bench.token, 'tok-1');
  }
  await bench.clock.suspend(101 * S);
  t.equal(bench.token, undefined);
});

t.test('setting the clock forward causes one login, however far', async (t) => {
  for (const step of [HOUR, 3652 * DAY]) {
    const bench = await ready(t);
    await bench.clock.advance(MINUTE);
    await bench.clock.stepWall(step);
    await bench.clock.advance(10 * MINUTE);
    t.equal(bench.token, 'tok-2');
    await bench.clock.stepWall(-step);
    await bench.clock.advance(10 * MINUTE);
    t.equal(bench.token, 'tok-2');
    t.equal(bench.logins.length, 2);
  }
});

t.test('no setting of the clock shortens a backoff', async (t) => {
  const bench = new Bench(t, () => ({ fails: 'refused' }));
  await bench.clock.advance(10 * S);
  for (const step of [HOUR, -HOUR, 3652 * DAY, -3652 * DAY]) {
    await bench.clock.stepWall(step);
    bench.wait();
    await bench.clock.advance(5 * S);
  }
  t.equal(bench.logins.length, 1);
  await bench.clock.advance(3 * S);
  t.equal(bench.logins.length, 2);
});

t.test('changed credentials log in at once, and the old token is used until then', async (t) => {
  const bench = await ready(t);
  await bench.clock.advance(MINUTE);
  bench.script = () => ({ takesMs: 500 });
  bench.source.reconfigure(bench.options({}, 'new'), true);
  await bench.clock.settle();
  t.same(bench.by, ['old', 'new']);
  t.equal(bench.token, 'tok-1');
  await bench.clock.advance(500);
  t.equal(bench.token, 'tok-2');
});

t.test(
  'changed credentials that fail are tried again after the backoff, and the old token stays in use',
  async (t) => {
    const bench = await ready(t);
    await bench.clock.advance(MINUTE);
    bench.script = inTurn({}, { fails: 'unreachable' }, { fails: 'refused' }, { takesMs: 500 });
    bench.source.reconfigure(bench.options({}, 'new'), true);
    await bench.clock.settle();
    t.match(bench.source.status(), { state: 'degraded' });
    t.ok(bench.source.status().nextLoginInMs <= S, 'the status has the time of the next try');
    await bench.clock.advance(S);
    t.same(bench.by, ['old', 'new', 'new']);
    t.equal(bench.token, 'tok-1');
    await bench.clock.advance(MINUTE);
    t.same(bench.by, ['old', 'new', 'new', 'new']);
    t.equal(bench.token, 'tok-4');
    await bench.clock.advance(5 * MINUTE);
    t.equal(bench.logins.length, 4, 'no further login follows');
  },
);

t.test('a token is outdated from a change of the credentials to the next login', async (t) => {
  const bench = await ready(t);
  t.equal(bench.source.outdated, false);
  bench.source.reconfigure(bench.options({}, 'old'), false);
  t.equal(bench.source.outdated, false, 'nothing has changed');
  bench.script = inTurn({}, { fails: 'unreachable' }, {});
  bench.source.reconfigure(bench.options({}, 'new'), true);
  await bench.clock.advance(S);
  bench.source.reconfigure(bench.options({}, 'new'), false);
  t.equal(bench.source.outdated, true, 'the login has failed');
  await bench.clock.advance(S);
  t.same([bench.token, bench.source.outdated], ['tok-3', false]);
  bench.script = () => ({ fails: 'unreachable' });
  bench.source.reconfigure(bench.options({}, 'newer'), true);
  await bench.clock.advance(2 * HOUR);
  t.same([bench.token, bench.source.outdated], [undefined, false], 'there is no token');
});

t.test('a source in the place of another keeps the second between logins', async (t) => {
  const former = await ready(t);
  const source = former.replaced(t, false);
  t.equal(source.current(), undefined, 'the token was not taken over');
  await former.clock.advance(S - 1);
  t.same(former.by, ['old']);
  await former.clock.advance(1);
  t.same(former.by, ['old', 'new']);
  t.equal(tokenOf(source.current()), 'tok-2');
});

t.test(
  'a source in the place of one with the same login keeps its token, and renews it in time',
  async (t) => {
    const former = await ready(t, () => ({ lifetimeMs: MINUTE }));
    await former.clock.advance(40 * S);
    const { lastLoginMs } = former.source.status();
    const source = former.replaced(t, true);
    t.match([tokenOf(source.current()), source.status()], ['tok-1', { state: 'fresh', lastLoginMs }]);
    await former.clock.advance(5 * S);
    t.equal(former.logins.length, 1);
    await former.clock.advance(S);
    t.equal(tokenOf(source.current()), 'tok-2');
  },
);

t.test('a source that a reload retires has its token to the end, and tells nothing more', async (t) => {
  const bench = await ready(t);
  const { length } = bench.events;
  bench.source.retire();
  t.equal(bench.token, 'tok-1');
  bench.source.makeRenewalDue();
  t.match(await bench.source.renewNow(), { code: 'unreachable', message: /^a reload / });
  await bench.loop;
  bench.source.newTokenRejected(bench.source.current()!);
  t.equal(bench.source.rejected(bench.source.current()!), undefined);
  t.equal(bench.token, undefined, 'it was refused');
  t.match(await stateOf(bench.clock, bench.wait()), { code: 'token-unavailable', retryAfterS: 1 });
  await bench.clock.advance(2 * HOUR);
  t.same([bench.logins.length, bench.events.length, bench.clock.sleeping], [1, length, 0]);
});

t.test('a reload that retires a source ends its login and all waits, and counts as no failure', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 10 * S }));
  const waiting = bench.wait();
  const asked = bench.source.renewNow();
  await bench.clock.advance(10);
  bench.source.retire();
  t.match(await stateOf(bench.clock, waiting), { code: 'token-unavailable', retryAfterS: 1 });
  t.match(await stateOf(bench.clock, asked), { message: /^a reload / });
  await bench.loop;
  t.same([bench.abandoned, bench.events.length], [1, 0]);
});

t.test('other settings change without a login', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 20 * S }));
  bench.source.reconfigure(bench.options({ tokenWaitMs: S, maxWaiting: 1 }), false);
  const waiting = bench.wait();
  t.match(await stateOf(bench.clock, bench.wait()), { code: 'overloaded' });
  await bench.clock.advance(S);
  t.match(await stateOf(bench.clock, waiting), { code: 'token-unavailable' });
  await bench.clock.advance(MINUTE);
  t.equal(bench.logins.length, 1);
});

t.test('if credentials change twice while a login runs, the last ones are used', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 5 * S }));
  await bench.clock.advance(200);
  const waiting = bench.wait();
  bench.source.reconfigure(bench.options({}, 'newer'), true);
  await bench.clock.advance(100);
  bench.source.reconfigure(bench.options({}, 'newest'), true);
  await bench.clock.advance(5700);
  t.equal(tokenOf(await stateOf(bench.clock, waiting)), 'tok-2');
  t.same(bench.by, ['old', 'newest']);
  t.same(bench.gaps, [S], 'still one login a second');
  t.equal(bench.mostAtOnce, 1);
  t.equal(bench.abandoned, 1, 'the login with the old credentials is aborted');
  t.equal(bench.eventsOf('login-failed').length, 0, 'an aborted login is no failure');
});

t.test(
  'if credentials change while a requested login runs, one login with the new credentials follows',
  async (t) => {
    const bench = await ready(t, inTurn({}, { takesMs: 5 * S }, {}));
    await bench.clock.advance(MINUTE);
    const asked = bench.source.renewNow();
    await bench.clock.advance(2 * S);
    bench.source.reconfigure(bench.options({}, 'new'), true);
    t.equal(bench.token, 'tok-1', 'the old token is used until then');
    t.equal(
      tokenOf(await stateOf(bench.clock, asked)),
      'tok-3',
      'a caller that asks for a login gets the outcome of that login',
    );
    t.same(bench.by, ['old', 'old', 'new']);
  },
);

t.test('a late refusal of the old credentials does not delay the new ones', async (t) => {
  const bench = new Bench(t, inTurn({ fails: 'refused', takesMs: 3 * S }, { takesMs: 3 * S }));
  await bench.clock.advance(2 * S);
  bench.source.reconfigure(bench.options({}, 'new'), true);
  const waiting = bench.wait();
  await bench.clock.advance(2 * S);
  const later = bench.wait();
  await bench.clock.advance(2 * S);
  t.equal(tokenOf(await stateOf(bench.clock, waiting)), 'tok-2');
  t.equal(tokenOf(await stateOf(bench.clock, later)), 'tok-2');
});

t.test('changed credentials end the pause after a refusal at once', async (t) => {
  const bench = new Bench(t, inTurn({ fails: 'refused' }, { takesMs: 200 }));
  await bench.clock.advance(5 * S);
  t.equal(bench.source.status().state, 'refused');
  bench.source.reconfigure(bench.options({}, 'new'), true);
  const waiting = bench.wait();
  await bench.clock.advance(200);
  t.equal(tokenOf(await stateOf(bench.clock, waiting)), 'tok-2');
  t.match(bench.source.status(), { state: 'fresh', lastFailure: undefined });
});

t.test('credentials that change within a second of a login are used when the second is over', async (t) => {
  const bench = await ready(t);
  await bench.clock.advance(100);
  bench.source.reconfigure(bench.options({}, 'new'), true);
  await bench.clock.advance(899);
  t.same(bench.by, ['old']);
  await bench.clock.advance(1);
  t.same(bench.by, ['old', 'new']);
});

t.test('renewNow logs in during a backoff, at most once a second', async (t) => {
  const bench = new Bench(t, () => ({ fails: 'refused' }));
  await bench.clock.advance(5 * S);
  const results: Promise<unknown>[] = [];
  for (let i = 0; i < 100; i++) {
    results.push(bench.source.renewNow());
    await bench.clock.advance(50);
  }
  t.match(await results[0], { code: 'refused' }, 'the reason of the failure');
  t.equal(bench.logins.length, 1 + 6);
  t.ok(bench.gaps.every((gap) => gap >= S));
  bench.script = () => ({ takesMs: 100 });
  const together = [bench.source.renewNow(), bench.source.renewNow()];
  await bench.clock.advance(S + 100);
  t.same((await Promise.all(together)).map(tokenOf), ['tok-8', 'tok-8']);
  t.match(bench.source.status(), { state: 'fresh', lastFailure: undefined });
});

t.test('renewNow joins a running login, and starts another one after its end', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 100 }));
  const first = bench.source.renewNow();
  await bench.clock.advance(100);
  const second = first.then(() => bench.source.renewNow());
  await bench.clock.advance(S);
  t.equal(tokenOf(await stateOf(bench.clock, second)), 'tok-2');
  t.equal(bench.logins.length, 2);
});

t.test('after renewNow fails the source tries again after the backoff', async (t) => {
  const bench = await ready(t);
  await bench.clock.advance(MINUTE);
  bench.script = inTurn({}, { fails: 'unreachable' }, {});
  const asked = bench.source.renewNow();
  await bench.clock.settle();
  t.match(await asked, { code: 'unreachable' });
  await bench.clock.advance(2 * S);
  t.match(bench.source.status(), { state: 'fresh', lastFailure: undefined });
  t.equal(bench.token, 'tok-3');
});

t.test('renewNow causes no login besides the one that it joins', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 100 }));
  void bench.source.renewNow();
  await bench.clock.advance(MINUTE);
  t.equal(bench.logins.length, 1);
});

t.test('there is there is one login at a time, whatever asks for it', async (t) => {
  const bench = await ready(t, (n) => ({
    takesMs: 100 + ((n * 37) % 1500),
    lifetimeMs: 10 * S,
    ...(n % 5 === 0 && { fails: 'unreachable' }),
  }));
  for (let i = 0; i < 600; i++) {
    bench.wait();
    const token = bench.source.current();
    if (i % 3 === 0 && token !== undefined) void bench.source.rejected(token);
    if (i % 7 === 0) void bench.source.renewNow();
    if (i % 50 === 0) bench.source.reconfigure(bench.options({}, `account ${i}`), true);
    await bench.clock.advance(90);
  }
  t.equal(bench.mostAtOnce, 1);
  t.ok(bench.gaps.every((gap) => gap >= S));
});

t.test('after stop there is no login, and waiting requests fail', async (t) => {
  for (const state of ['with a token', 'in a backoff']) {
    const bench = await ready(t, () =>
      state === 'with a token' ? { lifetimeMs: MINUTE } : { fails: 'unreachable' },
    );
    await bench.clock.advance(10);
    const waiting = bench.wait();
    bench.source.stop();
    t.match(
      await stateOf(bench.clock, waiting),
      state === 'with a token' ? Object : { code: 'draining' },
      state,
    );
    await bench.loop;
    bench.source.reconfigure(bench.options({}, 'new'), true);
    t.match(await bench.source.renewNow(), { code: 'unreachable', message: 'bearerd is stopping' });
    const token = bench.source.current();
    if (token !== undefined) t.equal(bench.source.rejected(token), undefined);
    await bench.clock.advance(2 * MINUTE);
    t.match(await stateOf(bench.clock, bench.wait()), { code: 'draining' });
    t.equal(bench.logins.length, 1);
    t.equal(bench.clock.sleeping, 0, 'no timer is left');
  }
});

t.test('a login under way at the stop still serves the requests that wait for it', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: S }));
  const waiting = bench.wait();
  await bench.clock.advance(10);
  bench.source.stop();
  t.match(await stateOf(bench.clock, bench.wait()), { code: 'draining' });
  const asked = bench.source.renewNow();
  t.match(await stateOf(bench.clock, asked), { message: 'bearerd is stopping' });
  await bench.clock.advance(S);
  t.equal(tokenOf(await stateOf(bench.clock, waiting)), 'tok-1');
  await bench.loop;
});

t.test('a login under way at the stop that fails ends all waits', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: S, fails: 'server-error' }));
  const waiting = bench.wait();
  await bench.clock.advance(10);
  bench.source.stop();
  await bench.clock.advance(S);
  t.match(await stateOf(bench.clock, waiting), { code: 'draining' });
  await bench.loop;
});

t.test('abort ends a login and all waits, and counts as no failure', async (t) => {
  const bench = new Bench(t, () => ({ takesMs: 10 * S }));
  const waiting = bench.wait();
  const asked = bench.source.renewNow();
  await bench.clock.advance(10);
  bench.source.abort();
  t.match(await stateOf(bench.clock, waiting), { code: 'draining' });
  t.match(await stateOf(bench.clock, asked), { message: 'bearerd is stopping' });
  await bench.loop;
  t.equal(bench.abandoned, 1);
  t.equal(bench.events.length, 0);
});

t.test('an observer that throws does not stop the loop', async (t) => {
  const observe = () => {
    throw new Error('the disk is full');
  };
  const bench = new Bench(
    t,
    inTurn({ lifetimeMs: 10 * S }, { fails: 'unreachable' }, { lifetimeMs: 10 * S }),
    { observe },
  );
  await bench.clock.advance(MINUTE);
  t.equal(bench.mostAtOnce, 1);
  t.equal(
    await stateOf(bench.clock, secondChance(bench, bench.source.current()!)),
    `tok-${bench.logins.length}`,
  );
  t.ok(bench.logins.length > 5);
});

t.test('an unexpected error of a login counts as a failed login', async (t) => {
  const cause = new TypeError('oops');
  const bench = await ready(t, undefined, { login: () => Promise.reject(cause) });
  t.match(bench.eventsOf('login-failed'), [
    { error: { code: 'unreachable', message: 'the login failed', cause }, nextTryInMs: S },
  ]);
  const thrown = await ready(t, undefined, {
    login: () => {
      throw cause;
    },
  });
  t.match(thrown.eventsOf('login-failed'), [{ error: { cause } }]);
});

t.test('the problem of a waiting request has the failure as its cause, and not in its text', async (t) => {
  const bench = new Bench(t, () => ({ fails: 'refused' }));
  await bench.clock.settle();
  const problem = (await stateOf(bench.clock, bench.wait())) as Problem;
  t.equal((problem.cause as LoginError).message, 'the login failed: refused');
  t.notMatch(problem.message, /the login failed/);
});
