import type {
  CALLER_FIELDS,
  CredentialType,
  EXEC_FIELDS,
  OAUTH2_FIELDS,
  OAUTH2_FILES,
  OAUTH2_TLS,
  PLACEMENT_FIELDS,
  ROUTE_FIELDS,
  SESSION_FIELDS,
  TIMEOUT_FIELDS,
} from '../config/declaration/file-fields.ts';
import type { SETTINGS } from '../config/declaration/settings.ts';
import type { Kind } from '../config/values/kind.ts';

/** A secret: the text itself, a variable of `env`, or a file, which is watched. */
export type SecretValue = string | { readonly env: string } | { readonly file: string };

/** What a person writes for a value: durations and sizes as text with their unit, lists as lists or with commas. */
type Written<T> = T extends boolean
  ? boolean
  : T extends number
    ? string | number
    : T extends readonly unknown[]
      ? string | readonly string[]
      : T extends string
        ? T
        : string;

type Fields<F> = {
  readonly [K in keyof F]?: F[K] extends { kind: Kind<infer T> } ? Written<T> : never;
};
type Needs<F, K extends keyof F> = Omit<F, K> & Required<Pick<F, K>>;

interface Account {
  readonly clientId: SecretValue;
  readonly clientSecret: SecretValue;
}

interface User {
  readonly username: SecretValue;
  readonly password: SecretValue;
}

/** What each type of credential has besides what all of them have. */
interface Contents {
  readonly session: (Account | User) & Fields<typeof SESSION_FIELDS>;
  readonly basic: User;
  readonly apiKey: { readonly key: SecretValue };
  readonly oauth2: Fields<typeof OAUTH2_FIELDS> &
    Partial<Account> & { readonly [K in keyof typeof OAUTH2_FILES]?: { readonly file: string } } & {
      readonly tls?: { readonly [K in keyof typeof OAUTH2_TLS]: string };
      readonly parameters?: Readonly<Record<string, SecretValue>>;
    };
  readonly exec: Needs<Fields<typeof EXEC_FIELDS>, 'command'>;
}

export type CredentialObject = {
  [T in CredentialType]: { readonly type: T } & Contents[T] & Fields<typeof PLACEMENT_FIELDS>;
}[CredentialType];

export type RouteObject = Needs<Fields<typeof ROUTE_FIELDS>, 'prefix' | 'credential'> & {
  readonly timeouts?: Fields<typeof TIMEOUT_FIELDS>;
};

export type CallerObject = Fields<typeof CALLER_FIELDS> & { readonly key: SecretValue };

/** Each type with what it needs; `credential` is `token` unless given. */
export type SinkObject =
  | { readonly haproxy: string; readonly map: string }
  | { readonly envoySds: string; readonly name: string; readonly credential?: string }
  | { readonly file: string; readonly credential?: string };

type Settings = typeof SETTINGS;

/** By dotted key. */
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

/** The configuration file as an object (docs/configuration.md): derived from the settings' own declarations. */
export type ConfigObject = Omit<Top, 'routes' | 'credentials' | 'callers' | 'sinks'> &
  Groups & {
    readonly callerKey?: SecretValue;
    readonly share?: { readonly url?: SecretValue; readonly key?: SecretValue };
    readonly callers?: Readonly<Record<string, CallerObject>>;
    readonly credentials?: Readonly<Record<string, CredentialObject>>;
    readonly routes?: readonly RouteObject[];
    readonly sinks?: readonly SinkObject[];
  };
