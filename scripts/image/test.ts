/**
 * Builds the image and runs it like the README, Kubernetes and Podman: `npm run test:image`.
 *
 * By default the base is a stand-in made of Debian's packages and npm's Node; with --pull it is the official image from
 * its registry. Docker is not needed. The images stay in node_modules/.cache.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BASE, type Build, buildImage, exportImage, revisionOf } from './build.ts';
import { CHECKS, CONTAINERS, type Setting } from './checks.ts';
import { type Engine, engineIn } from './engine.ts';
import { makeStandIn } from './stand-in.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STORE = join(ROOT, 'node_modules/.cache/images');
const IMAGE = 'localhost/bearerd:test';

const { values } = parseArgs({ options: { pull: { type: 'boolean', default: false } } });
process.exitCode = await main().catch((error: Error & { stdout?: string }) => {
  // The message holds stderr.
  process.stderr.write(`test:image: ${error.message}\n${error.stdout ?? ''}`);
  return 1;
});

async function main(): Promise<number> {
  const engine = engineIn(STORE);
  const work = mkdtempSync(join(tmpdir(), 'bearerd-image-'));
  try {
    makeBase(engine);
    const build = { folder: ROOT, name: IMAGE, ...revisionOf(ROOT) };
    const began = Date.now();
    buildImage(engine, build);
    const figures = { 'built in': `${((Date.now() - began) / 1000).toFixed(0)} s` };
    return await runChecks({ engine, image: IMAGE, work, figures }, build);
  } finally {
    for (const name of CONTAINERS) engine.podman('rm', '--force', '--ignore', '--time', '0', name);
    rmSync(work, { recursive: true, force: true });
  }
}

function makeBase(engine: Engine): void {
  if (values.pull) engine.podman('pull', '--quiet', BASE);
  else if (engine.podman('images', '--quiet', BASE) === '') {
    console.log(`# ${BASE} is a stand-in of Debian's packages and npm's Node`);
    makeStandIn(engine, BASE);
  }
}

async function runChecks(setting: Setting, build: Build): Promise<number> {
  let failed = 0;
  const all = {
    ...CHECKS,
    'an archive of the image is made, with its bill of materials': archived,
    'a second build has the same files, modes and times': (setting: Setting) => rebuilt(setting, build),
  };
  for (const [statement, check] of Object.entries(all)) {
    const fault = await check(setting).catch((error: Error) => error);
    console.log(`${fault === undefined ? 'ok' : 'not ok'} - ${statement}`);
    if (fault === undefined) continue;
    failed += 1;
    console.log(fault.message.replaceAll(/^/gm, '  '));
  }
  for (const [name, figure] of Object.entries(setting.figures)) console.log(`# ${name}: ${figure}`);
  console.log(`${Object.keys(all).length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

async function archived({ engine, image, work }: Setting): Promise<void> {
  exportImage(engine, image, join(work, 'bearerd'));
  for (const ending of ['image.tar.gz', 'image.cdx.json'])
    if (!existsSync(join(work, `bearerd.${ending}`))) throw new Error(`there is no ${ending}`);
}

/** Compares the hashes of the layers. */
async function rebuilt({ engine, image }: Setting, build: Build): Promise<void> {
  const name = `${image}-anew`;
  buildImage(engine, { ...build, name });
  const layers = (of: string) =>
    JSON.parse(engine.podman('image', 'inspect', of))[0].RootFS.Layers as string[];
  assert.deepEqual(layers(name), layers(image));
  engine.podman('rmi', '--force', name);
}
