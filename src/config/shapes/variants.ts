import { entry, isAbsent, type YamlMap } from '../reading/maps.ts';
import { choice } from '../values/vocabulary.ts';
import type { Fields } from './field.ts';
import type { Declared, ObjectShape } from './object.ts';
import { type At, asShape, type Shape, single } from './shape.ts';
import { mapAt, reportUnknown } from './unknown-keys.ts';

type Objects = Readonly<Record<string, ObjectShape<Fields>>>;
type FieldsOf<O> = O extends ObjectShape<infer F> ? F : never;

/** One of several objects, with the name of its type. */
export type Variant<V> = {
  readonly [K in keyof V & string]: { readonly type: K } & Declared<FieldsOf<V[K]>>;
}[keyof V & string];

export interface VariantShape<V> extends Shape<Variant<V>> {
  readonly objects: V;
  /** Reports the keys of an entry that is not read any further. */
  checkKeys(raw: unknown, at: At): void;
}

/**
 * One of several objects: a key `type` says which.
 *
 * @param inAll fields that are checked even if the type is unknown
 */
export function variants<const V extends Objects>(objects: V, inAll: Fields): VariantShape<V> {
  const names = Object.keys(objects);
  const typeOf = single(choice(names));
  const keysOf = (name: string) => Object.keys(objects[name]?.fields ?? {});
  const placeOf = (key: string) => {
    const owners = names.filter((name) => keysOf(name).includes(key));
    return owners.length > 0 ? `type: ${owners.join(' or ')}` : undefined;
  };
  /** If the type is unknown, the keys of all types are valid. */
  const reportKeys = (map: YamlMap, at: At) =>
    reportUnknown(map, at, { known: ['type', ...names.flatMap(keysOf)], holdsSecrets: true });
  return {
    objects,
    get schema() {
      return {
        oneOf: Object.entries(objects).map(([name, { schema }]) => ({
          ...schema,
          properties: { type: { const: name }, ...(schema.properties as object) },
          required: ['type', ...((schema.required as string[] | undefined) ?? [])],
        })),
      };
    },
    holdsSecrets: true,
    read(raw, at) {
      const map = mapAt(raw, at);
      if (map === undefined) return undefined;
      const type = typeOf.read(entry(map, 'type'), at.below('type'), map);
      if (type === undefined) {
        for (const [name, { kind }] of Object.entries(inAll))
          asShape(kind).read(entry(map, name), at.below(name), map);
        const isGiven = reportKeys(map, at).has('type') || !isAbsent(entry(map, 'type'));
        if (!isGiven) at.below('type').report(`is missing; it is one of ${names.join(', ')}`);
        return undefined;
      }
      const declared = objects[type]?.readTyped(map, at, placeOf);
      // The object of this type has read it.
      return declared && ({ type, ...declared } as Variant<V>);
    },
    checkKeys(raw, at) {
      const map = mapAt(raw, at) ?? {};
      typeOf.read(entry(map, 'type'), at.below('type'), map);
      reportKeys(map, at);
    },
    show: (declared) => ({ type: declared.type, ...(objects[declared.type]!.show(declared) as object) }),
  };
}
