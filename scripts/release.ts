/**
 * Makes all files of a release from a tag:
 *
 *     node scripts/release.ts v1.2.3 --repository https://git.example.com/us/bearerd --out release
 *
 * The tarball, archives with Node, the chart, the image, bills of materials, the VEX (what vulnerabilities of bundled
 * packages mean), the release notes and the checksums of all. The same tag gives the same bytes. It publishes nothing:
 * `release.yml` does. `--without image`, `--without chart` and `--without archives` leave out a part.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BINARIES, makeArchives } from './archives.ts';
import { clusterTool } from './cluster-tools.ts';
import { fixedTar } from './fixed-tar.ts';
import { BASE, buildImage, exportImage, revisionOf } from './image/build.ts';
import { engineIn } from './image/engine.ts';
import { exploitability, STATEMENTS } from './vex.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Manifest {
  readonly version: string;
  readonly [field: string]: unknown;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      repository: { type: 'string' },
      out: { type: 'string', default: 'release' },
      without: { type: 'string', multiple: true, default: [] },
    },
  });
  try {
    release({ ...values, tag: positionals[0] ?? '', out: resolve(values.out) });
  } catch (error) {
    process.stderr.write(`release: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

interface Release {
  readonly tag: string;
  readonly repository?: string;
  readonly out: string;
  readonly without: readonly string[];
}

function release({ tag, repository, out, without }: Release): void {
  const unknown = without.filter((part) => !['image', 'chart', 'archives'].includes(part));
  if (unknown.length > 0)
    throw new Error(`there is no part ${unknown.join(', ')}: use image, chart or archives`);
  const staged = mkdtempSync(join(tmpdir(), 'bearerd-release-'));
  try {
    exportTag(tag, staged);
    const text = readFileSync(join(staged, 'package.json'), 'utf8');
    const manifest = withHome(JSON.parse(text) as Manifest, repository);
    if (`v${manifest.version}` !== tag) throw new Error(`${tag} is the tag of version ${manifest.version}`);
    const notes = notesOf(readFileSync(join(staged, 'CHANGELOG.md'), 'utf8'), manifest.version);
    // With equal lock files, the installed packages are those of the tag.
    if (
      readFileSync(join(staged, 'package-lock.json'), 'utf8') !==
      readFileSync(join(ROOT, 'package-lock.json'), 'utf8')
    )
      throw new Error(`the lock file here is not that of ${tag}: check it out and run npm ci`);
    symlinkSync(join(ROOT, 'node_modules'), join(staged, 'node_modules'));
    execFileSync(process.execPath, ['scripts/build.ts'], { cwd: staged, stdio: 'inherit' });
    writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    mkdirSync(out, { recursive: true });
    if (readdirSync(out).length > 0) throw new Error(`${out} is not empty`);
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', out], { cwd: staged });
    const name = join(out, `bearerd-${manifest.version}`);
    const bill = readFileSync(join(staged, 'dist/sbom.cdx.json'), 'utf8');
    writeFileSync(`${name}.cdx.json`, bill);
    writeFileSync(`${name}.vex.cdx.json`, exploitability(STATEMENTS, bill));
    if (!without.includes('archives')) makeArchives(Object.keys(BINARIES.systems), out, `${name}.tgz`);
    if (!without.includes('chart')) packChart(staged, manifest.version, out);
    if (!without.includes('image')) packImage(staged, tag, name);
    writeFileSync(join(out, 'NOTES.md'), notes);
    writeFileSync(join(out, 'SHA256SUMS'), checksums(out));
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** Renamed, since helm would give it the name of the npm tarball, and repacked, since helm writes the present time. */
function packChart(staged: string, version: string, out: string): void {
  const helm = clusterTool('helm');
  if (helm === undefined) throw new Error('there is no helm: npm run cluster-tools, or --without chart');
  execFileSync(helm, ['package', join(staged, 'deploy/helm/bearerd'), '--destination', staged], {
    stdio: 'pipe',
  });
  const unpacked = join(staged, 'chart');
  mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', join(staged, `bearerd-${version}.tgz`), '-C', unpacked]);
  fixedTar(unpacked, 'bearerd', join(out, `bearerd-chart-${version}.tgz`));
}

function packImage(staged: string, tag: string, file: string): void {
  const store = join(ROOT, 'node_modules/.cache/release-images');
  const engine = engineIn(store);
  const name = `localhost/bearerd:${tag.slice(1)}`;
  engine.podman('pull', '--quiet', BASE);
  // The .dockerignore excludes node_modules, which is a symbolic link here.
  buildImage(engine, { folder: staged, name, ...revisionOf(ROOT, `refs/tags/${tag}`) });
  exportImage(engine, name, file);
}

function exportTag(tag: string, folder: string): void {
  if (!/^v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(tag)) throw new Error('name a tag, such as v1.2.3');
  let archive: Buffer;
  try {
    const args = ['archive', '--format=tar', `refs/tags/${tag}`];
    archive = execFileSync('git', args, { cwd: ROOT, maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch {
    throw new Error(`there is no tag ${tag}`);
  }
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
}

/** The manifest with the URLs of the repository, in place of the placeholders in the sources. */
export function withHome(manifest: Manifest, repository: string | undefined): Manifest {
  const url = repository === undefined ? null : URL.parse(repository);
  if (url?.protocol !== 'https:' || url.hostname.endsWith('.invalid'))
    throw new Error('name the repository of the sources: --repository https://…');
  const home = url.href.replace(/(?:\.git)?\/?$/, '');
  return {
    ...manifest,
    homepage: `${home}#readme`,
    bugs: { url: `${home}/issues` },
    repository: { type: 'git', url: `git+${home}.git` },
  };
}

/** The section of one version in the changelog. */
export function notesOf(changelog: string, version: string): string {
  const begin = changelog.indexOf(`\n## [${version}]`);
  if (begin === -1) throw new Error(`CHANGELOG.md says nothing of ${version}`);
  const rest = changelog.slice(begin + 1);
  const end = rest.indexOf('\n## ', 1);
  return `${(end === -1 ? rest : rest.slice(0, end)).trim()}\n`;
}

function checksums(folder: string): string {
  const sum = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return readdirSync(folder)
    .sort()
    .map((name) => `${sum(name)}  ${name}\n`)
    .join('');
}
