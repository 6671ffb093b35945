/**
 * Writes the version of package.json into all other files that have it, and dates the changelog. `npm version` calls it
 * between its change of package.json and its commit.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The files, and the pattern of the version in each. */
export const PLACES: Readonly<Record<string, RegExp>> = {
  Dockerfile: /(?<=^ARG VERSION=)\S+/gm,
  'README.md': /(?<=bearerd-)\d+\.\d+\.\d+(?=\.tgz)/g,
  'deploy/helm/bearerd/Chart.yaml': /(?<=^(?:version|appVersion): )\S+/gm,
  'deploy/helm/your-app/Chart.yaml': /(?<=^ {4}version: )\S+/gm,
  'deploy/kubernetes/component/sidecar.yaml': /(?<=\/bearerd:)\S+/g,
  'deploy/kubernetes/deployment.yaml': /(?<=\/bearerd:)\S+/g,
  'deploy/kubernetes/example/kustomization.yaml': /(?<=newTag: )\S+/g,
  'deploy/kubernetes/job.yaml': /(?<=\/bearerd:)\S+/g,
  'deploy/kubernetes/standalone.yaml': /(?<=\/bearerd:)\S+/g,
  'docs/agents.md': /(?<=\/bearerd:)\S+/g,
  'docs/kubernetes.md': /(?<=\/bearerd:)\d+\.\d+\.\d+/g,
  'docs/start/sidecar.md': /(?<=\/bearerd:)\d+\.\d+\.\d+/g,
};

/** Turns the unreleased section into that of the version, below a new empty one. */
export function released(changelog: string, version: string, day: string): string {
  const heading = '## [Unreleased]\n';
  if (!changelog.includes(heading)) throw new Error(`CHANGELOG.md has no ${heading.trim()}`);
  if (changelog.includes(`## [${version}]`)) throw new Error(`CHANGELOG.md has ${version} already`);
  return changelog.replace(heading, `${heading}\n## [${version}] - ${day}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rewrite = (name: string, change: (text: string) => string) =>
    writeFileSync(join(ROOT, name), change(readFileSync(join(ROOT, name), 'utf8')));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  for (const [name, place] of Object.entries(PLACES))
    rewrite(name, (text) => text.replaceAll(place, version));
  rewrite('CHANGELOG.md', (text) => released(text, version, new Date().toISOString().slice(0, 10)));
}
