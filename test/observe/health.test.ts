import t from 'tap';
import { Health } from '../../src/observe/health.ts';
import { FakeClock } from '../support/fake-clock.ts';

t.test('ten internal errors within a minute are unhealthy, and a minute later healthy again', async (t) => {
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
  t.ok(health.healthy, 'older errors do not count');
  fail(1);
  t.notOk(health.healthy);
});
