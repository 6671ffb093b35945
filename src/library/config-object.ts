import type { SETTINGS } from '../config/declaration/settings.ts';
import type { CALLER } from '../config/sections/callers.ts';
import type { CREDENTIAL_TYPES } from '../config/sections/credentials/credential.ts';
import type { ROUTE } from '../config/sections/routes.ts';
import type { SINK_TYPES } from '../config/sections/sinks.ts';
import type { ObjectShape } from '../config/shapes/object.ts';
import type { SecretValue } from '../config/shapes/secret.ts';
import type { Shape } from '../config/shapes/shape.ts';
import type { Kind } from '../config/values/kind.ts';

export type { SecretValue } from '../config/shapes/secret.ts';

/** How a value is written: durations and sizes as text with a unit, lists as arrays or comma-separated text. */
type Written<T> = T extends boolean
  ? boolean
  : T extends number
    ? string | number
    : T extends readonly unknown[]
      ? string | readonly string[]
      : T extends string
        ? T
        : string;

type WrittenAs<K> = K extends { readonly fields: infer F }
  ? WrittenObject<F>
  : K extends Kind<infer T>
    ? Written<T>
    : K extends Shape<infer _T, infer W>
      ? W
      : never;

type Required<F> = { readonly [K in keyof F as F[K] extends { required: true } ? K : never]: F[K] };
type Optional<F> = Omit<F, keyof Required<F>>;
type Kinds<F> = { readonly [K in keyof F]: F[K] extends { kind: infer S } ? WrittenAs<S> : never };
type WrittenObject<F> = Kinds<Required<F>> & Partial<Kinds<Optional<F>>>;
type WrittenShape<S> = S extends ObjectShape<infer F> ? WrittenObject<F> : never;

type Types = typeof CREDENTIAL_TYPES;
type SessionFields = WrittenShape<Types['session']>;
type Pair<A extends keyof SessionFields> = { readonly [K in A]-?: SecretValue };
/** A service account, or a user. */
type Session = Omit<SessionFields, 'clientId' | 'clientSecret' | 'username' | 'password'> &
  (Pair<'clientId' | 'clientSecret'> | Pair<'username' | 'password'>);

export type CredentialObject =
  | { [T in Exclude<keyof Types, 'session'>]: { readonly type: T } & WrittenShape<Types[T]> }[Exclude<
      keyof Types,
      'session'
    >]
  | ({ readonly type: 'session' } & Session);

export type RouteObject = WrittenShape<typeof ROUTE>;

export type CallerObject = WrittenShape<typeof CALLER>;

/** One of the types of sinks. */
export type SinkObject = {
  [T in keyof typeof SINK_TYPES]: WrittenShape<(typeof SINK_TYPES)[T]>;
}[keyof typeof SINK_TYPES];

type Settings = typeof SETTINGS;

/** The settings by dotted key. */
type Flat = {
  readonly [K in keyof Settings as Settings[K] extends { key: infer Key extends string; kind: unknown }
    ? Key
    : never]: Settings[K] extends { kind: Kind<infer T> } ? Written<T> : never;
};
type Top = { readonly [K in keyof Flat as K extends `${string}.${string}` ? never : K]?: Flat[K] };
type Group<K> = K extends `${infer G}.${string}` ? G : never;
type Groups = {
  readonly [G in Group<keyof Flat>]?: {
    readonly [K in keyof Flat as K extends `${G}.${infer Rest}` ? Rest : never]?: Flat[K];
  };
};

/** The configuration file as an object (docs/configuration.md), derived from the declarations of the settings. */
export type ConfigObject = Omit<Top, 'routes' | 'credentials' | 'callers' | 'sinks'> &
  Groups & {
    readonly callerKey?: SecretValue;
    readonly share?: { readonly url?: SecretValue; readonly key?: SecretValue };
    readonly callers?: Readonly<Record<string, CallerObject>>;
    readonly credentials?: Readonly<Record<string, CredentialObject>>;
    readonly routes?: readonly RouteObject[];
    readonly sinks?: readonly SinkObject[];
  };
