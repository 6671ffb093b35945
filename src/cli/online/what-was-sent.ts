import { sentOf } from '../../app/credentials.ts';
import { logsIn } from '../../app/logins.ts';
import type { SentAs } from '../../base/failures/status-words.ts';
import type { Config } from '../../config/config.ts';
import type { CredentialConfig } from '../../config/sections/credentials/credential.ts';

/** What went with a request, by its shape alone: `X-Api-Key: <8 characters>`. @param name of a credential, or `none` */
export function whatWasSent({ credentials }: Config, name: string): string {
  const credential = credentials.get(name);
  return credential === undefined ? 'no credential' : shapeOf(credential);
}

function shapeOf(credential: CredentialConfig): string {
  const { header, scheme, queryOrCookie } = credential;
  const value = logsIn(credential) ? '<a token>' : `<${sentOf(credential).characters()} characters>`;
  if (queryOrCookie?.in === 'query') return `?${queryOrCookie.name}=${value}`;
  if (queryOrCookie?.in === 'cookie') return `Cookie: ${queryOrCookie.name}=${value}`;
  return `${header}: ${scheme === '' ? '' : `${scheme} `}${value}`;
}

/** What was sent, in the terms of `STATUS_REMEDIES`. @param name of a credential, or `none` */
export function sentAs({ credentials }: Config, name: string): SentAs {
  const credential = credentials.get(name);
  return credential === undefined ? 'nothing' : logsIn(credential) ? 'token' : 'key';
}
