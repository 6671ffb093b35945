import type { Kind } from '../values/kind.ts';
import type { Shape } from './shape.ts';

/** By the name of another field of the object: some of its values. */
export type Conditions = Readonly<Record<string, readonly string[]>>;

/** A key of an object. */
export interface Field<T = unknown> {
  readonly kind: Kind<T> | Shape<T>;
  readonly description: string;
  /** As a person would write it. */
  readonly default?: string;
  /** In place of it: by another field, which stands before this one, and its value. */
  readonly defaultWith?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly required?: boolean;
  /** It means nothing unless one of these fields has one of these values. */
  readonly onlyWith?: Conditions;
  /** It must be there where one of these fields has one of these values. */
  readonly neededWith?: Conditions;
}

export type Fields = Readonly<Record<string, Field>>;

export type TypeOf<F> = F extends { kind: Kind<infer T> | Shape<infer T> } ? T : never;

/** What holds where nothing is given; where what is given is faulty, too, for as long as faults are looked for. */
export function defaultOf(field: Field, declared: Readonly<Record<string, unknown>> = {}): unknown {
  const { kind, default: usual, defaultWith = {} } = field;
  const [special] = Object.entries(defaultWith).flatMap(([name, by]) => by[String(declared[name])] ?? []);
  const text = special ?? usual;
  const parsed = text !== undefined && 'parse' in kind ? kind.parse(text) : undefined;
  return parsed !== undefined && 'value' in parsed ? parsed.value : undefined;
}
