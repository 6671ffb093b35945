/**
 * Runs all tests at full length, also those that `.taprc` excludes from `npm test`, on several versions of Node:
 * `npm run test:all`, or `npm run test:all -- 26.10.0`. The versions are the lowest and the newest of each release line that
 * package.json supports; each is downloaded. With `--others` it skips the present version, and runs only tests that depend
 * on Node, on the lowest version of a line a few of them, as `npm test` runs them: with the bundle, and a tenth of the
 * random cases.
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

/** A few of them, for the lowest version of a line: what it lacks shows in a start, or in Node's network and streams. */
const FEW_OF_NODE = [
  ...['library', 'listen', 'node', 'upstream'].map((folder) => `test/${folder}/**/*.test.ts`),
  'test/app/{forwards,http2,secures,tunnels}.test.ts',
  'test/cli/serving.test.ts',
  'test/bundle.test.ts',
  'test/package.test.ts',
];

const AS_NPM_TEST = { TESTED_PROGRAM: 'dist/main.js', TESTED_SHARE: '0.1' };

/** Files that are named run even if `.taprc` excludes them. */
const ALL = ['test/**/*.test.ts'];

interface Version {
  readonly name: string;
  /** The newest of its release line. */
  readonly isNewest: boolean;
}

/** The lowest and the newest published version of each supported release line. */
function promised(): Version[] {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const view = ['view', '--json', `node@${engines.node}`, 'version'];
  const names = JSON.parse(execFileSync('npm', view, { cwd: ROOT, encoding: 'utf8' })) as string[];
  const lines = Object.values(Object.groupBy(names, (name) => name.split('.')[0] as string)) as string[][];
  return lines.flatMap((line) =>
    [...new Set([line[0] as string, line.at(-1) as string])].map((name) => ({
      name,
      isNewest: name === line.at(-1),
    })),
  );
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
const versions = positionals.length > 0 ? positionals.map((name) => ({ name, isNewest: true })) : promised();
for (const { name, isNewest } of versions) {
  if (values.others && name === process.versions.node) {
    console.log(`Node ${name}: skipped, the present one`);
    continue;
  }
  const passed = values.others
    ? run(name, isNewest ? OF_NODE : FEW_OF_NODE, AS_NPM_TEST)
    : run(name, ALL, {});
  console.log(`Node ${name}: ${passed ? 'passed' : 'FAILED'}`);
  if (!passed) process.exitCode = 1;
}
