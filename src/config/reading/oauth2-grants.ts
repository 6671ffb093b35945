import type { Secret } from '../../base/secret.ts';
import type { AssertionGrant, OAuth2Common, SigningKey } from '../config.ts';
import { OAUTH2_FIELDS, OWN_CLAIMS } from '../declaration/file-fields.ts';
import type { OAuth2Entry } from './oauth2-entry.ts';

export type Grant = 'clientCredentials' | 'tokenExchange' | 'jwtBearer' | 'password';

/** Which keys belong to one grant alone. */
const GRANT_OF: Readonly<Record<string, Grant>> = {
  subjectToken: 'tokenExchange',
  subjectTokenType: 'tokenExchange',
  assertionClaims: 'jwtBearer',
  assertionLifetime: 'jwtBearer',
  username: 'password',
  password: 'password',
};

/** With `grant: jwtBearer` they are about its assertion, and not about one that authenticates the client. */
export const ASSERTION_KEYS: ReadonlySet<string> = new Set([
  'assertion',
  'privateKey',
  'keyId',
  'algorithm',
  'assertionAudience',
]);

/** What the grant needs; undefined where there is a fault in it, which has been reported. */
export function readGrant(
  at: OAuth2Entry,
  grant: Grant,
  clientId: Secret | undefined,
): Pick<OAuth2Common, 'exchange' | 'assertionGrant' | 'owner'> | undefined {
  for (const [key, owner] of Object.entries(GRANT_OF)) {
    if (owner !== grant && at.has(key)) at.report(key, `is for grant: ${owner}`);
  }
  switch (grant) {
    case 'clientCredentials':
      return {};
    case 'tokenExchange':
      return readExchange(at);
    case 'jwtBearer': {
      const assertionGrant = readAssertionGrant(at, clientId);
      return assertionGrant && { assertionGrant };
    }
    case 'password': {
      at.need('username', '; grant: password needs it');
      at.need('password', '; grant: password needs it');
      const [username, password] = [at.secret('username'), at.secret('password')];
      return username && password && { owner: { username, password } };
    }
  }
}

function readExchange(at: OAuth2Entry): Pick<OAuth2Common, 'exchange'> | undefined {
  const { subjectTokenType } = OAUTH2_FIELDS;
  const type = at.read('subjectTokenType', subjectTokenType) ?? subjectTokenType.default;
  at.need('subjectToken', '; grant: tokenExchange needs it');
  const subjectToken = at.file('subjectToken');
  return subjectToken && { exchange: { subjectToken, subjectTokenType: type } };
}

function readAssertionGrant(at: OAuth2Entry, clientId: Secret | undefined): AssertionGrant | undefined {
  if (at.has('assertion')) {
    for (const key of [
      'privateKey',
      'keyId',
      'algorithm',
      'assertionAudience',
      'assertionClaims',
      'assertionLifetime',
    ])
      if (at.has(key))
        at.report(key, 'is for an assertion that bearerd signs, and assertion names one from a file');
    const assertion = at.file('assertion');
    return assertion && { assertion };
  }
  if (!at.has('privateKey')) {
    at.report('privateKey', 'is missing; grant: jwtBearer needs it, or assertion: { file: PATH }');
    return undefined;
  }
  const key = readSigningKey(at, 'grant: jwtBearer');
  const claims = readClaims(at, clientId);
  const lifetimeMs = at.read('assertionLifetime', OAUTH2_FIELDS.assertionLifetime) ?? 60_000;
  return key && claims && { ...key, claims, lifetimeMs };
}

/** `iss` and `sub` are the client unless they say otherwise. */
function readClaims(
  at: OAuth2Entry,
  clientId: Secret | undefined,
): Readonly<Record<string, unknown>> | undefined {
  const given = at.map('assertionClaims') ?? {};
  for (const name of OWN_CLAIMS) {
    const own = name === 'aud' ? 'assertionAudience sets it' : 'bearerd sets it anew each time';
    if (Object.hasOwn(given, name)) at.report(`assertionClaims.${name}`, `cannot be given here: ${own}`);
  }
  if (clientId !== undefined || given.iss !== undefined) return given;
  at.report('clientId', 'is missing; grant: jwtBearer needs it, or assertionClaims with iss');
  return undefined;
}

/** @param why what needs the key */
export function readSigningKey(at: OAuth2Entry, why: string): SigningKey | undefined {
  const { keyId, algorithm, assertionAudience } = OAUTH2_FIELDS;
  at.need('privateKey', `; ${why} needs it`);
  const privateKey = at.file('privateKey');
  const [id, audience] = [at.read('keyId', keyId), at.read('assertionAudience', assertionAudience)];
  const chosen = at.read('algorithm', algorithm) ?? algorithm.default;
  return (
    privateKey && {
      privateKey,
      algorithm: chosen,
      ...(id !== undefined && { keyId: id }),
      ...(audience !== undefined && { assertionAudience: audience }),
    }
  );
}
