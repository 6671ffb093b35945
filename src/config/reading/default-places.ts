import { isAbsolute, join } from 'node:path';
import type { Environment } from '../../base/environment.ts';

/** Where a configuration file is sought if none is named; the first one that exists is read. */
export function defaultPlaces(env: Environment, cwd: string): readonly string[] {
  // The XDG specification: ignore a relative path; unset means ~/.config.
  const absolute = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  const home = absolute(env.HOME);
  const userFolder = absolute(env.XDG_CONFIG_HOME) ?? (home && join(home, '.config'));
  return [
    join(cwd, 'bearerd.yaml'),
    join(cwd, 'config', 'bearerd.yaml'),
    ...(userFolder === undefined ? [] : [join(userFolder, 'bearerd', 'bearerd.yaml')]),
  ];
}
