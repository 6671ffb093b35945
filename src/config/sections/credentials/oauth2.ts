import { mapOf, valuesOf } from '../../shapes/collections.ts';
import type { Declared, Entry } from '../../shapes/object.ts';
import { secret } from '../../shapes/secret.ts';
import * as kinds from '../../values/vocabulary.ts';
import { authenticationOf, CLIENT_FIELDS, certificateOf } from './oauth2-client-fields.ts';
import { checkAssertionGrant, GRANT_FIELDS, grantOf } from './oauth2-grant-fields.ts';
import { credential, type InForce } from './placement.ts';

/** Form parameters that `parameters` can't set, because other fields do. */
const OWN_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['grant_type', 'it comes from grant'],
  ['client_id', 'it comes from clientId'],
  ['client_secret', 'it comes from clientSecret'],
  ['assertion', 'it comes from assertion or privateKey'],
  ['username', 'it comes from username'],
  ['password', 'it comes from password'],
  ['client_assertion', 'it comes from assertion or privateKey'],
  ['client_assertion_type', 'it is always that of a JWT'],
  ['subject_token', 'it comes from subjectToken'],
  ['subject_token_type', 'it comes from subjectTokenType'],
  ['scope', 'it comes from scope, beside parameters'],
  ['audience', 'it comes from audience, beside parameters'],
]);

/** Why `parameters` can't set it; undefined if it can. */
export function ownParameterProblem(name: string): string | undefined {
  return OWN_PARAMETERS.get(name);
}

/** Each is read as a secret, because any of them may be one. */
const PARAMETERS = mapOf({
  of: secret('body'),
  nameProblem: (name) => {
    const reason = ownParameterProblem(name);
    return reason && `cannot be given here: ${reason}`;
  },
  schema: { propertyNames: { not: { enum: [...OWN_PARAMETERS.keys()] } } },
});

/** A client of a token endpoint. */
export const OAUTH2 = credential(
  {
    tokenUrl: { kind: kinds.tokenUrl, description: 'the token endpoint, the whole URL of it' },
    issuer: {
      kind: kinds.issuer,
      description:
        'in place of tokenUrl: the issuer that tells where its token endpoint is (RFC 8414, OpenID)',
    },
    ...GRANT_FIELDS,
    ...CLIENT_FIELDS,
    scope: {
      kind: kinds.text,
      description: 'what the token is asked to be good for; scopes with blanks between them',
    },
    audience: {
      kind: kinds.text,
      description: 'the audience of the token, where the token endpoint asks for it',
    },
    parameters: { kind: PARAMETERS, description: 'more form parameters, such as resource' },
  },
  {
    check: (declared, entry) => {
      checkEndpoint(entry);
      checkAssertionGrant(declared, entry);
    },
    schema: { oneOf: [{ required: ['tokenUrl'] }, { required: ['issuer'] }] },
  },
);

function checkEndpoint({ has, report }: Entry): void {
  if (!has('issuer') && !has('tokenUrl')) report('tokenUrl', 'is missing');
  if (has('issuer') && has('tokenUrl'))
    report('issuer', 'is given together with tokenUrl; keep one of the two');
}

export function oauth2InForce(declared: Declared<typeof OAUTH2.fields>) {
  const { tokenUrl: tokenEndpoint, issuer, scope, audience, parameters = new Map() } = declared;
  const client = authenticationOf(declared);
  const grant = grantOf(declared);
  const tls = certificateOf(declared);
  if (client === undefined || grant === undefined) return undefined;
  return {
    kind: 'oauth2' as const,
    // One of the two: the endpoint, or the issuer whose metadata names it.
    ...(tokenEndpoint && { tokenEndpoint }),
    ...(issuer && { issuer }),
    // The client certificate for the token endpoint.
    ...(tls && { tls }),
    ...client,
    ...grant,
    ...(scope && { scope }),
    ...(audience && { audience }),
    parameters: valuesOf(parameters),
  };
}

export type OAuth2CredentialConfig = InForce<typeof oauth2InForce>;
