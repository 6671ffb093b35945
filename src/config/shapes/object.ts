import { entry, isAbsent } from '../reading/maps.ts';
import type { JsonSchema } from '../values/kind.ts';
import { type Conditions, defaultOf, type Field, type Fields, objectSchema, type TypeOf } from './field.ts';
import { type At, asShape, type Shape } from './shape.ts';
import { type Known, mapAt, reportUnknown } from './unknown-keys.ts';

/** What was read of an object; without keys that are absent or faulty. */
export type Declared<F> = {
  readonly [K in keyof F as F[K] extends { default: string } ? K : never]: TypeOf<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends { default: string } ? never : K]?: TypeOf<F[K]>;
};

/** An object in the file, for the rules between its fields. */
export interface Entry {
  readonly at: At;
  readonly has: (name: string) => boolean;
  readonly report: (name: string, problem: string) => void;
}

export interface ObjectShape<F extends Fields> extends Shape<Declared<F>> {
  readonly fields: F;
  /**
   * Reads an object that has a key `type` beside its fields.
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
  /** Treat the whole object as one that holds secrets, even if none of its fields does. */
  readonly holdsSecrets?: true;
}

/** A map with these keys and no others. */
export function object<const F extends Fields>(fields: F, rules: Rules<F> = {}): ObjectShape<F> {
  const named = Object.entries(fields);
  const shapes = new Map(named.map(([name, { kind }]) => [name, asShape(kind)]));
  const defaults = Object.fromEntries(named.map(([name, field]) => [name, field.default]));
  const holdsSecrets =
    rules.holdsSecrets ?? [...shapes.values()].some((shape) => shape.holdsSecrets === true);

  const read = (raw: unknown, at: At, keys: Known): Declared<F> | undefined => {
    const map = mapAt(raw, at);
    if (map === undefined) return undefined;
    const glued = reportUnknown(map, at, keys);
    const has = (name: string) => {
      // A secret without a value got lost; any other key without one says nothing.
      const value = entry(map, name);
      const isSecret = shapes.get(name)?.holdsSecrets === true;
      return glued.has(name) || (isSecret ? value !== undefined : !isAbsent(value));
    };
    const given: Entry = { at, has, report: (name, problem) => at.below(name).report(problem) };
    const declared: Record<string, unknown> = {};
    const faulty: string[] = [];
    for (const [name, field] of named) {
      const own = entry(map, name);
      const value = own === undefined ? undefined : shapes.get(name)?.read(own, at.below(name), map);
      const inForce = value ?? defaultOf(field, declared);
      if (inForce !== undefined) declared[name] = inForce;
      if (has(name) && value === undefined) faulty.push(name);
      if (!has(name) && field.required === true) given.report(name, 'is missing');
    }
    for (const [name, field] of named) {
      // Nothing can be said while the fields that it depends on have a fault themselves.
      if (faulty.some((other) => other in { ...field.onlyWith, ...field.neededWith })) continue;
      checkConditions(name, field, declared, given);
    }
    // Each value has come out of its own field's shape.
    rules.check?.(declared as Declared<F>, given);
    return declared as Declared<F>;
  };
  return {
    fields,
    holdsSecrets,
    // Made on demand: most runs need none.
    get schema() {
      return { ...objectSchema(fields), ...rules.schema };
    },
    read: (raw, at) => read(raw, at, { known: [...shapes.keys()], holdsSecrets }),
    readTyped: (raw, at, placeOf) =>
      read(raw, at, { known: ['type', ...shapes.keys()], holdsSecrets: true, placeOf }),
    show(declared) {
      const values: Readonly<Record<string, unknown>> = declared;
      const shown = named.flatMap(([name, { onlyWith }]) => {
        const isMeant = onlyWith === undefined || holds(onlyWith, { ...defaults, ...values });
        if (!isMeant || values[name] === undefined) return [];
        const value = shapes.get(name)?.show(values[name]);
        return value === undefined ? [] : [[name, value] as const];
      });
      return shown.length === 0 ? undefined : Object.fromEntries(shown);
    },
  };
}

function holds(conditions: Conditions, values: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(conditions).some(([other, meant]) => meant.includes(String(values[other])));
}

type Values = Readonly<Record<string, unknown>>;

/** Reports a field that is given and means nothing beside the others, or that is missing and one of them needs. */
function checkConditions(name: string, field: Field, declared: Values, { has, report }: Entry): void {
  const { onlyWith, neededWith = {} } = field;
  if (!has(name)) {
    const other = Object.keys(neededWith).find((each) => neededWith[each]?.includes(String(declared[each])));
    if (other === undefined) return;
    report(name, `is missing${has(other) ? `; ${other}: ${declared[other]} needs it` : ''}`);
  } else if (onlyWith !== undefined && !holds(onlyWith, declared)) {
    const [[other, meant] = ['', []]] = Object.entries(onlyWith);
    const here = `it means nothing with ${other}: ${declared[other]}`;
    report(name, `is for ${other}: ${meant.join(' or ')}; ${here}`);
  }
}
