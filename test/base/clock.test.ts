import { getEventListeners } from 'node:events';
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';

t.test('a sleep longer than a timer can hold neither ends at once nor warns', async (t) => {
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
  t.equal(awake, 3, 'an abort wakes them');
});

t.test('a sleep ends for a signal, before and after it began, and leaves nothing behind', async (t) => {
  await systemClock.sleep(1e9, AbortSignal.abort());
  const abort = new AbortController();
  await systemClock.sleep(1, abort.signal);
  await systemClock.sleep(-5, abort.signal);
  t.equal(getEventListeners(abort.signal, 'abort').length, 0);
});

t.test("the monotonic clock never goes back, and the wall clock is the machine's", async (t) => {
  const before = systemClock.monoMs();
  t.ok(systemClock.monoMs() >= before);
  t.ok(Math.abs(systemClock.wallMs() - Date.now()) < 1000);
});
