import { entry, isAbsent } from '../reading/maps.ts';
import type { JsonSchema } from '../values/kind.ts';
import { type Conditions, defaultOf, type Fields, objectSchema, type TypeOf } from './field.ts';
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
  const shapes = new Map(Object.entries(fields).map(([name, { kind }]) => [name, asShape(kind)]));
  const defaults = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default]));
  const holdsSecrets =
    rules.holdsSecrets ?? [...shapes.values()].some((shape) => shape.holdsSecrets === true);

  const read = (raw: unknown, at: At, keys: Known): Declared<F> | undefined => {
    const map = mapAt(raw, at);
    if (map === undefined) return undefined;
    const glued = reportUnknown(map, at, keys);
    const given: Entry = {
      at,
      has(name) {
        // A secret without a value got lost; any other key without one says nothing.
        const value = entry(map, name);
        const isSecret = shapes.get(name)?.holdsSecrets === true;
        return glued.has(name) || (isSecret ? value !== undefined : !isAbsent(value));
      },
      report: (name, problem) => at.below(name).report(problem),
    };
    const declared: Record<string, unknown> = {};
    const faulty: string[] = [];
    for (const [name, field] of Object.entries(fields)) {
      const own = entry(map, name);
      const value = own === undefined ? undefined : shapes.get(name)?.read(own, at.below(name), map);
      const inForce = value ?? defaultOf(field, declared);
      if (inForce !== undefined) declared[name] = inForce;
      if (given.has(name) && value === undefined) faulty.push(name);
      if (!given.has(name) && field.required === true) given.report(name, 'is missing');
    }
    for (const [name, { onlyWith, neededWith }] of Object.entries(fields)) {
      // Nothing can be said while the fields that it depends on have a fault themselves.
      if (faulty.some((other) => other in { ...onlyWith, ...neededWith })) continue;
      if (given.has(name)) checkMeant(name, onlyWith, declared, given);
      else checkNeeded(name, neededWith, declared, given);
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

type Values = Readonly<Record<string, unknown>>;

/** A fault where a field is given, and means nothing beside the others. */
function checkMeant(
  name: string,
  onlyWith: Conditions | undefined,
  declared: Values,
  { report }: Entry,
): void {
  if (onlyWith === undefined || holds(onlyWith, declared)) return;
  const [[other, meant] = ['', []]] = Object.entries(onlyWith);
  const here = `it means nothing with ${other}: ${declared[other]}`;
  report(name, `is for ${other}: ${meant.join(' or ')}; ${here}`);
}

/** A fault where a field is missing that one of the others needs. */
function checkNeeded(
  name: string,
  neededWith: Conditions = {},
  declared: Values,
  { has, report }: Entry,
): void {
  const other = Object.keys(neededWith).find((each) => neededWith[each]?.includes(String(declared[each])));
  if (other === undefined) return;
  report(name, `is missing${has(other) ? `; ${other}: ${declared[other]} needs it` : ''}`);
}
