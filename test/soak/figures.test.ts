import t from 'tap';
import { randomFrom } from '../support/random.ts';
import { growthOf, missesOf } from './aims.ts';
import { effectsOf, type Made } from './judgement.ts';
import type { Failure } from './load.ts';
import { floorOf, slopeOf } from './slope.ts';
import type { Record } from './soak.ts';
import { PERIOD_MS, timetableOf } from './timetable.ts';

// How the soak judges its records: it must not overlook a fault.

const MINUTE = 60_000;

/** An hour of samples, one a minute, with this much noise. */
function hourOf(growth: number, noise: number) {
  const random = randomFrom(5);
  return Array.from({ length: 60 }, (_, minute) => ({
    atMs: minute * MINUTE,
    value: 20 + growth * (minute / 60) + noise * (random() - 0.5),
  }));
}

t.test('a slope is found in spite of noise and peaks, with its bounds', async (t) => {
  const noisy = hourOf(1.5, 1);
  noisy[20] = { atMs: 20 * MINUTE, value: 90 };
  const { perHour, low, high } = slopeOf(noisy);
  t.ok(Math.abs(perHour - 1.5) < 0.4, `${perHour}`);
  t.ok(low > 1 && high < 2.2, `${low} to ${high}`);
  const flat = slopeOf(hourOf(0, 1));
  t.ok(flat.low < 0 && flat.high > 0, 'without growth the bounds include zero');
});

t.test('a slope is exact without noise, and unknown from two samples', async (t) => {
  const { perHour, low, high } = slopeOf(hourOf(3, 0));
  for (const value of [perHour, low, high]) t.ok(Math.abs(value - 3) < 1e-6, `${value}`);
  t.same(slopeOf(hourOf(3, 0).slice(0, 2)).high, Number.POSITIVE_INFINITY);
});

t.test('the least value of each window counts', async (t) => {
  const samples = [5, 3, 9, 8, 7, 20].map((value, i) => ({ atMs: i * 20_000, value }));
  t.same(
    floorOf(samples, MINUTE).map(({ value }) => value),
    [3, 7],
  );
});

t.test('each kind of fault comes once before any comes again, at times from the seed', async (t) => {
  const kinds = ['a', 'b', 'c'].map((name) => ({ name, longestMs: 1_000 }));
  const table = () => timetableOf(kinds, 10 * PERIOD_MS, randomFrom(3));
  t.same(table(), table());
  t.same(
    table().map(({ atMs }) => atMs),
    Array.from({ length: 9 }, (_, i) => (i + 1) * PERIOD_MS),
  );
  for (const round of [0, 3, 6]) {
    const names = table()
      .slice(round, round + 3)
      .map(({ kind }) => kind.name);
    t.same(names.sort(), ['a', 'b', 'c']);
  }
  for (const { lastsMs } of table()) t.ok(lastsMs >= 500 && lastsMs <= 1_000);
});

const START = { trouble: { name: 'start', harms: false, excuses: [] }, beganMs: 0, endedMs: 0, heldUpMs: 0 };

/** A fault from 10 s to 12 s. */
function made(more: Partial<Made['trouble']> = {}, heldUpMs = 0): Made {
  const trouble = { name: 'trouble', harms: true, excuses: [], ...more };
  return { trouble, beganMs: 10_000, endedMs: 12_000, heldUpMs };
}

function failure(beganMs: number, endedMs: number, what = 'upstream-timeout'): Failure {
  return { what, kind: 'GET', beganMs, endedMs };
}

/** The number of missed aims of the start and of the fault. */
function missedOf(fault: Made, ...failures: readonly Failure[]): number[] {
  return effectsOf([START, fault], failures).map(({ misses }) => misses.length);
}

t.test(
  'during a fault, and for five seconds after it, a request may fail with a problem of ours',
  async (t) => {
    t.same(missedOf(made(), failure(10_500, 10_600), failure(15_000, 16_900, 'broken')), [0, 0]);
    t.same(
      missedOf(made(), failure(9_000, 10_100)),
      [0, 0],
      'the request was under way when the fault began',
    );
    t.equal(effectsOf([START, made()], [failure(13_500, 13_600)])[1]!.recoveryMs, 1_500);
  },
);

t.test('a failure at another time, or of another kind, misses the aim', async (t) => {
  t.same(missedOf(made(), failure(9_000, 9_100)), [1, 0], 'before the fault');
  t.same(missedOf(made(), failure(16_000, 17_100)), [0, 1], 'too long after the fault');
  for (const what of ['silent', 'cut off', 'wrong', 'passed 401', 'bad-request'])
    t.same(missedOf(made(), failure(10_500, 10_600, what)), [0, 1], what);
  t.same(missedOf(made({ excuses: ['wrong'] }), failure(10_500, 10_600, 'wrong')), [0, 0]);
  t.same(missedOf(made({ harms: false }), failure(10_500, 10_600)), [0, 1], 'the fault is harmless');
});

