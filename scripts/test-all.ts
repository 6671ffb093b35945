/**
 * Runs all tests at their whole length, those that `.taprc` keeps out of `npm test` too, on each version of Node that
 * counts: `npm run test:all`, or `npm run test:all -- 22.22.0`.
 * They are the lowest that package.json promises and the newest that there is; each is fetched into a folder of its own.
 * With `--others`, those that aren't the present one, by which `npm test` runs; and of the tests those that touch Node.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TAP = fileURLToPath(import.meta.resolve('tap')).replace(/dist.*/, 'dist/esm/run.mjs');

/** The rooms that call Node's network, streams, processes and V8, and what users install. The rest is the same on each version. */
const TOUCHING_NODE = [
  ...['app', 'cli', 'forward', 'integrations', 'library', 'listen', 'login', 'node', 'upstream'].map(
    (room) => `test/${room}/**/*.test.ts`,
  ),
  'test/bundle.test.ts',
  'test/package.test.ts',
];

/** Named, since `npm test` leaves some out. */
const ALL = ['test/**/*.test.ts'];

/** `26.10.0` of `>=26.10.0`, the lowest of each further line, and what is newest; each once. */
function promised(): string[] {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const newest = execFileSync('npm', ['view', 'node', 'version'], { cwd: ROOT, encoding: 'utf8' }).trim();
  return [...new Set([...(engines.node.match(/\d+\.\d+\.\d+/g) ?? []), newest])];
}

function run(version: string, files: readonly string[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'bearerd-node-'));
  try {
    const npm = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', folder, `node@${version}`];
    if (spawnSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) return false;
    const node = join(folder, 'node_modules/node/bin/node');
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
    const tap = [TAP, 'run', '--disable-coverage', '--allow-empty-coverage', '--reporter=terse', ...files];
    return spawnSync(node, tap, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { others: { type: 'boolean', default: false } },
});
for (const version of positionals.length > 0 ? positionals : promised()) {
  if (values.others && version === process.versions.node) {
    console.log(`Node ${version}: the present one`);
    continue;
  }
  const passed = run(version, values.others ? TOUCHING_NODE : ALL);
  console.log(`Node ${version}: ${passed ? 'passed' : 'FAILED'}`);
  if (!passed) process.exitCode = 1;
}
