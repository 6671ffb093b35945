/**
 * Runs all tests at full length, also those that `.taprc` excludes from `npm test`, on several versions of Node:
 * `npm run test:all`, or `npm run test:all -- 26.10.0`. The versions are the lowest and the newest of each release line that
 * package.json supports; each is downloaded. With `--others` it skips the present version, and runs only tests that depend
 * on Node, as `npm test` runs them: with the bundle, and a tenth of the random cases.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TAP = fileURLToPath(import.meta.resolve('tap')).replace(/dist.*/, 'dist/esm/run.mjs');

/** Tests of code that uses Node's network, streams, processes and V8, and of the package. Others don't depend on Node. */
const OF_NODE = [
  ...['app', 'cli', 'forward', 'integrations', 'library', 'listen', 'login', 'node', 'upstream'].map(
    (folder) => `test/${folder}/**/*.test.ts`,
  ),
  'test/bundle.test.ts',
  'test/package.test.ts',
];

const AS_NPM_TEST = { TESTED_PROGRAM: 'dist/main.js', TESTED_SHARE: '0.1' };

/** Files that are named run even if `.taprc` excludes them. */
const ALL = ['test/**/*.test.ts'];

/** The lowest and the newest version of each supported release line. */
function promised(): string[] {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const view = ['view', '--json', `node@${engines.node}`, 'version'];
  const versions = JSON.parse(execFileSync('npm', view, { cwd: ROOT, encoding: 'utf8' })) as string[];
  const lines = Object.values(Object.groupBy(versions, (version) => version.split('.')[0] as string));
  return lines.flatMap((line = []) => [...new Set([line[0] as string, line.at(-1) as string])]);
}

function run(version: string, files: readonly string[], settings: NodeJS.ProcessEnv): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'bearerd-node-'));
  try {
    const npm = ['install', '--no-audit', '--no-fund', '--no-save', '--prefix', folder, `node@${version}`];
    if (spawnSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0) return false;
    const node = join(folder, 'node_modules/node/bin/node');
    const env = { ...process.env, ...settings, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
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
    console.log(`Node ${version}: skipped, the present one`);
    continue;
  }
  const passed = values.others ? run(version, OF_NODE, AS_NPM_TEST) : run(version, ALL, {});
  console.log(`Node ${version}: ${passed ? 'passed' : 'FAILED'}`);
  if (!passed) process.exitCode = 1;
}
