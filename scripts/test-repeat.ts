/**
 * Runs `npm test` again and again, to show that it never fails by chance: `npm run test:repeat`, or
 * `npm run test:repeat -- 6` for another count than 30. Of six runs two are plain, two run beside a busy loop for each
 * core, one runs the files in the opposite order, and one has the lowest CPU priority. Each run prints one line with tap's
 * totals. After a failure tap's output stays, and the exit code is 1.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TAP = fileURLToPath(import.meta.resolve('tap')).replace(/dist.*/, 'dist/esm/run.mjs');
const OUTPUTS = join(ROOT, '.tap/repeated');

type Kind = 'plain' | 'beside busy loops' | 'opposite order' | 'low priority';
const TURN: Kind[] = [
  'plain',
  'beside busy loops',
  'opposite order',
  'plain',
  'beside busy loops',
  'low priority',
];

/** tap sorts its files by `localeCompare`, and passes its own options on to each of them. */
const OPPOSITE = `data:text/javascript,${encodeURIComponent(`
  const { localeCompare } = String.prototype;
  String.prototype.localeCompare = function (...args) { return -localeCompare.apply(this, args); };
  process.execArgv.length = 0;
`)}`;

function busyLoops(): Worker[] {
  return Array.from({ length: availableParallelism() }, () => new Worker('for (;;);', { eval: true }));
}

/** What package.json has for `npm test`, without `tap`: one process fewer, whose priority and order can be set. */
function testArgs(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: { test: string };
  };
  return scripts.test.split(' ').slice(1);
}

/** Says whether all passed. */
async function run(index: number, kind: Kind): Promise<boolean> {
  const output = join(OUTPUTS, `${index}.tap`);
  const loops = kind === 'beside busy loops' ? busyLoops() : [];
  const started = performance.now();
  const node = kind === 'opposite order' ? ['--import', OPPOSITE] : [];
  const tap = spawn(
    process.execPath,
    [...node, TAP, ...testArgs(), '--reporter=silent', `--output-file=${output}`],
    { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  if (kind === 'low priority' && tap.pid) setPriority(tap.pid, constants.priority.PRIORITY_LOW);
  const [status] = (await once(tap, 'close')) as [number | null];
  await Promise.all(loops.map((loop) => loop.terminate()));
  const lines = existsSync(output) ? readFileSync(output, 'utf8').slice(-2000) : '';
  const totals = /^# \{ total:.*\}$/m.exec(lines)?.[0];
  const passed = status === 0 && totals !== undefined;
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(
    `${index}\t${kind}\t${seconds} s\t${passed ? 'passed' : `FAILED: see ${output}`}\t${totals ?? 'no totals'}`,
  );
  if (passed) rmSync(output);
  return passed;
}

const count = Number(process.argv[2] ?? 30);
if (!(count >= 1)) throw new Error(`the number of runs is at least 1, not ${process.argv[2]}`);
if (spawnSync('npm', ['run', '--silent', 'pretest'], { cwd: ROOT, stdio: 'inherit' }).status !== 0)
  process.exit(1);
mkdirSync(OUTPUTS, { recursive: true });
let failed = 0;
for (let index = 1; index <= count; index += 1) {
  const kind = TURN[(index - 1) % TURN.length] as Kind;
  if (!(await run(index, kind))) failed += 1;
}
console.log(`${count} runs, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
