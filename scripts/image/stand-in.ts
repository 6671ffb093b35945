import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Engine, located } from './engine.ts';

const NODE = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';
const PACKAGES = 'ca-certificates,libatomic1,libstdc++6';

/**
 * Makes a base image for machines that cannot pull the official one: with the same Debian packages, and Node from npm. It
 * trusts the CAs of this machine, since npm runs in it and may need them.
 */
export function makeStandIn(engine: Engine, name: string): void {
  const { mmdebstrap } = located(['mmdebstrap']);
  const work = mkdtempSync(join(tmpdir(), 'bearerd-base-'));
  try {
    const root = join(work, 'root.tar');
    execFileSync(mmdebstrap, ['--quiet', '--variant=minbase', `--include=${PACKAGES}`, 'bookworm', root]);
    const layer = join(work, 'layer');
    addNode(layer);
    const container = engine.buildah('from', 'scratch');
    engine.buildah('add', '--quiet', container, root, '/');
    engine.buildah('add', '--quiet', container, layer, '/');
    engine.buildah(
      'run',
      container,
      '--',
      'sh',
      '-c',
      'groupadd --gid 1000 node && useradd --uid 1000 --gid node --create-home node',
    );
    const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    engine.buildah(
      'config',
      '--env',
      path,
      '--env',
      `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`,
      '--cmd',
      'node',
      container,
    );
    engine.buildah('commit', '--quiet', '--rm', container, name);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function addNode(layer: string): void {
  const bin = join(layer, 'usr/local/bin');
  mkdirSync(bin, { recursive: true });
  cpSync(NODE, join(bin, 'node'));
  const program = execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim();
  const npm = resolve(dirname(realpathSync(program)), '..');
  cpSync(npm, join(layer, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(bin, 'npm'));
  mkdirSync(join(layer, dirname(AUTHORITIES)), { recursive: true });
  if (existsSync(AUTHORITIES)) cpSync(AUTHORITIES, join(layer, AUTHORITIES), { dereference: true });
}
