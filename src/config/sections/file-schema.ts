import { FILE_SECRETS, FILE_SETTINGS } from '../declaration/settings.ts';
import { nested } from '../reading/maps.ts';
import { fieldSchema, mapSchema } from '../shapes/object-schema.ts';
import { secret, secretSchema } from '../shapes/secret.ts';
import type { JsonSchema } from '../values/kind.ts';
import { SECTIONS } from './sections.ts';

/** The single settings by their keys, `session.path` as a property of `session`. */
function settingsProperties(): JsonSchema {
  const schemas = [
    ...FILE_SETTINGS.map(({ required: _, ...setting }) => [setting.key, fieldSchema(setting)] as const),
    ...FILE_SECRETS.map(
      ({ key, description, secret: use }) => [key, fieldSchema({ kind: secret(use), description })] as const,
    ),
  ];
  const single = new Set(schemas.map(([key]) => key));
  const properties = Object.entries(nested(schemas)).map(([key, schema]) => [
    key,
    single.has(key) ? schema : mapSchema(schema as JsonSchema),
  ]);
  return Object.fromEntries(properties);
}

/** The configuration file, for editors and for `bearerd schema` (draft-07, which every editor knows). */
export function fileSchema(): JsonSchema {
  const sections = Object.entries(SECTIONS).map(([key, section]) => [key, fieldSchema(section)]);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'bearerd configuration file',
    description: 'A BEARERD_ variable wins over the same setting here. See docs/configuration.md.',
    ...mapSchema({ ...settingsProperties(), ...Object.fromEntries(sections) }),
    definitions: { secret: secretSchema() },
  };
}

/** Every word that is a key somewhere: others may be a part of a secret. */
export function wordsOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { readonly properties?: object };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(wordsOf)];
}
