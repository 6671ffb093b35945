import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { clusterTool } from '../../scripts/cluster-tools.ts';
import { type Manifest, manifestsOf, pathOf } from './manifests.ts';

export const CHART = pathOf('helm/bearerd');

const program = clusterTool('helm');
export const skip = program === undefined && 'there is no helm (npm run cluster-tools)';

export function helm(...args: string[]): SpawnSyncReturns<string> {
  // Nothing of the tester's: neither plugins nor repositories.
  const home = t.testdirName;
  const env = { PATH: process.env.PATH, HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home };
  return spawnSync(program!, args, { encoding: 'utf8', env, timeout: 300_000 });
}

/** What the chart makes; an error with helm's words where it refuses. */
export function rendered(name: string, chart: string, ...args: string[]): Manifest[] {
  const { status, stdout, stderr } = helm('template', name, chart, '--namespace', 'your-namespace', ...args);
  if (status !== 0) throw new Error(stderr);
  return manifestsOf(stdout);
}

/** A user's chart, with ours packed into it. */
export function yourApp(folder: string): string {
  cpSync(pathOf('helm'), folder, { recursive: true });
  const chart = join(folder, 'your-app');
  const { status, stderr } = helm('dependency', 'build', chart);
  if (status !== 0) throw new Error(stderr);
  return chart;
}
