import { simulate } from './simulate.ts';

// npm run fleet [HOURS [RATE [INSTANCES]]]: 1,000 instances for a day, in some forty minutes.

const [hours = 24, rate = 40, instances = 1_000] = process.argv.slice(2).map(Number);
const MINUTE = 60_000;
const real = 20;

const figures = await simulate({
  processes: 4,
  simulated: instances - real,
  real,
  rate,
  hours,
  faultEveryMs: 30_000,
  eventEveryMs: 100 * MINUTE,
});
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
