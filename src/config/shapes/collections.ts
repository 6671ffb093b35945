import { isAbsent } from '../reading/maps.ts';
import type { JsonSchema } from '../values/kind.ts';
import type { At } from './at.ts';
import type { Shape } from './shape.ts';
import { mapAt } from './unknown-keys.ts';

/** Something declared, with its place: what there is to say of it can be said later, when all is read. */
export interface Placed<T> {
  readonly at: At;
  /** Absent where what stands there can't be read at all. */
  readonly value: T | undefined;
}

interface MapRules<T, W> {
  /** What is wrong with a name, if anything. */
  readonly nameProblem?: (name: string) => string | undefined;
  readonly schema?: JsonSchema;
  readonly of: Shape<T, W>;
}

/** A map of names that the user chooses. */
export function mapOf<T, W>({
  of,
  nameProblem,
  schema,
}: MapRules<T, W>): Shape<ReadonlyMap<string, Placed<T>>, Readonly<Record<string, W>>> {
  return {
    get schema() {
      return { type: 'object', additionalProperties: of.schema, ...schema };
    },
    holdsSecrets: of.holdsSecrets === true,
    read(raw, at) {
      const map = mapAt(raw, at) ?? {};
      const read = (name: string): Placed<T> => {
        const place = at.below(name);
        const problem = nameProblem?.(name);
        if (problem !== undefined) place.report(problem);
        return { at: place, value: of.read(map[name], place, map) };
      };
      return new Map(Object.keys(map).map((name) => [name, read(name)]));
    },
    show(values) {
      const shown = [...values].flatMap(([name, { value }]) =>
        value === undefined ? [] : [[name, of.show(value)] as const],
      );
      return shown.length === 0 ? undefined : Object.fromEntries(shown);
    },
  };
}

/** @param problem what to say of anything else */
export function listOf<T>(of: Shape<T>, problem: string, { least = 0 } = {}): Shape<readonly Placed<T>[]> {
  return {
    get schema() {
      return { type: 'array', items: of.schema, ...(least > 0 && { minItems: least }) };
    },
    read(raw, at) {
      if (isAbsent(raw)) return undefined;
      if (Array.isArray(raw) && raw.length >= least) {
        return raw.map((item: unknown, index) => ({
          at: at.item(index),
          value: of.read(item, at.item(index), {}),
        }));
      }
      at.report(problem);
      return [];
    },
    show: (items) => items.flatMap(({ value }) => (value === undefined ? [] : [of.show(value)])),
  };
}
