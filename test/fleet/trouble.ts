import { FAULTS, spoil } from './faults.ts';
import { simulatedMs } from './pace.ts';
import { AFTER_MS, BEFORE_MS, BEGIN_MS, type World } from './world.ts';

const MINUTE_MS = 60_000;

/** Brings one fault after the other over the engine, except while something is timed. */
export async function keepSpoiling({ plan, pace, clock, redis, leaks, events }: World) {
  const counts = Object.fromEntries(FAULTS.map((fault) => [fault, 0]));
  const lastMs = pace.untilMs - 2 * plan.faultEveryMs;
  const aWhile = () => clock.sleep(plan.faultEveryMs * (0.2 + 0.4 * Math.random()));
  let done = 0;
  for (let n = 1; ; n++) {
    const at = BEGIN_MS + n * plan.faultEveryMs;
    if (at > lastMs) return counts;
    const isTimed = events.some(
      (event) => at > event - BEFORE_MS - 3 * plan.faultEveryMs && at < event + AFTER_MS,
    );
    await clock.sleep(at - simulatedMs(pace));
    if (isTimed || simulatedMs(pace) > at + plan.faultEveryMs) continue; // Later than that, the machine is behind.
    const fault = FAULTS[done++ % FAULTS.length]!;
    counts[fault]!++;
    await spoil(fault, redis, { leaks, aWhile });
  }
}

/** Stops the engine before the first renewal, for the planned time. */
export async function beAway({ plan, clock, redis, leaks }: World) {
  await clock.sleep(BEGIN_MS + MINUTE_MS);
  await redis.kill();
  await clock.sleep(plan.awayMs);
  await redis.start();
  await leaks.listen();
  return { away: 1 };
}
