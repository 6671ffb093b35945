import { sentOf } from '../../app/credentials.ts';
import { logsIn } from '../../app/logins.ts';
import type { Config } from '../../config/config.ts';
import type { CredentialConfig } from '../../config/credential-config.ts';

/** What went with a request, by its shape alone: `X-Api-Key: <8 characters>`. @param name of a credential, or `none` */
export function whatWasSent({ credentials }: Config, name: string): string {
  const credential = credentials.get(name);
  return credential === undefined ? 'no credential' : shapeOf(credential);
}

function shapeOf(credential: CredentialConfig): string {
  const { header, scheme, elsewhere } = credential;
  const value = logsIn(credential) ? '<a token>' : `<${sentOf(credential).characters()} characters>`;
  if (elsewhere?.in === 'query') return `?${elsewhere.name}=${value}`;
  if (elsewhere?.in === 'cookie') return `Cookie: ${elsewhere.name}=${value}`;
  return `${header}: ${scheme === '' ? '' : `${scheme} `}${value}`;
}

/** What to do about an answer of the upstream, where its status says that. */
export function remedyFor(status: number, { credentials }: Config, name: string): string | undefined {
  const credential = credentials.get(name);
  switch (status) {
    case 401:
      if (credential === undefined)
        return 'The upstream expects a credential, and the route sends none: set the credential of the route.';
      return logsIn(credential)
        ? 'The login gave this token, and the upstream refuses it: check that both belong to the same environment, and how the token is sent (header and scheme).'
        : `Check the key, and how the API expects it: header and scheme of credentials.${name} say how it is sent.`;
    case 403:
      return 'The upstream knows the account, and does not allow this request: check the rights of the account.';
    case 404:
      return 'Check the path: "bearerd routes METHOD PATH" shows the URL of the request.';
    default:
      return undefined;
  }
}
