import t from 'tap';
import { Health } from '../../src/observe/health.ts';
import { FakeClock } from '../support/fake-clock.ts';

t.test('ten internal errors within a minute are too many, and a minute later they are not', async (t) => {
  const clock = new FakeClock();
  const health = new Health(clock);
  const fail = (times: number) => {
    for (let n = 0; n < times; n++)
      health.observe({ type: 'internal-error', where: 'test', cause: undefined });
  };
  fail(9);
  health.observe({ type: 'stopped', cut: 0 });
  t.ok(health.healthy);
  fail(1);
  t.notOk(health.healthy);
  await clock.advance(60_001);
  t.ok(health.healthy);
  fail(9);
  t.ok(health.healthy, 'those of before no longer count');
  fail(1);
  t.notOk(health.healthy);
});
