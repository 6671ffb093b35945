import type { JsonSchema, Kind } from '../values/kind.ts';
import { asShape, type Shape } from './shape.ts';

/** By the name of another field of the object: some of its values. */
export type Conditions = Readonly<Record<string, readonly string[]>>;

/** A key of an object. */
export interface Field<T = unknown> {
  readonly kind: Kind<T> | Shape<T>;
  /** Absent for a group of settings, each of which has its own. */
  readonly description?: string;
  /** As a person would write it. */
  readonly default?: string;
  /** In place of it: by another field, which stands before this one, and its value. */
  readonly defaultWith?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly required?: boolean;
  /** It means nothing unless one of these fields has one of these values. */
  readonly onlyWith?: Conditions;
  /** It must be there if one of these fields has one of these values. */
  readonly neededWith?: Conditions;
}

export type Fields = Readonly<Record<string, Field>>;

export type TypeOf<F> = F extends { kind: Kind<infer T> | Shape<infer T> } ? T : never;

/** The value in force if none is given, or a faulty one. */
export function defaultOf(field: Field, declared: Readonly<Record<string, unknown>> = {}): unknown {
  const { kind, default: usual, defaultWith = {} } = field;
  const [special] = Object.entries(defaultWith).flatMap(([name, by]) => by[String(declared[name])] ?? []);
  const text = special ?? usual;
  const parsed = text !== undefined && 'parse' in kind ? kind.parse(text) : undefined;
  return parsed !== undefined && 'value' in parsed ? parsed.value : undefined;
}

/** The JSON Schema of a key. */
function fieldSchema(field: Field): JsonSchema {
  const { kind, description, default: text } = field;
  const { schema } = asShape(kind);
  // Draft 07 ignores everything beside a $ref.
  const own = '$ref' in schema ? { allOf: [schema] } : schema;
  const given =
    text === undefined || text === '' || !('parse' in kind) ? {} : { default: kind.format(defaultOf(field)) };
  return { ...own, ...(description !== undefined && { description }), ...given };
}

export function mapSchema(properties: JsonSchema, required: readonly string[] = []): JsonSchema {
  const needs = required.length > 0 ? { required } : {};
  return { type: 'object', additionalProperties: false, properties, ...needs };
}

/** The cases in which a field is not needed: another one has none of these values, or not its usual default. */
function withoutNeed(other: string, field: Field | undefined, values: readonly string[]): JsonSchema[] {
  // `not` refuses an absent field, too: right if the default is one of these values.
  const isDefault = values.includes(field?.default ?? '');
  const needs = { properties: { [other]: { enum: values } }, ...(!isDefault && { required: [other] }) };
  const others = Object.entries(isDefault ? (field?.defaultWith ?? {}) : {}).map(([name, by]) => ({
    properties: { [name]: { enum: Object.keys(by) } },
    required: [name],
  }));
  return [{ not: needs }, ...others];
}

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
