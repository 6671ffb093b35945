import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { LoginError } from '../base/login-error.ts';
import { Secret } from '../base/secret.ts';
import type { SigningAlgorithm } from '../config/sections/credentials/oauth2-client-fields.ts';

export interface Assertion {
  /** The ID for `iss` and `sub`, unless the claims give others. */
  readonly client: Secret | undefined;
  /** Further claims; `aud`, `iat`, `exp` and `jti` are set here. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly audience: string;
  readonly lifetimeMs: number;
  readonly keyId: string | undefined;
  readonly algorithm: SigningAlgorithm;
}

/**
 * A new JWT that authenticates the client, or is the authorization grant (RFC 7523 §3, OpenID Connect Core §9).
 *
 * @param key in PEM, or as a JWK
 * @throws LoginError if the key is invalid or not for this algorithm
 */
export async function signAssertion(
  { client, claims, audience, lifetimeMs, keyId, algorithm }: Assertion,
  key: Secret,
  clock: Pick<Clock, 'wallMs'>,
): Promise<Secret> {
  const { SignJWT } = await import('jose');
  const nowS = Math.floor(clock.wallMs() / 1000);
  const id = client?.expose();
  const jwt = new SignJWT({ ...(id !== undefined && { iss: id, sub: id }), ...claims })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
    .setAudience(audience)
    .setIssuedAt(nowS)
    .setExpirationTime(nowS + Math.floor(lifetimeMs / 1000))
    .setJti(randomUUID());
  try {
    return new Secret(await jwt.sign(privateKeyOf(key)));
  } catch {
    // The messages of the library and of OpenSSL may hold anything.
    throw new LoginError(
      'unreachable',
      `the private key can't sign with ${algorithm}: it is no PEM or JWK, or of another kind`,
    );
  }
}

function privateKeyOf(key: Secret): KeyObject {
  const text = key.expose();
  return text.startsWith('{')
    ? createPrivateKey({ key: JSON.parse(text), format: 'jwk' })
    : createPrivateKey(text);
}
