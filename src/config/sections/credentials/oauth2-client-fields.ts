import type { Fields } from '../../shapes/field.ts';
import { fileShape, pathShape } from '../../shapes/login-file.ts';
import { type Declared, object } from '../../shapes/object.ts';
import { secret } from '../../shapes/secret.ts';
import * as kinds from '../../values/vocabulary.ts';

const CERTIFICATE = object({
  certFile: {
    kind: pathShape,
    required: true,
    description: 'its certificate, with the chain below it; read anew at each login',
  },
  keyFile: { kind: pathShape, required: true, description: 'the private key of it; read anew at each login' },
});

const BY_SECRET = { clientAuthentication: ['basic', 'body'] } as const;
const BY_ASSERTION = { clientAuthentication: ['assertion'] } as const;
const BY_KEY = { clientAuthentication: ['privateKeyJwt'] } as const;
/** With this grant, the fields describe the assertion that is the grant. */
const OR_GRANT = { grant: ['jwtBearer'] } as const;

/** How the client authenticates. Fields of a single way name it in `onlyWith`. */
export const CLIENT_FIELDS = {
  clientId: {
    kind: secret('body'),
    neededWith: { clientAuthentication: ['basic', 'body', 'privateKeyJwt', 'tls'] },
    description: 'ID of the client',
  },
  clientSecret: {
    kind: secret('body'),
    onlyWith: BY_SECRET,
    neededWith: BY_SECRET,
    description: 'secret of the client',
  },
  clientAuthentication: {
    kind: kinds.choice(['basic', 'body', 'assertion', 'privateKeyJwt', 'tls', 'none']),
    default: 'basic',
    defaultWith: { grant: { jwtBearer: 'none' } },
    description:
      'how the client says who it is: by its secret in the Authorization header or in the body, by a signed assertion from a file or of its own, by its certificate, or not at all',
  },
  assertion: {
    kind: fileShape,
    onlyWith: { ...BY_ASSERTION, ...OR_GRANT },
    neededWith: BY_ASSERTION,
    description:
      'a JWT that another program signs for the client (RFC 7523), such as a projected token of Kubernetes; read anew at each login',
  },
  privateKey: {
    kind: fileShape,
    onlyWith: { ...BY_KEY, ...OR_GRANT },
    neededWith: BY_KEY,
    description:
      'the private key that assertions are signed with, in PEM or as a JWK; read anew at each login',
  },
  keyId: {
    kind: kinds.text,
    onlyWith: { ...BY_KEY, ...OR_GRANT },
    description: 'the kid of the assertions that are signed with privateKey',
  },
  algorithm: {
    kind: kinds.choice(['RS256', 'PS256', 'ES256', 'EdDSA']),
    default: 'RS256',
    onlyWith: { ...BY_KEY, ...OR_GRANT },
    description: 'what they are signed by',
  },
  assertionAudience: {
    kind: kinds.text,
    onlyWith: { ...BY_KEY, ...OR_GRANT },
    description: 'their audience; the token URL unless given',
  },
  tls: {
    kind: CERTIFICATE,
    neededWith: { clientAuthentication: ['tls'] },
    description: 'the certificate that the client shows to the token endpoint',
  },
} as const satisfies Fields;

type DeclaredClient = Declared<typeof CLIENT_FIELDS>;

export type SigningAlgorithm = DeclaredClient['algorithm'];

export type ClientCertificate = Readonly<NonNullable<ReturnType<typeof certificateOf>>>;

export function certificateOf({ tls }: DeclaredClient) {
  return tls?.certFile && tls.keyFile && { certFile: tls.certFile, keyFile: tls.keyFile };
}

/** What assertions are signed with. */
export type SigningKey = Readonly<NonNullable<ReturnType<typeof signingKeyOf>>>;

export function signingKeyOf(declared: DeclaredClient) {
  const { privateKey, algorithm, keyId, assertionAudience } = declared;
  const options = { ...(keyId && { keyId }), ...(assertionAudience && { assertionAudience }) };
  return privateKey && { privateKey, algorithm, ...options };
}

/**
 * How the client authenticates; only `basic` and `body` have a secret in the configuration. Undefined if a field is missing.
 */
export function authenticationOf(declared: DeclaredClient) {
  const { clientAuthentication, clientId, clientSecret, assertion } = declared;
  const named = { ...(clientId && { clientId }) };
  switch (clientAuthentication) {
    case 'basic': // In the Authorization header, or among the form's parameters (RFC 6749 §2.3.1).
    case 'body':
      return clientId && clientSecret && { clientAuthentication, clientId, clientSecret };
    case 'assertion': // A JWT that another program signs for us (RFC 7523 §2.2).
      return assertion && { clientAuthentication, ...named, assertion };
    case 'privateKeyJwt': {
      // A JWT that we sign (RFC 7523 §2.2).
      const key = signingKeyOf(declared);
      return clientId && key && { clientAuthentication, clientId, ...key };
    }
    case 'tls': {
      // RFC 8705 §2.
      const tls = certificateOf(declared);
      return clientId && tls && { clientAuthentication, clientId, tls };
    }
    case 'none': // A public client: its name at most.
      return { clientAuthentication, ...named };
  }
}
