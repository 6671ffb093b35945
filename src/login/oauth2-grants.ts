import type { Clock } from '../base/clock.ts';
import { Secret } from '../base/secret.ts';
import type { OAuth2CredentialConfig } from '../config/sections/credentials/oauth2.ts';
import type { TokenEndpoint } from '../config/values/urls.ts';
import { jwtOnly, signedBy } from './client-authentication.ts';
import { readLoginFile } from './login-file.ts';

/** RFC 8693 §2.1. */
const TOKEN_EXCHANGE = new Secret('urn:ietf:params:oauth:grant-type:token-exchange');
/** RFC 7523 §2.1. */
const JWT_BEARER_GRANT = new Secret('urn:ietf:params:oauth:grant-type:jwt-bearer');

/**
 * The form parameters of the grant in a token request. Reads its files at each call.
 *
 * @param signal ends the reading of files
 * @throws LoginError if a file that it needs can't be used
 */
export async function grantParameters(
  { exchange, assertionGrant, owner, clientId }: OAuth2CredentialConfig,
  endpoint: TokenEndpoint,
  clock: Pick<Clock, 'wallMs'>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, Secret>>> {
  if (exchange !== undefined) {
    const subject_token = await readLoginFile(exchange.subjectToken, 'subject token', signal);
    return {
      grant_type: TOKEN_EXCHANGE,
      subject_token,
      subject_token_type: new Secret(exchange.subjectTokenType),
    };
  }
  if (assertionGrant !== undefined) {
    const assertion =
      'assertion' in assertionGrant
        ? jwtOnly(await readLoginFile(assertionGrant.assertion, 'assertion', signal), 'assertion')
        : await signedBy({ ...assertionGrant, clientId }, endpoint, clock, signal);
    return { grant_type: JWT_BEARER_GRANT, assertion };
  }
  if (owner !== undefined) {
    return { grant_type: new Secret('password'), ...owner };
  }
  return { grant_type: new Secret('client_credentials') };
}

/** True if the token request holds an assertion that we sign, and so our time. */
export function isSigned({ clientAuthentication, assertionGrant }: OAuth2CredentialConfig): boolean {
  if (clientAuthentication === 'privateKeyJwt') return true;
  return assertionGrant !== undefined && 'privateKey' in assertionGrant;
}
