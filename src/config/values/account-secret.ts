import type { Secret } from '../../base/secret.ts';
import type { CredentialConfig } from '../credential-config.ts';

/**
 * Whether instances may share one token of this credential. What a command prints may be meant for one place only, and
 * a token from an exchange belongs to the bearer of the subject token, which may differ for each instance.
 */
export function isShared(credential: CredentialConfig): boolean {
  if (credential.kind === 'oauth2') return credential.exchange === undefined;
  return credential.kind === 'session';
}

/** The secret that logs in as this account; undefined where it has none. */
export function accountSecretOf(credential: CredentialConfig): Secret | undefined {
  switch (credential.kind) {
    case 'session':
      return credential.grant.kind === 'user' ? credential.grant.password : credential.grant.clientSecret;
    case 'oauth2':
      return 'clientSecret' in credential ? credential.clientSecret : credential.owner?.password;
    default:
      return undefined;
  }
}
