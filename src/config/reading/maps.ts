export type YamlMap = Readonly<Record<string, unknown>>;

/** A key without a value counts as no key: `admin:` with everything below it commented out. */
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

/** The value at a dotted key, such as `session.path`. */
export function valueAt(content: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((at, part) => (isMap(at) ? entry(at, part) : undefined), content);
}

/** `session` and `tokenWait` → `session.tokenWait`; a key at the top has no prefix. */
export function below(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** Values by dotted keys as the file nests them: `session.path` becomes `path` in `session`. */
export function nested(values: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const map: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = {};
  for (const [key, value] of values) {
    const [first = '', second] = key.split('.');
    if (second === undefined) map[first] = value;
    else {
      groups[first] ??= {};
      groups[first][second] = value;
      map[first] = groups[first];
    }
  }
  return map;
}
