import { FILE_SETTINGS, SECRET_SETTINGS, STRUCTURED_KEYS } from '../declaration/settings.ts';
import type { Fields } from '../shapes/field.ts';
import { fieldSchema, mapSchema } from '../shapes/object-schema.ts';
import { secret, secretSchema } from '../shapes/secret.ts';
import type { JsonSchema } from '../values/kind.ts';
import { SECTIONS } from './sections.ts';

/** The single settings by their keys, `session.path` as a property of `session`. */
function settingsProperties(): JsonSchema {
  const secrets = SECRET_SETTINGS.filter(({ key }) => !STRUCTURED_KEYS.includes(key.replace(/\..*/, '')));
  const fields: Fields = Object.fromEntries([
    ...FILE_SETTINGS.map(({ required: _, ...setting }) => [setting.key, setting]),
    ...secrets.map(({ key, description, ...setting }) => [
      key,
      { kind: secret(setting.secret), description },
    ]),
  ]);
  const groups = new Map<string, Record<string, JsonSchema>>();
  for (const [key, field] of Object.entries(fields)) {
    const [first = '', second] = key.split('.');
    if (second === undefined) groups.set(first, {});
    else groups.set(first, { ...groups.get(first), [second]: fieldSchema(field) });
  }
  return Object.fromEntries(
    [...groups].map(([key, inner]) => [key, fields[key] ? fieldSchema(fields[key]) : mapSchema(inner)]),
  );
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
