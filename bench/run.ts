import { MISSING } from './contenders/all.ts';
import { Fleet } from './contenders/fleet.ts';
import { options } from './options.ts';
import { machine } from './report/machine.ts';
import { writePage } from './report/page.ts';
import { textTable } from './report/tables.ts';
import { VERDICT_HEAD, verdictLine } from './report/verdict.ts';
import { ROWS } from './rows/all.ts';
import type { Result } from './rows/row.ts';
import { Upstream } from './upstream/upstream.ts';

/**
 * Runs the table of docs/performance.md. It reads /proc, so it needs Linux. Times on a shared machine say little;
 * ratios in one run do.
 */
async function run(): Promise<void> {
  const unknown = options.only?.filter((name) => !ROWS.some((row) => row.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`no such row: ${unknown.join()}; there are ${ROWS.map(({ name }) => name).join()}`);
  console.log(machine().join('\n'));
  for (const { name } of MISSING) console.log(`${name} is not installed: it is left out.`);
  const upstream = await Upstream.start();
  const fleet = new Fleet(upstream);
  const results: Result[] = [];
  try {
    for (const row of ROWS.filter(({ name }) => options.only?.includes(name) ?? true)) {
      const result = await row.run({ upstream, fleet });
      console.log(`\n${result.title}\n${textTable(result.head, result.lines)}`);
      results.push(result);
    }
  } finally {
    await fleet.stop();
    upstream.stop();
  }
  const verdicts = results.flatMap((result) => result.verdicts).map(verdictLine);
  console.log(`\n${textTable(VERDICT_HEAD, verdicts, [0, 4])}`);
  if (options.page !== undefined) writePage(options.page, results);
}

try {
  await run();
} catch (error) {
  console.error(error instanceof Error ? `bench: ${error.message}` : error);
  process.exit(1);
}
