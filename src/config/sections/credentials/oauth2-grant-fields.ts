import type { Secret } from '../../../base/secret.ts';
import type { YamlMap } from '../../reading/maps.ts';
import type { Fields } from '../../shapes/field.ts';
import { fileShape, type LoginFile } from '../../shapes/login-file.ts';
import type { Declared, Entry } from '../../shapes/object.ts';
import { HIDDEN, secret } from '../../shapes/secret.ts';
import type { Shape } from '../../shapes/shape.ts';
import { mapAt } from '../../shapes/unknown-keys.ts';
import * as kinds from '../../values/vocabulary.ts';
import { type CLIENT_FIELDS, type SigningKey, signingKeyOf } from './oauth2-client-fields.ts';

/** bearerd sets these claims in each assertion. */
const OWN_CLAIMS: readonly string[] = ['aud', 'exp', 'iat', 'nbf', 'jti'];

const CLAIMS: Shape<YamlMap, Readonly<Record<string, unknown>>> = {
  schema: { type: 'object', propertyNames: { not: { enum: OWN_CLAIMS } } },
  read(raw, at) {
    const claims = mapAt(raw, at);
    for (const name of OWN_CLAIMS.filter((own) => Object.hasOwn(claims ?? {}, own))) {
      const reason = name === 'aud' ? 'assertionAudience sets it' : 'bearerd sets it anew each time';
      at.below(name).report(`cannot be given here: ${reason}`);
    }
    return claims;
  },
  // Their values may name accounts and more: the names of the claims are enough.
  show: (claims) => Object.fromEntries(Object.keys(claims).map((name) => [name, HIDDEN])),
};

const BY_EXCHANGE = { grant: ['tokenExchange'] } as const;
const BY_JWT = { grant: ['jwtBearer'] } as const;
const BY_PASSWORD = { grant: ['password'] } as const;

/** The grant. Fields of a single grant name it in `onlyWith`. */
export const GRANT_FIELDS = {
  grant: {
    kind: kinds.choice(['clientCredentials', 'tokenExchange', 'jwtBearer', 'password']),
    default: 'clientCredentials',
    description:
      'for itself, in exchange for the token in subjectToken (RFC 8693), for an assertion (RFC 7523), or for a user name and a password (RFC 6749, section 4.3)',
  },
  subjectToken: {
    kind: fileShape,
    onlyWith: BY_EXCHANGE,
    neededWith: BY_EXCHANGE,
    description: 'the token that is exchanged; read anew at each login',
  },
  subjectTokenType: {
    kind: kinds.text,
    default: 'urn:ietf:params:oauth:token-type:jwt',
    onlyWith: BY_EXCHANGE,
    description: 'what kind of token subjectToken is',
  },
  assertionClaims: {
    kind: CLAIMS,
    onlyWith: BY_JWT,
    description: 'claims of the assertion of grant: jwtBearer; iss and sub are clientId unless they are here',
  },
  assertionLifetime: {
    kind: kinds.duration({ min: 1_000, max: 3_600_000 }),
    default: '60s',
    onlyWith: BY_JWT,
    description: 'how long an assertion of grant: jwtBearer is valid',
  },
  username: {
    kind: secret('body'),
    onlyWith: BY_PASSWORD,
    neededWith: BY_PASSWORD,
    description: 'name of the user whose token it is',
  },
  password: {
    kind: secret('body'),
    onlyWith: BY_PASSWORD,
    neededWith: BY_PASSWORD,
    description: 'password of that user',
  },
} as const satisfies Fields;

type DeclaredGrant = Declared<typeof GRANT_FIELDS & typeof CLIENT_FIELDS>;

const OF_KEY = ['privateKey', 'keyId', 'algorithm', 'assertionAudience'];
const OF_SIGNED_GRANT = ['assertionClaims', 'assertionLifetime'];

/**
 * The assertion of `jwtBearer` comes from a file, or is signed here. The client may authenticate beside it (RFC 7523 §2.1),
 * and then the same key signs both assertions. A file holds one of the two.
 */
export function checkAssertionGrant(
  { grant, clientAuthentication, assertionClaims }: DeclaredGrant,
  { has, report }: Entry,
): void {
  if (grant !== 'jwtBearer') return;
  if (clientAuthentication === 'assertion') {
    report('clientAuthentication', 'cannot be assertion with grant: jwtBearer, whose assertion is the grant');
    return;
  }
  const byKey = clientAuthentication === 'privateKeyJwt';
  if (has('assertion')) {
    const reason = 'is for an assertion that bearerd signs, and assertion names one from a file';
    const unused = byKey ? OF_SIGNED_GRANT : [...OF_KEY, ...OF_SIGNED_GRANT];
    for (const key of unused.filter(has)) report(key, reason);
    return;
  }
  // These two are needed for `privateKeyJwt` itself.
  if (byKey) return;
  if (!has('privateKey')) {
    report('privateKey', 'is missing; grant: jwtBearer needs it, or assertion: { file: PATH }');
  } else if (!has('clientId') && assertionClaims?.iss === undefined) {
    report('clientId', 'is missing; grant: jwtBearer needs it, or assertionClaims with iss');
  }
}

/** The grant in force; empty for client credentials (RFC 6749 §4.4). */
interface Grant {
  /** The token of another party, exchanged for ours (RFC 8693). */
  readonly exchange?: { readonly subjectToken: LoginFile; readonly subjectTokenType: string };
  /** An assertion that is the grant itself (RFC 7523 §2.1): from a file, or signed by us. */
  readonly assertionGrant?:
    | { readonly assertion: LoginFile }
    | (SigningKey & {
        /** All but `aud`, `iat`, `exp` and `jti`, which we set. `iss` and `sub` are the client unless given here. */
        readonly claims: Readonly<Record<string, unknown>>;
        readonly lifetimeMs: number;
      });
  /** A person whose name and password are the grant (RFC 6749 §4.3). */
  readonly owner?: { readonly username: Secret; readonly password: Secret };
}

/** Undefined if the grant lacks something. */
export function grantOf(declared: DeclaredGrant): Grant | undefined {
  const { grant, subjectToken, subjectTokenType, username, password } = declared;
  switch (grant) {
    case 'clientCredentials':
      return {};
    case 'tokenExchange':
      return subjectToken && { exchange: { subjectToken, subjectTokenType } };
    case 'jwtBearer': {
      const { assertion, assertionClaims: claims = {}, assertionLifetime: lifetimeMs } = declared;
      if (assertion !== undefined) return { assertionGrant: { assertion } };
      const key = signingKeyOf(declared);
      return key && { assertionGrant: { ...key, claims, lifetimeMs } };
    }
    case 'password':
      return username && password && { owner: { username, password } };
  }
}
