import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import t from 'tap';
import { bundle } from '../scripts/bundle.ts';
import { BASE } from '../scripts/image/build.ts';
import { MAIN } from './support/cli.ts';
import { plainNode } from './support/plain-node.ts';

// package.json has the supported versions of Node. Everything else that names versions must agree.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
/** The lowest supported version of each release line, such as `[24, 18]`; the last line is open. */
const lowest = [...engines.node.matchAll(/(\d+)\.(\d+)\.0/g)].map(
  ([, major, minor]) => [Number(major), Number(minor)] as const,
);
const [[firstMajor, firstMinor], [lastMajor, lastMinor]] = lowest as [
  readonly [number, number],
  readonly [number, number],
];
const WORDS = `${firstMajor}.${firstMinor} or later of ${firstMajor}, or ${lastMajor}.${lastMinor} or later`;

t.test('package.json supports one older release line and all later ones', async (t) => {
  t.equal(engines.node, `^${firstMajor}.${firstMinor}.0 || >=${lastMajor}.${lastMinor}.0`);
});

/** Runs the program as if Node had this version. */
function asNode(version: string) {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const [node, args] = plainNode([
    '--import',
    `data:text/javascript,${encodeURIComponent(code)}`,
    MAIN,
    '--version',
  ]);
  return spawnSync(node, args, { encoding: 'utf8', env: {} });
}

t.test('an unsupported Node is refused with one line', async (t) => {
  for (const version of [
    '18.20.8',
    '20.20.2',
    '22.22.0',
    `${firstMajor - 1}.99.9`,
    `${firstMajor}.${firstMinor - 1}.9`,
    `${firstMajor + 1}.99.9`,
    `${lastMajor}.${lastMinor - 1}.9`,
  ]) {
    const { status, stdout, stderr } = asNode(version);
    t.same([status, stdout, stderr], [1, '', `bearerd: needs Node ${WORDS}; this is ${version}\n`]);
  }
});

t.test('a supported Node runs the program', async (t) => {
  for (const version of [
    ...lowest.map(([major, minor]) => `${major}.${minor}.0`),
    `${firstMajor}.99.9`,
    `${lastMajor + 1}.0.0`,
  ]) {
    const { status, stdout } = asNode(version);
    t.match([status, stdout], [0, /^\d+\.\d+\.\d+\n$/], version);
  }
});

t.test('an old Node can parse the file that refuses it, and loads no other file before', async (t) => {
  const folder = t.testdir();
  const isBundled = MAIN.endsWith('.js');
  if (!isBundled) await bundle(folder);
  const text = readFileSync(isBundled ? MAIN : join(folder, 'main.js'), 'utf8');
  t.notMatch(text, /(?:^|[;\n])(?:import|export)[\s{*"']/, 'the file has no static import');
  const options = { format: 'esm', minifyWhitespace: true, minifySyntax: true } as const;
  const as = async (target: string) => (await transform(text, { ...options, target })).code;
  t.equal(await as('node18'), await as('esnext'), 'the file has only syntax of Node 18');
});

t.test('the documents name the supported versions of Node', async (t) => {
  for (const name of ['README.md', 'docs/library.md', 'CHANGELOG.md', 'docs/decisions/packaging.md'])
    t.ok(read(name).replaceAll(/\s+/g, ' ').includes(`Node ${WORDS}`), name);
});

t.test('the image and the archives have a supported Node', async (t) => {
  t.equal(/^ARG NODE_IMAGE=(.*)$/m.exec(read('Dockerfile'))?.[1], BASE);
  t.match(BASE, new RegExp(`/node:${lastMajor}-`));
  const { version } = JSON.parse(read('scripts/node-binaries.json')) as { version: string };
  const [major, minor] = version.split('.').map(Number) as [number, number];
  t.ok(major > lastMajor || (major === lastMajor && minor >= lastMinor), version);
});
