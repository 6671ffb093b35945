import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageBill } from './bill.ts';
import type { Engine } from './engine.ts';

/** The base image of the Dockerfile. */
export const BASE = 'docker.io/library/node:26-bookworm-slim';

export interface Build {
  /** The folder of the Dockerfile. */
  readonly folder: string;
  readonly name: string;
  readonly revision: string;
  /** The time of the image and its files, in epoch seconds: that of the revision, so that builds are reproducible. */
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
 * Builds the image. The base image must be in the store. The format is Docker's, since that of the OCI has no health check.
 * Without a cache: cached steps would keep their time.
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

/** Writes the image as an archive for `podman load` and `docker load`, and its bill of materials beside it. */
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
    // biome-ignore lint/suspicious/noTemplateCurlyInString: The syntax of dpkg-query.
    debian: run('dpkg-query', '--show', '--showformat', '${Package} ${Version} ${Architecture}\\n'),
  });
}