t.test('on a busy machine a late failure is a doubt, and a wrong answer still misses the aim', async (t) => {
  const busy = made({}, 2_000);
  t.same(missedOf(busy, failure(16_000, 17_100)), [0, 0]);
  t.equal(effectsOf([START, busy], [failure(16_000, 17_100)])[1]!.doubts.length, 1);
  t.same(missedOf(busy, failure(10_500, 10_600, 'wrong')), [0, 1]);
  t.same(missedOf(made({ harms: false }, 2_000), failure(10_500, 10_600, 'wrong')), [0, 1]);
  t.same(missedOf(busy, failure(10_500, 10_600, 'cut off')), [0, 0]);
  const next = { ...made(), beganMs: 20_000, endedMs: 21_000 };
  const effects = effectsOf([START, busy, next], [failure(10_100, 25_100, 'silent')]);
  t.same(
    effects.map(({ misses, doubts }) => [misses.length, doubts.length]),
    [
      [0, 0],
      [0, 0],
      [0, 1],
    ],
    'a request that began while the machine was busy, and waited for long',
  );
});

/** An hour without a fault. */
function record(more: Partial<Record> = {}): Record {
  const look = { heapBytes: 20 << 20, codeBytes: 0, externalBytes: 0, residentBytes: 0, resources: {} };
  const looks = hourOf(0, 0).map(({ atMs }) => ({ ...look, atMs, openFiles: 40, medianMs: 1 }));
  const [before, after] = [looks[0]!, looks.at(-1)!];
  const verdicts = { good: 1_000, revoked: 5 };
  const arrivals = {
    requests: 1_000,
    logins: 9,
    verdicts,
    expiredMs: [],
    twice: [],
    changed: [],
    strays: 0,
  };
  const load = { sent: 1_000, failures: [] } as unknown as Record['load'];
  const well = { counted: 1_000, inFlight: 0, internalErrors: 0, lines: {}, exitCode: 0 };
  return { load, made: [START, made()], looks, before, after, arrivals, ...well, ...more };
}

function missesIn(more: Partial<Record> = {}): string[] {
  const seen = record(more);
  return missesOf(seen, effectsOf(seen.made, seen.load.failures), growthOf(seen, 60 * MINUTE));
}

t.test('an hour without a fault misses no aim, and each fault misses one', async (t) => {
  t.same(missesIn(), []);
  const { looks, after, arrivals } = record();
  const growing = (perMinute: Partial<Record['after']>) =>
    looks.map((look, minute) => ({
      ...look,
      heapBytes: look.heapBytes + minute * (perMinute.heapBytes ?? 0),
      codeBytes: look.codeBytes + minute * (perMinute.codeBytes ?? 0),
      openFiles: look.openFiles + minute * (perMinute.openFiles ?? 0),
    }));
  const faults: readonly Partial<Record>[] = [
    { looks: growing({ heapBytes: 30_000 }) },
    { looks: growing({ heapBytes: 30_000, codeBytes: 30_000 }) },
    { looks: growing({ openFiles: 1 }) },
    { after: { ...after, openFiles: 43 } },
    { counted: 999 },
    { inFlight: 1 },
    { internalErrors: 1 },
    { exitCode: 1 },
    { arrivals: { ...arrivals, twice: ['r-7'] } },
    { arrivals: { ...arrivals, changed: ['r-7'] } },
    { arrivals: { ...arrivals, strays: 1 } },
    { arrivals: { ...arrivals, verdicts: { wrong: 1 } } },
    { arrivals: { ...arrivals, expiredMs: [5_000] } },
  ];
  for (const fault of faults) t.equal(missesIn(fault).length, 1, JSON.stringify(fault).slice(0, 100));
  t.same(
    missesIn({ arrivals: { ...arrivals, expiredMs: [11_000] } }),
    [],
    'sent before a process was stopped',
  );
  t.same(missesIn({ looks: growing({ heapBytes: 10_000 }) }), [], 'a growth of half a MiB in an hour');
  const compiling = growing({ heapBytes: 100_000, codeBytes: 100_000 });
  t.same(
    missesIn({
      looks: compiling.map((look, n) => (n < 30 ? look : { ...look, ...compiling[30]!, atMs: look.atMs })),
    }),
    [],
    'code compiled in the first half hour',
  );
});
