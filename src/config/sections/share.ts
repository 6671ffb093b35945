import type { ShareConfig } from '../config.ts';
import type { CredentialConfig } from '../credential-config.ts';
import type { Values } from '../declaration/settings.ts';
import type { Report } from '../reading/faults.ts';
import { accountSecretOf, isShared } from '../values/account-secret.ts';
import { parseShareUrl } from '../values/share-url.ts';
import type { GivenSecret } from './single-settings.ts';

export interface GivenShare {
  readonly url: GivenSecret | undefined;
  readonly key: GivenSecret | undefined;
}

/** Where tokens are shared, with a fault for everything that keeps them from being sealed. */
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
    if (!isShared(credential) || accountSecretOf(credential) !== undefined || key !== undefined) continue;
    report(
      'share.key',
      `is required: the credential ${credential.name} has no secret that its token could be sealed by`,
    );
  }
  return { server: server.value, prefix, ...(key?.secret && { key: key.secret }) };
}
