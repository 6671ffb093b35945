import type { JsonSchema } from '../values/kind.ts';
import { defaultOf, type Field, type Fields } from './field.ts';
import { asShape } from './shape.ts';

/** What the file may hold at a key, for an editor. */
export function fieldSchema(field: Field): JsonSchema {
  const { kind, description, default: text } = field;
  const { schema } = asShape(kind);
  // Draft 07 takes nothing that stands beside a reference.
  const own = '$ref' in schema ? { allOf: [schema] } : schema;
  const given =
    text === undefined || text === '' || !('parse' in kind) ? {} : { default: kind.format(defaultOf(field)) };
  return { ...own, description, ...given };
}

export function mapSchema(properties: JsonSchema, required: readonly string[] = []): JsonSchema {
  const needs = required.length > 0 ? { required } : {};
  return { type: 'object', additionalProperties: false, properties, ...needs };
}

/** Where a field is not needed: another one has none of these values, or another default than usual. */
function withoutNeed(other: string, field: Field | undefined, values: readonly string[]): JsonSchema[] {
  // What is absent passes: that is right where the default is one of them.
  const isDefault = values.includes(field?.default ?? '');
  const needs = { properties: { [other]: { enum: values } }, ...(!isDefault && { required: [other] }) };
  const others = Object.entries(isDefault ? (field?.defaultWith ?? {}) : {}).map(([name, by]) => ({
    properties: { [name]: { enum: Object.keys(by) } },
    required: [name],
  }));
  return [{ not: needs }, ...others];
}

/** An object with these fields, each with what it needs. */
export function objectSchema(fields: Fields): JsonSchema {
  const named = Object.entries(fields);
  const properties = Object.fromEntries(named.map(([name, field]) => [name, fieldSchema(field)]));
  const required = named.flatMap(([name, field]) => (field.required === true ? [name] : []));
  const conditions = named.flatMap(([name, { neededWith = {} }]) =>
    Object.entries(neededWith).map(([other, values]) => ({
      anyOf: [...withoutNeed(other, fields[other], values), { required: [name] }],
    })),
  );
  return { ...mapSchema(properties, required), ...(conditions.length > 0 && { allOf: conditions }) };
}
