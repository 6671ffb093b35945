import { liveThrough } from './weeks.ts';

/**
 * Simulates years of a token's life, each from a seed:
 *
 *   npm run years                a thousand years, on one core
 *   npm run years -- 50 17       fifty, from seed 17 on
 */
const [count = 1_000, firstSeed = 1] = process.argv.slice(2).map(Number);
Error.stackTraceLimit = 0; // There are a million failures, and their stacks are not used.

const sum = { years: 0, requests: 0, logins: 0, faults: 0 };
for (let seed = firstSeed; seed < firstSeed + count; seed++) {
  const { requests, logins, faults } = await liveThrough(seed, 1, 'of years');
  sum.years++;
  sum.requests += requests;
  sum.logins += logins;
  sum.faults += faults.length;
  for (const fault of faults) console.error(fault);
  if (sum.years % 50 === 0 || sum.years === count) {
    const cpuS = Math.round(process.cpuUsage().user / 1e6);
    console.log(JSON.stringify({ ...sum, cpuS, seconds: Math.round(performance.now() / 1_000) }));
  }
}
if (sum.faults > 0) process.exitCode = 1;
