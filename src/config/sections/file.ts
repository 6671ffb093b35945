import { PLAIN_SETTINGS, SECRET_SETTINGS } from '../declaration/settings.ts';
import { entry, nested } from '../reading/maps.ts';
import type { Reading } from '../reading/reading.ts';
import type { Field, Fields } from '../shapes/field.ts';
import { type ObjectShape, object } from '../shapes/object.ts';
import { secret, secretSchema } from '../shapes/secret.ts';
import { At } from '../shapes/shape.ts';
import { mapAt, reportUnknown } from '../shapes/unknown-keys.ts';
import type { JsonSchema } from '../values/kind.ts';
import { CALLERS } from './callers.ts';
import { CREDENTIALS } from './credentials/credential.ts';
import { ROUTES } from './routes.ts';
import { SINKS } from './sinks.ts';

/** The parts of the file that are more than single values; a file of its own declares each. */
const SECTIONS = {
  callers: { kind: CALLERS, description: 'those who may call, by name, each with a key of its own' },
  credentials: { kind: CREDENTIALS, description: 'credentials by name; the variables set token and apiKey' },
  routes: {
    kind: ROUTES,
    description:
      'routes; without any, everything goes with token, or with apiKey where only a key is configured',
  },
  sinks: {
    kind: SINKS,
    description: 'places outside of bearerd that hold a credential; none unless given',
  },
} as const satisfies Fields;

/** Whether a dotted key is a section, or is in one. */
export function isInSection(key: string): boolean {
  return key.replace(/\..*/, '') in SECTIONS;
}

/** The single settings of the file, by dotted key. None is required there: a variable may give it. */
const SINGLE: readonly (readonly [string, Field])[] = [
  ...PLAIN_SETTINGS.flatMap(([, { key, required: _, ...field }]) =>
    key === undefined ? [] : [[key, field] as const],
  ),
  ...SECRET_SETTINGS.map(
    ({ key, secret: use, description }) => [key, { kind: secret(use), description }] as const,
  ),
].filter(([key]) => !isInSection(key));

/** Every dotted key of the file: the single settings, and the sections. */
export const FILE_KEYS: readonly string[] = [...SINGLE.map(([key]) => key), ...Object.keys(SECTIONS)];

/** The whole file. A group of settings is an object: `path` in `session`. */
export const FILE: ObjectShape<Fields> = object({
  ...Object.fromEntries(
    Object.entries(nested(SINGLE)).map(([name, part]) => {
      const isSingle = SINGLE.some(([key]) => key === name);
      return [name, isSingle ? (part as Field) : { kind: object(part as Fields) }];
    }),
  ),
  ...SECTIONS,
});

/** Reports unknown keys at the top of the file and in its groups. */
export function reportUnknownSettings(reading: Reading): void {
  const { content } = reading.file;
  const top = new At('', reading);
  reportUnknown(content, top, { known: Object.keys(FILE.fields), elsewhere: FILE_KEYS });
  for (const [name, { kind }] of Object.entries(FILE.fields)) {
    if (!('fields' in kind)) continue;
    const { fields, holdsSecrets = false } = kind as ObjectShape<Fields>;
    const at = top.below(name);
    const map = mapAt(entry(content, name), at) ?? {};
    const elsewhere = holdsSecrets ? [] : FILE_KEYS;
    reportUnknown(map, at, { known: Object.keys(fields), holdsSecrets, elsewhere });
  }
}

/** The configuration file, for editors and for `bearerd schema` (draft-07, which every editor knows). */
export function fileSchema(): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'bearerd configuration file',
    description: 'A BEARERD_ variable wins over the same setting here. See docs/configuration.md.',
    ...FILE.schema,
    definitions: { secret: secretSchema() },
  };
}

/** All words that are keys somewhere. */
export function wordsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { readonly properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(wordsOf)];
}
