import { simulate } from './simulate.ts';

// npm run fleet [HOURS [RATE [INSTANCES [AWAY_MINUTES [EVENT_MINUTES]]]]]: 1,000 instances for a day, in about forty
// minutes.

const [hours = 24, rate = 40, instances = 1_000, awayMinutes = 0, eventMinutes = 100] = process.argv
  .slice(2)
  .map(Number);
const MINUTE = 60_000;
const real = 20;

const began = performance.now();
const figures = await simulate({
  processes: 4,
  simulated: instances - real,
  real,
  rate,
  hours,
  faultEveryMs: 30_000,
  awayMs: awayMinutes * MINUTE,
  eventEveryMs: eventMinutes * MINUTE,
});
const tookMinutes = Math.round((performance.now() - began) / 6_000) / 10;
process.stdout.write(`${JSON.stringify({ hours, rate, tookMinutes, ...figures }, null, 2)}\n`);
