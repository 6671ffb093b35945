import type { Secret } from '../../base/secret.ts';
import type { Values } from '../declaration/settings.ts';
import type { Report } from '../reading/faults.ts';
import type { GivenSecret } from '../shapes/secret.ts';
import { parseShareUrl, type ShareServer } from '../values/share-url.ts';
import type { CredentialConfig } from './credentials/credential.ts';

export interface GivenShare {
  readonly url: GivenSecret | undefined;
  readonly key: GivenSecret | undefined;
}

/** The engine by which instances of one account share its token. */
export interface ShareConfig {
  readonly server: ShareServer;
  /** Prefix of every key. */
  readonly prefix: string;
  /** Goes into the sealing key; needed by accounts that have no secret. */
  readonly key?: Secret;
}

/** Without the URL of the engine, which is a secret itself. */
export const ENGINE_WORDS = 'the engine that share.url names holds access tokens, sealed';

/**
 * Whether instances may share one token of this credential. The output of a command may be for one machine only, and
 * a token from an exchange belongs to the subject token, which may differ for each instance.
 */
export function isShared(credential: CredentialConfig): boolean {
  if (credential.kind === 'oauth2') return credential.exchange === undefined;
  return credential.kind === 'session';
}

/** The secrets that log in as this account: all of them are necessary. Some accounts have none. */
export function accountSecretsOf(credential: CredentialConfig): readonly Secret[] {
  switch (credential.kind) {
    case 'session':
      return [credential.grant.kind === 'user' ? credential.grant.password : credential.grant.clientSecret];
    case 'oauth2':
      return [
        ...('clientSecret' in credential ? [credential.clientSecret] : []),
        ...(credential.owner === undefined ? [] : [credential.owner.password]),
      ];
    default:
      return [];
  }
}

/** Reports everything that keeps shared tokens from being sealed. */
export function readShare(
  { url, key }: GivenShare,
  { sharePrefix: prefix }: Values,
  credentials: Iterable<CredentialConfig>,
  report: Report,
): ShareConfig | undefined {
  if (url?.secret === undefined) {
    if (url === undefined && key !== undefined)
      report(key.key, 'seals what is shared by share.url, which is not given');
    return undefined;
  }
  const server = parseShareUrl(url.secret);
  if ('problem' in server) {
    report(url.key, server.problem);
    return undefined;
  }
  for (const credential of credentials) {
    if (!isShared(credential) || accountSecretsOf(credential).length > 0 || key !== undefined) continue;
    report(
      'share.key',
      `is required: the credential ${credential.name} has no secret that its token could be sealed by`,
    );
  }
  return { server: server.value, prefix, ...(key?.secret && { key: key.secret }) };
}
