import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageBill } from './bill.ts';
import type { Engine } from './engine.ts';

/** What the Dockerfile begins with. */
export const BASE = 'docker.io/library/node:26-bookworm-slim';

export interface Build {
  /** With the Dockerfile. */
  readonly folder: string;
  readonly name: string;
  readonly revision: string;
  /** The time that the image and its files say, in seconds since 1970: that of the revision, so that it can be built again. */
  readonly createdS: number;
}

export function revisionOf(repository: string, ref = 'HEAD'): Pick<Build, 'revision' | 'createdS'> {
  const args = ['log', '-1', '--format=%H %ct', ref];
  const said = execFileSync('git', args, { cwd: repository, encoding: 'utf8' });
  const [revision = '', createdS] = said.trim().split(' ');
  return { revision, createdS: Number(createdS) };
}

const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;

/**
 * The base has to be there. In the format of Docker, since that of the OCI knows no health check. Without the steps of an earlier
 * build: they would keep its time.
 */
export function buildImage(engine: Engine, { folder, name, revision, createdS }: Build): void {
  const args = [`VERSION=${versionIn(folder)}`, `REVISION=${revision}`].flatMap((arg) => [
    '--build-arg',
    arg,
  ]);
  engine.buildah(
    'bud',
    '--quiet',
    '--format',
    'docker',
    '--pull-never',
    '--no-cache',
    '--timestamp',
    String(createdS),
    ...args,
    '--tag',
    name,
    folder,
  );
}

/** The image as an archive that `podman load` and `docker load` take, and its bill of materials beside it. */
export function exportImage(engine: Engine, name: string, file: string): void {
  engine.buildah('push', '--quiet', name, `docker-archive:${file}.image.tar:${name}`);
  execFileSync('gzip', ['--no-name', `${file}.image.tar`]);
  writeFileSync(`${file}.image.cdx.json`, billOf(engine, name));
}

function billOf(engine: Engine, name: string): string {
  const run = (program: string, ...args: string[]) =>
    engine.podman(
      'run',
      '--rm',
      '--pull',
      'never',
      '--network',
      'none',
      '--entrypoint',
      program,
      name,
      ...args,
    );
  return imageBill({
    bundle: run('cat', '/app/dist/sbom.cdx.json'),
    node: run('node', '--version').slice(1),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own.
    debian: run('dpkg-query', '--show', '--showformat', '${Package} ${Version} ${Architecture}\\n'),
  });
}
