import type { Secret } from '../../base/secret.ts';
import type { CredentialConfig } from '../credential-config.ts';

/**
 * Whether instances may have one token of this credential together. What a command prints may be meant for one place
 * only, and what a token is exchanged for is its bearer's: each instance may have another.
 */
export function isShared(credential: CredentialConfig): boolean {
  if (credential.kind === 'oauth2') return credential.exchange === undefined;
  return credential.kind === 'session';
}

/** The secret that only those have who may log in as this account, where it has one. */
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
