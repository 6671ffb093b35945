import t from 'tap';
import { RateBucket } from '../../src/listen/rate-bucket.ts';

const MINUTE = { requests: 60, perMs: 60_000 };

/** How many requests pass at one moment, one after the other. */
function passing(bucket: RateBucket, nowMs: number, most = 2_000_000): number {
  let passed = 0;
  while (passed < most && bucket.waitMs(nowMs) === 0) {
    bucket.take();
    passed++;
  }
  return passed;
}

t.test('a full bucket lets N requests pass at once, and no more', async (t) => {
  for (const limit of [MINUTE, { requests: 1, perMs: 1_000 }, { requests: 1_000_000, perMs: 86_400_000 }]) {
    const bucket = new RateBucket(limit, 1_000.4);
    t.equal(bucket.left(1_000.4), limit.requests);
    t.equal(passing(bucket, 1_000.4), limit.requests);
    t.equal(bucket.left(1_000.4), 0);
  }
});

t.test(
  'a bucket fills evenly: one request passes at each Nth of the duration, and none before',
  async (t) => {
    const bucket = new RateBucket({ requests: 7, perMs: 60_000 }, 0);
    passing(bucket, 0);
    for (let i = 1; i <= 500; i++) {
      const due = Math.ceil((i * 60_000) / 7);
      t.equal(passing(bucket, due - 1), 0, `before ${due} ms`);
      t.equal(passing(bucket, due), 1, `at ${due} ms`);
    }
  },
);

t.test('a bucket fills up to N and no further, however long no request comes', async (t) => {
  const bucket = new RateBucket(MINUTE, 0);
  passing(bucket, 0);
  t.equal(passing(bucket, 90 * 86_400_000), 60);
});

t.test('a request that comes back after its wait passes, but not a millisecond earlier', async (t) => {
  for (const requests of [1, 3, 7, 60, 999_983, 1_000_000]) {
    for (const perMs of [1_000, 1_500, 61_000, 86_400_000]) {
      const bucket = new RateBucket({ requests, perMs }, 0.75);
      passing(bucket, 0.75);
      for (let i = 0, nowMs = 3.25; i < 20; i++, nowMs += 11.25) {
        const waitMs = bucket.waitMs(nowMs);
        if (waitMs > 1) t.not(bucket.waitMs(nowMs + waitMs - 1), 0, `${requests}/${perMs} a moment too soon`);
        t.equal(bucket.waitMs(nowMs + waitMs), 0, `${requests}/${perMs} after ${waitMs} ms`);
        bucket.take();
        nowMs += waitMs;
      }
    }
  }
});

t.test('in any time no more requests pass than N and what the bucket has filled since', async (t) => {
  const bucket = new RateBucket({ requests: 10, perMs: 3_000 }, 0);
  let passed = 0;
  for (let nowMs = 0; nowMs <= 30_000; nowMs += 0.5) {
    passed += passing(bucket, nowMs);
    if (passed > 10 + nowMs / 300) t.fail(`${passed} until ${nowMs} ms`);
  }
  t.equal(passed, 110);
});
