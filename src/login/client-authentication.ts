import type { Clock } from '../base/clock.ts';
import { LoginError } from '../base/login-error.ts';
import { Secret } from '../base/secret.ts';
import type { OAuth2CredentialConfig } from '../config/sections/credentials/oauth2.ts';
import type { SigningKey } from '../config/sections/credentials/oauth2-client-fields.ts';
import type { TokenEndpoint } from '../config/values/urls.ts';
import { basicValueOf, headerValueOf } from './header-value.ts';
import { readLoginFile } from './login-file.ts';
import { type Assertion, signAssertion } from './signed-assertion.ts';

/** RFC 7523 §2.2. */
const JWT_BEARER_ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** A client assertion is sent at once and used once. */
const CLIENT_ASSERTION_MS = 60_000;

/** What a client adds to a token request to authenticate (RFC 6749 §2.3). */
export interface ClientProof {
  readonly authorization?: Secret;
  readonly parameters: Readonly<Record<string, Secret>>;
}

/**
 * @param signal ends the reading of files
 * @throws LoginError if a file that it needs can't be used.
 */
export async function proveClient(
  config: OAuth2CredentialConfig,
  endpoint: TokenEndpoint,
  clock: Pick<Clock, 'wallMs'>,
  signal: AbortSignal,
): Promise<ClientProof> {
  const named: Record<string, Secret> = config.clientId === undefined ? {} : { client_id: config.clientId };
  switch (config.clientAuthentication) {
    case 'basic':
      return { authorization: basic(config.clientId, config.clientSecret), parameters: {} };
    case 'body':
      return { parameters: { ...named, client_secret: config.clientSecret } };
    case 'assertion':
      return asserting(
        named,
        jwtOnly(await readLoginFile(config.assertion, 'assertion', signal), 'assertion'),
      );
    case 'privateKeyJwt': {
      const assertion = { claims: {}, lifetimeMs: CLIENT_ASSERTION_MS };
      return asserting(named, await signedBy({ ...config, ...assertion }, endpoint, clock, signal));
    }
    case 'tls': // RFC 8705 §2: the certificate authenticates, and client_id is required.
    case 'none':
      return { parameters: named };
  }
}

/**
 * An assertion signed with a configured key. The audience is the endpoint unless another one is configured; `iss` and
 * `sub` are the client ID unless the claims set them.
 *
 * @param signal ends the reading of the key
 */
export async function signedBy(
  config: SigningKey & Pick<Assertion, 'claims' | 'lifetimeMs'> & { readonly clientId?: Secret | undefined },
  endpoint: TokenEndpoint,
  clock: Pick<Clock, 'wallMs'>,
  signal: AbortSignal,
): Promise<Secret> {
  const { clientId, keyId, algorithm, assertionAudience, privateKey, lifetimeMs } = config;
  const audience = assertionAudience ?? endpoint.origin + endpoint.path;
  const key = await readLoginFile(privateKey, 'private key', signal);
  return signAssertion(
    { client: clientId, claims: config.claims, lifetimeMs, audience, keyId, algorithm },
    key,
    clock,
  );
}

function asserting(named: Readonly<Record<string, Secret>>, assertion: Secret): ClientProof {
  const type = new Secret(JWT_BEARER_ASSERTION_TYPE);
  return { parameters: { ...named, client_assertion_type: type, client_assertion: assertion } };
}

/** Signed, with three parts (RFC 7515 §7.1), or encrypted, with five (RFC 7516 §7.1), of which the second may be empty. */
const JWT = /^[\w-]+\.[\w-]*\.(?:[\w-]*|[\w-]*\.[\w-]+\.[\w-]+)$/;

/** Refuses a file that is half written or no JWT. */
export function jwtOnly(token: Secret, what: string): Secret {
  if (token.fits(JWT)) return token;
  throw new LoginError(
    'unreachable',
    `the ${what} is no JWT: three parts in base64url with dots between them, or five where it is encrypted`,
  );
}

/**
 * Both parts are form-encoded before they are joined (RFC 6749 §2.3.1), unlike in other uses of `Basic`: an ID may hold
 * a colon, and both may hold characters outside Latin-1.
 */
function basic(id: Secret, secret: Secret): Secret {
  return headerValueOf(basicValueOf(id.formEncoded(), secret.formEncoded()), 'Basic');
}
