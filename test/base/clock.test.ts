import { getEventListeners } from 'node:events';
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';

t.test(
  'a sleep that is longer than a timer can hold does not end at once, and causes no warning',
  async (t) => {
    const warnings: string[] = [];
    const warned = (warning: Error) => warnings.push(warning.name);
    process.on('warning', warned);
    t.teardown(() => process.off('warning', warned));
    const abort = new AbortController();
    let awake = 0;
    const sleeps = [40 * 86_400_000, 8000 * 365 * 86_400_000, 2 ** 31].map((ms) =>
      systemClock.sleep(ms, abort.signal).then(() => {
        awake++;
      }),
    );
    await systemClock.sleep(50);
    t.equal(awake, 0);
    t.same(warnings, []);
    abort.abort();
    await Promise.all(sleeps);
    t.equal(awake, 3, 'an abort ends the sleep');
  },
);

t.test('a signal that aborts before or during a sleep ends it, and no listener is left', async (t) => {
  await systemClock.sleep(1e9, AbortSignal.abort());
  const abort = new AbortController();
  await systemClock.sleep(1, abort.signal);
  await systemClock.sleep(-5, abort.signal);
  t.equal(getEventListeners(abort.signal, 'abort').length, 0);
});

t.test("the monotonic clock never goes back, and the wall clock shows the machine's time", async (t) => {
  const before = systemClock.monoMs();
  t.ok(systemClock.monoMs() >= before);
  t.ok(Math.abs(systemClock.wallMs() - Date.now()) < 1000);
});
