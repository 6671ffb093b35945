import { Secret } from '../../base/secret.ts';
import type { CredentialConfig } from '../../config/sections/credentials/credential.ts';
import type { OAuth2CredentialConfig } from '../../config/sections/credentials/oauth2.ts';
import { accountSecretsOf } from '../../config/sections/share.ts';
import type { Account } from './keys.ts';

/**
 * What identifies an account. Instances share a token only if all of it is equal: account, endpoint, scope and secret.
 *
 * @param sessionUrl the whole URL of a session credential's endpoint
 * @param key `share.key`
 */
export function accountOf(
  credential: CredentialConfig,
  sessionUrl: string | undefined,
  key: Secret | undefined,
): Account {
  return {
    identity: Secret.json(identityOf(credential, sessionUrl)),
    secrets: [...accountSecretsOf(credential), ...(key === undefined ? [] : [key])],
  };
}

function identityOf(credential: CredentialConfig, sessionUrl: string | undefined): unknown[] {
  switch (credential.kind) {
    case 'session': {
      const { grant } = credential;
      const name = grant.kind === 'user' ? grant.username : grant.clientId;
      return ['session', sessionUrl, grant.kind, name];
    }
    case 'oauth2': {
      const { tokenEndpoint, issuer, clientAuthentication, scope, audience, parameters } = credential;
      const where = tokenEndpoint === undefined ? issuer : tokenEndpoint.origin + tokenEndpoint.path;
      const asked = byName(parameters);
      const by = [clientAuthentication, clientOf(credential), ...grantOf(credential)];
      return ['oauth2', where, ...by, scope, audience, asked];
    }
    default:
      throw new Error(`a credential of kind ${credential.kind} is not shared`);
  }
}

/** Who the token is for, unless that is the client: with other grants than client credentials. */
function grantOf({ owner, assertionGrant }: OAuth2CredentialConfig): unknown[] {
  if (owner !== undefined) return ['password', owner.username];
  if (assertionGrant === undefined) return [];
  return 'assertion' in assertionGrant
    ? ['jwtBearer', assertionGrant.assertion.path]
    : ['jwtBearer', byName(assertionGrant.claims), assertionGrant.assertionAudience];
}

/** In a fixed order: instances may list the names differently. Sorted by name, because all secrets print alike. */
function byName(values: Readonly<Record<string, unknown>>): [name: string, value: unknown][] {
  return Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The client ID. Without one, an assertion names the client: then the path of its file. */
function clientOf(credential: OAuth2CredentialConfig): Secret | string | undefined {
  const { clientId } = credential;
  if (clientId !== undefined) return clientId;
  return 'assertion' in credential ? credential.assertion.path : undefined;
}
