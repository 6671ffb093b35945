import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const DEBIAN = 'buildah podman runc catatonit mmdebstrap';
/** Users other than root often lack sbin on the PATH. */
const FOLDERS = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];

/** Builds and runs images in its own store, without a daemon. The machine's images stay unchanged. */
export interface Engine {
  buildah(...args: string[]): string;
  podman(...args: string[]): string;
}

/** The paths of programs. @throws Error that names the missing ones */
export function located<Name extends string>(
  names: readonly Name[],
  folders: readonly string[] = FOLDERS,
): Record<Name, string> {
  const paths = names.map((name) =>
    folders.map((folder) => join(folder, name)).find((path) => existsSync(path)),
  );
  const missing = names.filter((_, index) => paths[index] === undefined);
  if (missing.length > 0)
    throw new Error(
      `${missing.join(', ')}: not there. On Debian: apt-get install --no-install-recommends ${DEBIAN}`,
    );
  return Object.fromEntries(names.map((name, index) => [name, paths[index]])) as Record<Name, string>;
}

/** @throws Error that names missing programs */
export function engineIn(folder: string): Engine {
  const programs = located(['buildah', 'podman', 'runc']);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'containers.conf'), containersConf(programs.runc));
  writeFileSync(join(folder, 'storage.conf'), storageConf(folder));
  const env = {
    ...process.env,
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    BUILDAH_ISOLATION: 'chroot',
  };
  const run =
    (program: string) =>
    (...args: string[]) =>
      execFileSync(program, args, {
        env,
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
        stdio: ['ignore', 'pipe', 'pipe'],
      }).trim();
  return { buildah: run(programs.buildah), podman: run(programs.podman) };
}

/** runc, since crun needs one kind of cgroups; cgroupfs, since there may be no systemd; limits within our own. */
function containersConf(runc: string): string {
  const limit = (name: string) =>
    new RegExp(`^${name} +\\S+ +(\\S+)`, 'm').exec(readFileSync('/proc/self/limits', 'utf8'))![1]!;
  const number = (name: string, most: number) => Math.min(Number(limit(name)) || most, most);
  const files = number('Max open files', 65_536);
  const processes = number('Max processes', 4_096);
  return [
    '[containers]',
    `default_ulimits = ["nofile=${files}:${files}", "nproc=${processes}:${processes}"]`,
    '[engine]',
    'runtime = "runc"',
    'cgroup_manager = "cgroupfs"',
    'events_logger = "file"',
    '[engine.runtimes]',
    `runc = ["${runc}"]`,
    '',
  ].join('\n');
}

function storageConf(folder: string): string {
  const driver = process.getuid?.() === 0 ? 'overlay' : 'vfs';
  return `[storage]\ndriver = "${driver}"\ngraphroot = "${join(folder, 'graph')}"\nrunroot = "${join(folder, 'run')}"\n`;
}
