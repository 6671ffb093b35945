import type { Wire } from '../faults/ledger.ts';
import { soak } from './soak.ts';
import { summaryOf } from './summary.ts';

// npm run soak -- [MINUTES [SEED [WIRE [FAULT]]]]; defaults: 20 minutes, a new seed, TCP, every fault. The summary is on
// stdout.

const [minutes = '20', seed = `${Date.now() % 100_000}`, wire = 'TCP', only = ''] = process.argv.slice(2);
const plan = { lengthMs: Number(minutes) * 60_000, seed: Number(seed), wire: wire as Wire, only };
const ends: (() => unknown)[] = [];
try {
  const record = await soak({ teardown: (end: () => unknown) => void ends.unshift(end) }, plan);
  const summary = summaryOf(plan, record);
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  if (summary.misses.length > 0) process.exitCode = 1;
} finally {
  for (const end of ends) await end();
}
