/**
 * Runs the tests on other versions of Node than the project's own: `npm run test:all`, or `npm run test:all -- 22.22.0`.
 * The first is the lowest that package.json promises; each is fetched into a folder of its own.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TAP = fileURLToPath(import.meta.resolve('tap')).replace(/dist.*/, 'dist/esm/run.mjs');

/** `26.10.0` of `>=26.10.0`, the lowest of each further line, and what is newest. */
function promised(): string[] {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  return [...(engines.node.match(/\d+\.\d+\.\d+/g) ?? []), 'latest'];
}

function run(version: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'bearerd-node-'));
  try {
    const npm = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', folder, `node@${version}`];
    if (spawnSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) return false;
    const node = join(folder, 'node_modules/node/bin/node');
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
    const tap = [TAP, 'run', '--disable-coverage', '--allow-empty-coverage', '--reporter=terse'];
    return spawnSync(node, tap, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const versions = process.argv.length > 2 ? process.argv.slice(2) : promised();
for (const version of versions) {
  const passed = run(version);
  console.log(`Node ${version}: ${passed ? 'passed' : 'FAILED'}`);
  if (!passed) process.exitCode = 1;
}
