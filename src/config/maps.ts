import type { Kind } from './kind.ts';
import { didYouMean, nearest } from './nearest.ts';
import type { Report } from './reading.ts';

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
  report(path, 'must be a map of keys and values');
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

/** A fault for each key that isn't one of `known`. */
export function reportUnknownKeys(
  map: YamlMap,
  path: string,
  known: readonly string[],
  report: Report,
  elsewhere: readonly string[] = [],
): void {
  for (const key of Object.keys(map)) {
    if (known.includes(key)) continue;
    report(below(path, key), `unknown key${didYouMean(meantKey(path, key, known, elsewhere))}`);
  }
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
