/**
 * Makes archives that include Node, for systems without it:
 *
 *     npm run archives                  # all, into archives/
 *     npm run archives -- linux-x64     # one
 *
 * Node's binary comes from its npm package, and is checked against the integrity in `node-binaries.json`. Builds are
 * reproducible: names are sorted, and dates and owners are fixed.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DATE, fixedTar } from './fixed-tar.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CACHE = join(ROOT, 'node_modules/.cache/node-binaries');

interface Binaries {
  readonly version: string;
  /** By the system in the archive's name: the npm package, its integrity (SRI), and the binary in it. */
  readonly systems: Readonly<Record<string, { package: string; integrity: string; file: string }>>;
}

export const BINARIES = JSON.parse(
  readFileSync(new URL('node-binaries.json', import.meta.url), 'utf8'),
) as Binaries;

export const UNIX_LAUNCHER = `#!/bin/sh
# Runs bearerd with the Node beside it, wherever this folder is, also by a link to this file.
file=$0
case $file in */*) ;; *) file=./$file ;; esac
while [ -h "$file" ]; do
  link=$(readlink "$file")
  case $link in /*) file=$link ;; *) file=\${file%/*}/$link ;; esac
done
folder=\${file%/*}
exec "$folder/runtime/node" "$folder/app/dist/main.js" "$@"
`;
const WINDOWS_LAUNCHER = '@"%~dp0runtime\\node.exe" "%~dp0app\\dist\\main.js" %*\r\n';

/** The README for an archive, where the linked files are in `app/`. */
export function archiveReadme(text: string): string {
  return text.replaceAll(/\]\((?!https?:|#|LICENSE)/g, '](app/');
}

/**
 * @param systems names of `BINARIES.systems`
 * @param tarball of the npm package; made from these sources if undefined
 * @returns the paths of the archives
 */
export function makeArchives(systems: readonly string[], out: string, tarball?: string): string[] {
  const unknown = systems.find((name) => !Object.hasOwn(BINARIES.systems, name));
  if (unknown !== undefined)
    throw new Error(`unknown system ${unknown}; use one of ${Object.keys(BINARIES.systems).join(', ')}`);
  const work = mkdtempSync(join(tmpdir(), 'bearerd-archives-'));
  try {
    const app = unpacked(work, tarball ?? pack(work));
    const { version } = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as { version: string };
    mkdirSync(out, { recursive: true });
    return systems.map((system) => archive(system, `bearerd-${version}-${system}`, { app, work, out }));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function pack(work: string): string {
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', work], { cwd: ROOT });
  return join(work, readdirSync(work).find((name) => name.endsWith('.tgz'))!);
}

function unpacked(work: string, tarball: string): string {
  execFileSync('tar', ['-xzf', tarball, '-C', work]);
  return join(work, 'package');
}

interface Places {
  readonly app: string;
  readonly work: string;
  readonly out: string;
}

function archive(system: string, name: string, { app, work, out }: Places): string {
  const folder = join(work, name);
  const isWindows = system.startsWith('win-');
  mkdirSync(join(folder, 'runtime'), { recursive: true });
  cpSync(app, join(folder, 'app'), { recursive: true });
  copyFileSync(join(app, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'README.md'), archiveReadme(readFileSync(join(app, 'README.md'), 'utf8')));
  copyFileSync(join(app, 'dist/THIRD-PARTY.txt'), join(folder, 'THIRD-PARTY.txt'));
  const node = join(folder, 'runtime', isWindows ? 'node.exe' : 'node');
  copyFileSync(nodeFor(system), node);
  // The package for Windows has no licence file; the text is the same for all systems.
  copyFileSync(join(dirname(nodeFor('linux-x64')), '../LICENSE'), join(folder, 'runtime/LICENSE'));
  const launcher = join(folder, isWindows ? 'bearerd.cmd' : 'bearerd');
  writeFileSync(launcher, isWindows ? WINDOWS_LAUNCHER : UNIX_LAUNCHER);
  settle(folder, new Set([node, launcher]));
  const file = join(out, `${name}${isWindows ? '.zip' : '.tar.gz'}`);
  rmSync(file, { force: true });
  (isWindows ? zip : fixedTar)(work, name, file);
  return file;
}

/** Sets fixed modes and dates, independent of umask and time. */
function settle(path: string, executable: ReadonlySet<string>): void {
  const entries = readdirSync(path, { withFileTypes: true });
  for (const entry of entries) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) settle(inner, executable);
    else chmodSync(inner, executable.has(inner) ? 0o755 : 0o644);
    lutimesSync(inner, DATE, DATE);
  }
  chmodSync(path, 0o755);
  lutimesSync(path, DATE, DATE);
}

function zip(work: string, name: string, file: string): void {
  const names = readdirSync(join(work, name), { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(work.length + 1))
    .sort();
  const env = { ...process.env, TZ: 'UTC' };
  execFileSync('zip', ['-X', '-9', '-q', '-D', file, '-@'], {
    cwd: work,
    env,
    input: `${names.join('\n')}\n`,
  });
}

/** The path of Node's binary; downloaded once. */
function nodeFor(system: string): string {
  const { package: name, integrity, file } = BINARIES.systems[system]!;
  const folder = join(CACHE, `${name}-${BINARIES.version}`);
  if (!existsSync(folder)) {
    mkdirSync(CACHE, { recursive: true });
    const work = mkdtempSync(join(CACHE, 'fetched-'));
    try {
      const args = ['pack', `${name}@${BINARIES.version}`, '--silent', '--pack-destination', work];
      execFileSync('npm', args, { cwd: work });
      const tarball = join(work, readdirSync(work).find((each) => each.endsWith('.tgz'))!);
      const seen = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
      if (seen !== integrity)
        throw new Error(`${name}@${BINARIES.version} does not match its integrity in node-binaries.json`);
      execFileSync('tar', ['-xzf', tarball, '-C', work]);
      cpSync(join(work, 'package'), folder, { recursive: true });
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
  }
  return join(folder, file);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const given = process.argv.slice(2);
  try {
    const systems = given.length > 0 ? given : Object.keys(BINARIES.systems);
    for (const file of makeArchives(systems, resolve(ROOT, 'archives'))) console.log(file.slice(ROOT.length));
  } catch (error) {
    process.stderr.write(`archives: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
