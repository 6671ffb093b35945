import type { Kind } from './kind.ts';
import * as kinds from './kinds.ts';
import { SETTINGS } from './settings.ts';

interface Field<T> {
  readonly kind: Kind<T>;
  readonly default?: string;
  readonly description: string;
}

/** What every entry of `credentials` may have besides its secrets. */
export const PLACEMENT_FIELDS = {
  origins: {
    kind: kinds.origins,
    description: 'origins that it may be sent to; the origin of the base URL unless given',
  },
  header: {
    kind: kinds.headerName,
    default: 'Authorization',
    description: 'the header that it is sent in',
  },
  scheme: {
    kind: kinds.scheme,
    default: 'Bearer',
    description: 'the word before it; empty for none',
  },
} as const satisfies Record<string, Field<unknown>>;

/** The secrets of each type of credential. */
export const SECRET_FIELDS = {
  session: ['clientId', 'clientSecret', 'username', 'password'],
  apiKey: ['key'],
} as const;

export type CredentialType = keyof typeof SECRET_FIELDS;

export const CREDENTIAL_TYPE = kinds.choice(Object.keys(SECRET_FIELDS) as CredentialType[]);

/** `none` and `deny` are what a route says instead of a credential's name. */
export const RESERVED_NAMES: readonly string[] = ['none', 'deny'];
export const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_-]*$';

/** The values of one route; its `timeouts` are the global ones' twins. */
export const ROUTE_FIELDS = {
  prefix: {
    kind: kinds.path,
    description: 'the path that this route begins at; the longest one that matches wins, whatever the order',
  },
  credential: {
    kind: kinds.text,
    description: 'name of a credential, none (sent without one) or deny (refused)',
  },
  methods: {
    kind: kinds.methods,
    description: 'the methods that are let through; all unless given',
  },
  rewrite: {
    kind: kinds.path,
    description: 'the path that replaces the prefix',
  },
  upstream: {
    kind: kinds.baseUrl,
    description: 'another base URL, which the credential must list in its origins',
  },
  clientAuthorization: {
    kind: kinds.choice(['replace', 'keep', 'reject']),
    default: 'replace',
    description:
      "what becomes of the client's own Authorization: replace it, keep it where there is one, or reject the request (400)",
  },
} as const satisfies Record<string, Field<unknown>>;

export const TIMEOUT_FIELDS = {
  connect: SETTINGS.connectMs,
  response: SETTINGS.responseMs,
  idle: SETTINGS.idleMs,
} as const;
