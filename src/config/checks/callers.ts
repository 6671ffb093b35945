import type { CallerConfig, Config } from '../config.ts';
import type { Callers } from '../reading/callers.ts';
import { below } from '../reading/maps.ts';
import type { Reading } from '../reading/reading.ts';
import { didYouMean, nearest } from '../values/nearest.ts';

/**
 * What can only be said when all is read: routes that must exist, and keys that must differ, since a key is all that a
 * caller is known by.
 */
export function checkCallers(
  { unnamed, named }: Callers,
  prefixes: readonly string[],
  { report }: Reading,
): void {
  const others = unnamed === undefined ? [] : [unnamed];
  for (const { path, key, routes = [] } of named) {
    const other = others.find(({ secret }) => secret?.equals(key?.secret));
    if (other !== undefined) report(below(path, 'key'), `is the same as ${other.key}; each needs its own`);
    if (key !== undefined) others.push(key);
    for (const prefix of routes.filter((each) => !prefixes.includes(each))) {
      const known = `there are ${prefixes.join(', ')}`;
      const hint = didYouMean(nearest(prefix, prefixes));
      report(below(path, 'routes'), `${prefix} is not the prefix of a route (${known})${hint}`);
    }
  }
}

/** The finished callers, once there is no fault left. */
export function finishCallers({ unnamed, named }: Callers): Pick<Config, 'callerKey' | 'callers'> {
  const callers = named.flatMap(({ name, key, routes }): CallerConfig[] =>
    key?.secret === undefined ? [] : [{ name, key: key.secret, ...(routes && { routes }) }],
  );
  return { callers, ...(unnamed?.secret && { callerKey: unnamed.secret }) };
}
