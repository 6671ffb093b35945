import { isAbsolute, join } from 'node:path';

/** Where a configuration file is looked for when none is named; the first that there is counts. */
export function defaultPlaces(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): readonly string[] {
  // The XDG specification: a relative path is to be ignored, an unset one means ~/.config.
  const absolute = (path: string | undefined) => (path !== undefined && isAbsolute(path) ? path : undefined);
  const home = absolute(env.HOME);
  const userFolder = absolute(env.XDG_CONFIG_HOME) ?? (home && join(home, '.config'));
  return [
    join(cwd, 'bearerd.yaml'),
    join(cwd, 'config', 'bearerd.yaml'),
    ...(userFolder === undefined ? [] : [join(userFolder, 'bearerd', 'bearerd.yaml')]),
  ];
}
