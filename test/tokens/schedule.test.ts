import t from 'tap';
import type { LoginFailure } from '../../src/base/login-error.ts';
import { loginDelayMs, renewalDelayMs, retryDelayMs } from '../../src/tokens/schedule.ts';
import { fc } from '../support/properties.ts';

const S = 1000;
const MINUTE = 60 * S;
const DAY = 86_400 * S;
const ALMOST_1 = 1 - Number.EPSILON;

t.test('a token is renewed at 72 to 80 % of its life, or at renewAfter and up to 10 % earlier', async (t) => {
  const table: readonly (readonly [lifetime: number, renewAfter: number, random: number, delay: number])[] = [
    [10 * MINUTE, 15 * MINUTE, 0, 0.72 * 10 * MINUTE],
    [10 * MINUTE, 15 * MINUTE, 0.5, 0.76 * 10 * MINUTE],
    [10 * MINUTE, 15 * MINUTE, ALMOST_1, 0.8 * 10 * MINUTE],
    [60 * MINUTE, 15 * MINUTE, 0, 15 * MINUTE],
    [60 * MINUTE, 15 * MINUTE, 0.5, 0.95 * 15 * MINUTE],
    [60 * MINUTE, 15 * MINUTE, ALMOST_1, 0.9 * 15 * MINUTE],
    [20 * S, 15 * MINUTE, 0, 14.4 * S],
    [20 * S, 15 * MINUTE, ALMOST_1, 16 * S],
    [2 * S, 15 * MINUTE, 0, 1.44 * S],
    [1, 15 * MINUTE, 0, 0.72],
    [40 * DAY, 100 * DAY, 0, 28.8 * DAY],
    [40 * DAY, 15 * MINUTE, 0, 15 * MINUTE],
    [36_500 * DAY, 36_500 * DAY, 0, 26_280 * DAY],
    [60 * MINUTE, 0, 0.5, 0],
  ];
  for (const [lifetime, renewAfter, random, delay] of table) {
    const actual = renewalDelayMs(lifetime, renewAfter, random);
    t.ok(Math.abs(actual - delay) < 1e-3, `${lifetime} ms, renewAfter ${renewAfter} ms: ${actual}`);
  }
});

t.test('after a failure the pause grows from 1 s to 60 s, with full jitter', async (t) => {
  const longest = [1, 2, 4, 8, 16, 32, 60, 60, 60];
  for (const failure of ['unreachable', 'server-error', 'rate-limited', 'unusable', 'redirected'] as const) {
    for (const [i, seconds] of longest.entries()) {
      t.equal(retryDelayMs(failure, i + 1, undefined, 0), S, `${failure} ${i + 1}: at least`);
      t.ok(
        Math.abs(retryDelayMs(failure, i + 1, undefined, ALMOST_1) - seconds * S) < 1,
        `${failure} ${i + 1}: at most`,
      );
    }
  }
});

t.test('after a refusal the pause grows from 30 s to 5 min', async (t) => {
  const spans = [
    [30, 36],
    [60, 72],
    [120, 144],
    [240, 288],
    [250, 300],
    [250, 300],
  ] as const;
  for (const [i, [least, most]] of spans.entries()) {
    t.ok(
      Math.abs(retryDelayMs('refused', i + 1, undefined, 0) - most * S) < 1,
      `refusal ${i + 1}: at most ${most} s`,
    );
    t.ok(
      Math.abs(retryDelayMs('refused', i + 1, undefined, ALMOST_1) - least * S) < 1,
      `refusal ${i + 1}: at least ${least} s`,
    );
  }
});

t.test('Retry-After is obeyed up to 5 min, and never shortens a pause', async (t) => {
  const table: readonly (readonly [LoginFailure, number | undefined, number])[] = [
    ['rate-limited', 7 * S, 7 * S],
    ['rate-limited', undefined, S],
    ['rate-limited', 0, S],
    ['rate-limited', 200, S],
    ['rate-limited', 299 * S, 299 * S],
    ['rate-limited', 1e12, 300 * S],
    ['rate-limited', Number.POSITIVE_INFINITY, 300 * S],
    ['server-error', 20 * S, 20 * S],
    ['refused', 5 * S, 36 * S],
    ['refused', 100 * S, 100 * S],
    ['refused', 1e12, 300 * S],
  ];
  for (const [failure, asked, delay] of table) {
    t.equal(retryDelayMs(failure, 1, asked, 0), delay, `${failure}, Retry-After ${asked} ms`);
  }
});

t.test('the next login waits for the latest of floor, pause and renewal', async (t) => {
  const table: readonly (readonly [
    usable: boolean,
    renew: number,
    retry: number,
    floor: number,
    delay: number,
  ])[] = [
    [true, 500, 0, 0, 500],
    [true, 500, 0, 800, 800],
    [true, 500, 3000, 800, 3000],
    [true, -5, 0, -5, 0],
    [false, 500, 0, -5, 0],
    [false, 500, 0, 800, 800],
    [false, 500, 3000, 800, 3000],
    [false, 500, -1, Number.NEGATIVE_INFINITY, 0],
  ];
  for (const [usable, renewInMs, retryInMs, floorInMs, delay] of table) {
    t.equal(loginDelayMs({ usable, renewInMs, retryInMs, floorInMs }), delay);
  }
});

const random = fc.double({ min: 0, max: ALMOST_1, noNaN: true });
const anyMs = fc.double({ min: -1e15, max: 1e15, noNaN: true });
const failures = fc.constantFrom<LoginFailure>(
  'unreachable',
  'server-error',
  'rate-limited',
  'unusable',
  'redirected',
);
const retryAfter = fc.option(fc.double({ min: 0, noNaN: true }), { nil: undefined });
const count = fc.integer({ min: 1, max: 2 ** 31 });
const isDelay = (ms: number) => Number.isFinite(ms) && ms >= 0;

t.test('every delay is finite, not negative, and within its bounds', async () => {
  fc.assert(fc.property(anyMs, anyMs, random, (life, after, r) => isDelay(renewalDelayMs(life, after, r))));
  fc.assert(
    fc.property(
      fc.boolean(),
      anyMs,
      anyMs,
      fc.double({ max: 1e15, noNaN: true }),
      (usable, renewInMs, retryInMs, floorInMs) => {
        const delay = loginDelayMs({ usable, renewInMs, retryInMs, floorInMs });
        return isDelay(delay) && delay >= floorInMs && delay >= retryInMs;
      },
    ),
  );
  fc.assert(
    fc.property(failures, count, retryAfter, random, (failure, n, asked, r) => {
      const delay = retryDelayMs(failure, n, asked, r);
      const least = Math.max(S, Math.min(asked ?? 0, 300 * S));
      return delay >= least && delay <= Math.max(60 * S, least);
    }),
  );
  fc.assert(
    fc.property(count, retryAfter, random, (n, asked, r) => {
      const delay = retryDelayMs('refused', n, asked, r);
      return delay >= 30 * S && delay <= 300 * S;
    }),
  );
  fc.assert(
    fc.property(
      fc.double({ min: 1, max: 3e12, noNaN: true }),
      fc.double({ min: 1, max: 3e12, noNaN: true }),
      random,
      (life, after, r) => {
        const delay = renewalDelayMs(life, after, r);
        return (
          delay <= life * 0.8 && delay <= after && delay >= Math.min(life * 0.72, after * 0.9) * (1 - 1e-9)
        );
      },
    ),
  );
});
