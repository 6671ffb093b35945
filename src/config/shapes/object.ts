import { entry, isAbsent, type YamlMap } from '../reading/maps.ts';
import type { JsonSchema } from '../values/kind.ts';
import type { At } from './at.ts';
import { type Conditions, defaultOf, type Field, type Fields, objectSchema, type TypeOf } from './field.ts';
import { asShape, type Shape } from './shape.ts';
import { type Known, mapAt, reportUnknown } from './unknown-keys.ts';

/** What the file says, read, without what it doesn't say or says wrong. */
export type Declared<F> = {
  readonly [K in keyof F as F[K] extends { default: string } ? K : never]: TypeOf<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends { default: string } ? never : K]?: TypeOf<F[K]>;
};

/** An object as it stands in the file, for the rules between its fields. */
export interface Entry {
  readonly at: At;
  readonly has: (name: string) => boolean;
  readonly report: (name: string, problem: string) => void;
}

export interface ObjectShape<F extends Fields> extends Shape<Declared<F>> {
  readonly fields: F;
  /**
   * One that a key `type` beside its fields has named.
   *
   * @param placeOf which types have a key that this one lacks
   */
  readTyped(raw: unknown, at: At, placeOf: Known['placeOf']): Declared<F> | undefined;
}

export interface Rules<F> {
  /** What must hold between the fields; called with what was read. */
  readonly check?: (declared: Declared<F>, entry: Entry) => void;
  /** The same for the JSON Schema. */
  readonly schema?: JsonSchema;
  /** It does, even if no field is a secret itself. */
  readonly holdsSecrets?: true;
}

/** A map with these keys, and no others. */
export function object<const F extends Fields>(fields: F, rules: Rules<F> = {}): ObjectShape<F> {
  const shapes = new Map(Object.entries(fields).map(([name, { kind }]) => [name, asShape(kind)]));
  const defaults = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default]));
  const holdsSecrets =
    rules.holdsSecrets ?? [...shapes.values()].some((shape) => shape.holdsSecrets === true);

  const read = (raw: unknown, at: At, keys: Known): Declared<F> | undefined => {
    const map = mapAt(raw, at);
    if (map === undefined) return undefined;
    const glued = reportUnknown(map, at, keys);
    const reading = new ObjectReading(map, at, shapes, glued);
    const declared: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(fields)) {
      const value = reading.read(name, field) ?? defaultOf(field, declared);
      if (value !== undefined) declared[name] = value;
    }
    for (const [name, field] of Object.entries(fields)) reading.compare(name, field, declared);
    // Each value has come out of its own field's shape.
    rules.check?.(declared as Declared<F>, reading);
    return declared as Declared<F>;
  };
  return {
    fields,
    holdsSecrets,
    // Made when it is asked for, which most runs don't.
    get schema() {
      return { ...objectSchema(fields), ...rules.schema };
    },
    read: (raw, at) => read(raw, at, { known: [...shapes.keys()], holdsSecrets }),
    readTyped: (raw, at, placeOf) =>
      read(raw, at, { known: ['type', ...shapes.keys()], holdsSecrets: true, placeOf }),
    show(declared) {
      const values: Readonly<Record<string, unknown>> = declared;
      const shown = Object.entries(fields).flatMap(([name, { onlyWith }]) => {
        const isMeant = onlyWith === undefined || holds(onlyWith, { ...defaults, ...values });
        const value =
          isMeant && values[name] !== undefined ? shapes.get(name)?.show(values[name]) : undefined;
        return value === undefined ? [] : [[name, value] as const];
      });
      return shown.length === 0 ? undefined : Object.fromEntries(shown);
    },
  };
}

function holds(conditions: Conditions, values: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(conditions).some(([other, meant]) => meant.includes(String(values[other])));
}

/** One object, while it is read. */
class ObjectReading implements Entry {
  readonly at: At;
  readonly #map: YamlMap;
  readonly #shapes: ReadonlyMap<string, Shape<unknown>>;
  /** Keys that stand there, and are glued to their values. */
  readonly #glued: ReadonlySet<string>;
  readonly #faulty = new Set<string>();

  constructor(map: YamlMap, at: At, shapes: ReadonlyMap<string, Shape<unknown>>, glued: ReadonlySet<string>) {
    this.#shapes = shapes;
    this.#map = map;
    this.at = at;
    this.#glued = glued;
  }

  readonly has = (name: string): boolean => {
    // A secret without a value got lost; any other key without one says nothing.
    const raw = entry(this.#map, name);
    const isSecret = this.#shapes.get(name)?.holdsSecrets === true;
    return this.#glued.has(name) || (isSecret ? raw !== undefined : !isAbsent(raw));
  };

  readonly report = (name: string, problem: string): void => this.at.below(name).report(problem);

  read(name: string, field: Field): unknown {
    const isGiven = this.has(name);
    const raw = entry(this.#map, name);
    const value =
      raw === undefined ? undefined : this.#shapes.get(name)?.read(raw, this.at.below(name), this.#map);
    if (isGiven && value === undefined) this.#faulty.add(name);
    if (!isGiven && field.required === true) this.report(name, 'is missing');
    return value;
  }

  /** The conditions of one field, as far as the fields that they are about have no fault themselves. */
  compare(name: string, { onlyWith, neededWith }: Field, declared: Readonly<Record<string, unknown>>): void {
    const others = Object.keys({ ...onlyWith, ...neededWith });
    if (others.some((other) => this.#faulty.has(other))) return;
    const isGiven = this.has(name);
    if (isGiven && onlyWith !== undefined && !holds(onlyWith, declared)) {
      const [[other, meant] = ['', []]] = Object.entries(onlyWith);
      const here = `it means nothing with ${other}: ${declared[other]}`;
      this.report(name, `is for ${other}: ${meant.join(' or ')}; ${here}`);
    }
    for (const [other, values] of Object.entries(neededWith ?? {})) {
      const value = String(declared[other]);
      if (isGiven || !values.includes(value)) continue;
      this.report(name, `is missing${this.has(other) ? `; ${other}: ${value} needs it` : ''}`);
      return;
    }
  }
}
