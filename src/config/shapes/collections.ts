import { isAbsent } from '../reading/maps.ts';
import type { JsonSchema } from '../values/kind.ts';
import type { At, Shape } from './shape.ts';
import { mapAt } from './unknown-keys.ts';

/** A value with its place, so that faults that show when everything is read can name it. */
export interface Placed<T> {
  readonly at: At;
  readonly value: T;
}

/** Values by name; undefined for one that can't be read, whose name is known. */
export type Named<T> = ReadonlyMap<string, Placed<T | undefined>>;

interface MapRules<T, W> {
  /** What is wrong with a name, if anything. */
  readonly nameProblem?: (name: string) => string | undefined;
  readonly schema?: JsonSchema;
  readonly of: Shape<T, W>;
}

/** A map whose names the user chooses. */
export function mapOf<T, W>({
  of,
  nameProblem,
  schema,
}: MapRules<T, W>): Shape<Named<T>, Readonly<Record<string, W>>> {
  return {
    get schema() {
      return { type: 'object', additionalProperties: of.schema, ...schema };
    },
    holdsSecrets: of.holdsSecrets === true,
    read(raw, at) {
      const map = mapAt(raw, at) ?? {};
      const names = Object.keys(map);
      const read = (name: string): Placed<T | undefined> => {
        const place = at.below(name);
        const problem = nameProblem?.(name);
        if (problem !== undefined) place.report(problem);
        return { at: place, value: of.read(map[name], place, map) };
      };
      return names.length === 0 ? undefined : new Map(names.map((name) => [name, read(name)]));
    },
    show(values) {
      return Object.fromEntries(
        Object.entries(valuesOf(values)).map(([name, value]) => [name, of.show(value)]),
      );
    },
  };
}

/** Those that could be read. */
export function valuesOf<T>(all: Named<T>): Readonly<Record<string, T>> {
  return Object.fromEntries(
    [...all].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const])),
  );
}

/** @param problem reported for anything else */
export function listOf<T>(of: Shape<T>, problem: string, { least = 0 } = {}): Shape<readonly Placed<T>[]> {
  return {
    get schema() {
      return { type: 'array', items: of.schema, ...(least > 0 && { minItems: least }) };
    },
    read(raw, at) {
      if (isAbsent(raw)) return undefined;
      if (Array.isArray(raw) && raw.length >= least) {
        return raw.flatMap((item: unknown, index) => placed(of, item, at.item(index)));
      }
      at.report(problem);
      return [];
    },
    show: (items) => items.map(({ value }) => of.show(value)),
  };
}

/** One item of a list; none if it can't be read. */
export function placed<T>(of: Shape<T>, raw: unknown, at: At): readonly Placed<T>[] {
  const value = of.read(raw, at, {});
  return value === undefined ? [] : [{ at, value }];
}
