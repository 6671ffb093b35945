import type { Kind } from '../values/kind.ts';
import { didYouMean, nearest } from '../values/nearest.ts';
import type { Report } from './faults.ts';

export type YamlMap = Readonly<Record<string, unknown>>;

/** Nothing after a key is the same as no key: `admin:` with all below it commented out. */
export function isAbsent(raw: unknown): raw is null | undefined {
  return raw === undefined || raw === null;
}

export function isMap(raw: unknown): raw is YamlMap {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw);
}

/** A key that the map itself has: a file may hold `constructor` or `__proto__`. */
export function entry(map: YamlMap, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined;
}

/** The value at a dotted key, `session.path` for one. */
export function valueAt(content: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((at, part) => (isMap(at) ? entry(at, part) : undefined), content);
}

/** `session` and `tokenWait` → `session.tokenWait`; nothing before a key of the top. */
export function below(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** A map as it stands in the file; empty, with a fault, when it is something else. */
export function readMap(raw: unknown, path: string, report: Report): YamlMap {
  if (isAbsent(raw)) return {};
  if (isMap(raw)) return raw;
  const isGlued = typeof raw === 'string' && /^[A-Za-z]+:\S/.test(raw);
  report(path, `must be a map of keys and values${isGlued ? '; a blank is missing behind a colon' : ''}`);
  return {};
}

/** The dotted key that an unknown one most likely was meant to be: here, or in another place of the file. */
function meantKey(
  path: string,
  key: string,
  here: readonly string[],
  elsewhere: readonly string[],
): string | undefined {
  const sibling = nearest(key, here);
  if (sibling !== undefined) return below(path, sibling);
  const names = elsewhere.map((dotted) => dotted.slice(dotted.lastIndexOf('.') + 1));
  const name = nearest(key, names);
  return name === undefined ? undefined : elsewhere[names.indexOf(name)];
}

/** A known key with the text behind it as a part of its name: `{ type:session }`, or `{ clientId x }`. */
function gluedTo(key: string, known: readonly string[]): { name: string; problem: string } | undefined {
  const [, name = '', next] = /^([A-Za-z]+)([:\s])/.exec(key) ?? [];
  if (!known.includes(name)) return undefined;
  return { name, problem: next === ':' ? 'needs a blank behind its colon' : 'needs a colon behind it' };
}

/** Reports the keys that are glued to their values, and gives the other unknown ones. */
function reportGlued(
  map: YamlMap,
  path: string,
  known: readonly string[],
  report: Report,
): readonly string[] {
  return Object.keys(map).filter((key) => {
    if (known.includes(key)) return false;
    const glued = gluedTo(key, known);
    if (glued !== undefined) report(below(path, glued.name), glued.problem);
    return glued === undefined;
  });
}

/** A fault for each key that isn't one of `known`. */
export function reportUnknownKeys(
  map: YamlMap,
  path: string,
  known: readonly string[],
  report: Report,
  elsewhere: readonly string[] = [],
): void {
  for (const key of reportGlued(map, path, known, report)) {
    // A stray colon at the start of a line makes a key without a name.
    report(
      below(path, key === '' ? "''" : key),
      `unknown key${didYouMean(meantKey(path, key, known, elsewhere))}`,
    );
  }
}

/**
 * The same for a map that holds secrets. `{ key: ab,cd }` has a key `cd` to YAML, and `{ key:abcd }` one of `key:abcd`:
 * so a key is shown only where it has a value and looks like a slip of a known one.
 */
export function reportUnknownSecretKeys(
  map: YamlMap,
  path: string,
  known: readonly string[],
  /** Where a key means something that means nothing here: `type: oauth2`. */
  placeOf: (key: string) => string | undefined,
  report: Report,
): void {
  const unknown = reportGlued(map, path, known, report);
  const isSlip = (key: string) =>
    /^[A-Za-z_-]{1,30}$/.test(key) && !isAbsent(map[key]) && nearest(key, known) !== undefined;
  let isPart = false;
  for (const key of unknown) {
    const place = placeOf(key);
    if (isSlip(key)) reportUnknownKeys({ [key]: map[key] }, path, known, report);
    else if (place !== undefined) report(below(path, key), `unknown key; it belongs to ${place}`);
    else isPart = true;
  }
  if (!isPart) return;
  const expected = `the keys here are ${[...new Set(known)].join(', ')}`;
  report(path, `holds an unknown key, which may be a part of a secret; put secrets in quotes (${expected})`);
}

/** One value of a map; a fault when it isn't what it must be. */
export function readField<T>(
  map: YamlMap,
  path: string,
  key: string,
  kind: Kind<T>,
  report: Report,
): T | undefined {
  const raw = entry(map, key);
  if (isAbsent(raw)) return undefined;
  const parsed = kind.parse(raw);
  if ('value' in parsed) return parsed.value;
  report(below(path, key), parsed.problem);
  return undefined;
}
