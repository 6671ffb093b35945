import { Secret } from '../../../base/secret.ts';
import { mapOf } from '../../shapes/collections.ts';
import type { At } from '../../shapes/shape.ts';
import { type Variant, variants } from '../../shapes/variants.ts';
import { namesCredential } from '../../values/credential-names.ts';
import { EXEC, type ExecCredentialConfig, execInForce } from './exec.ts';
import {
  API_KEY,
  type ApiKeyCredentialConfig,
  apiKeyInForce,
  BASIC,
  type BasicCredentialConfig,
  basicInForce,
} from './keys.ts';
import { OAUTH2, type OAuth2CredentialConfig, oauth2InForce } from './oauth2.ts';
import { type DeclaredPlacement, PLACEMENT, type Placement, placementOf } from './placement.ts';
import { SESSION, type SessionCredentialConfig, sessionInForce } from './session.ts';

/** A route says `none` or `deny` instead of a credential's name. */
export const RESERVED_NAMES: readonly string[] = ['none', 'deny'];
const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_-]*$';

export function nameProblem(name: string): string | undefined {
  const isName = new RegExp(NAME_PATTERN).test(name);
  return isName ? undefined : 'must have a name of letters, digits, - and _ that begins with a letter';
}

export const NAMES = { propertyNames: { pattern: NAME_PATTERN } };

/** One credential, of one of the types. */
export const CREDENTIAL = variants(
  { session: SESSION, apiKey: API_KEY, basic: BASIC, oauth2: OAUTH2, exec: EXEC },
  PLACEMENT,
);
export const CREDENTIAL_TYPES = CREDENTIAL.objects;
export type DeclaredCredential = Variant<typeof CREDENTIAL_TYPES>;

export const CREDENTIALS = mapOf({
  of: CREDENTIAL,
  nameProblem: (name) =>
    RESERVED_NAMES.includes(name)
      ? `cannot be a credential's name: routes use ${name} as a word`
      : nameProblem(name),
  schema: { propertyNames: { pattern: NAME_PATTERN, not: { enum: RESERVED_NAMES } } },
});

/** A credential as it was declared, with its placement in force. */
export interface Credential {
  readonly at: At;
  readonly declared: DeclaredCredential;
  readonly placement: Placement;
}

/** A credential in force. */
export type CredentialConfig =
  | SessionCredentialConfig
  | ApiKeyCredentialConfig
  | BasicCredentialConfig
  | OAuth2CredentialConfig
  | ExecCredentialConfig;

/** @param baseOrigin where it may go if it names no origins */
export function placementIn(declared: DeclaredCredential, baseOrigin: string | undefined): Placement {
  if (declared.type === 'basic') return placementOf({ ...declared, scheme: 'Basic' }, baseOrigin);
  const own = declared.type === 'session' ? declared.baseUrl?.origin : undefined;
  return placementOf(declared, own ?? baseOrigin);
}

/** Undefined if it has a fault. */
export function inForce(name: string, { at, declared, placement }: Credential): CredentialConfig | undefined {
  const content = contentOf(declared, at);
  return content && { name, ...placement, ...content };
}

function contentOf(declared: DeclaredCredential, at: At) {
  switch (declared.type) {
    case 'session':
      return sessionInForce(declared);
    case 'apiKey':
      return apiKeyInForce(declared);
    case 'basic':
      return basicInForce(declared);
    case 'oauth2':
      return oauth2InForce(declared);
    case 'exec':
      return execInForce(declared, at);
  }
}

/** The origins where it logs in, and which get its secret, by the fields that name them. */
export function loginOrigins(
  declared: DeclaredCredential,
): readonly (readonly [string, string | undefined])[] {
  if (declared.type === 'session') return [['baseUrl', declared.baseUrl?.origin]];
  if (declared.type !== 'oauth2') return [];
  const { tokenUrl, issuer } = declared;
  return [
    ['tokenUrl', tokenUrl?.origin],
    ['issuer', issuer && new URL(issuer).origin],
  ];
}

/** Handled like secrets, but common in other texts. A user name that is a key has a field of its own. */
const HARMLESS: readonly string[] = ['clientId', 'username'];

/** All secrets in a credential, or in a part of it, whatever its kind. */
export function secretsIn(value: unknown): readonly Secret[] {
  if (value instanceof Secret) return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (HARMLESS.includes(key)) return [];
    return secretsIn(key === 'parameters' ? secretParameters(inner) : inner);
  });
}

/** Of the form parameters of a login, most are a resource or a tenant, which other texts hold, too. The name tells. */
function secretParameters(parameters: object): readonly unknown[] {
  return Object.entries(parameters).flatMap(([name, value]) => (namesCredential(name) ? [value] : []));
}

/** As the file would say it, with the placement that is in force. */
export function withPlacement({ declared, placement }: Credential): DeclaredCredential {
  const { in: _in, name: _name, ...own }: DeclaredCredential & DeclaredPlacement = declared;
  const { queryOrCookie, ...rest } = placement;
  return { ...own, ...rest, ...queryOrCookie } as DeclaredCredential;
}
