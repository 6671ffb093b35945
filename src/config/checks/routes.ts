import type { RouteConfig, Upstream } from '../config.ts';
import { RESERVED_NAMES } from '../declaration/file-fields.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import type { Credentials } from '../reading/credentials.ts';
import type { RouteDraft } from '../reading/route-drafts.ts';
import { didYouMean, nearest } from '../values/nearest.ts';
import { isInsecure } from '../values/urls.ts';

export const INSECURE = `may be http:// for a loopback host only; use https://, or set ${SETTINGS.allowInsecureUpstream.variable}=true to send credentials in clear text`;

/** What would make a credential of that name. */
function definitionOf(name: string): string {
  const inFile = `credentials.${name} in a configuration file defines it`;
  if (name === 'token') {
    return `BEARERD_CLIENT_ID and BEARERD_CLIENT_SECRET, BEARERD_USERNAME and BEARERD_PASSWORD, or ${inFile}`;
  }
  return name === 'apiKey' ? `BEARERD_API_KEY or ${inFile}` : inFile;
}

function checkCredential(draft: RouteDraft, values: Values, credentials: Credentials): void {
  const name = draft.credential;
  if (name === undefined || RESERVED_NAMES.includes(name)) return;
  const known = [...new Set([...credentials.names, ...RESERVED_NAMES])];
  if (!credentials.names.includes(name)) {
    draft.report(
      'credential',
      `sends ${draft.prefix ?? 'a route'} to the credential ${name}, which is not there ` +
        `(there are ${known.join(', ')})${didYouMean(nearest(name, known))}; ${definitionOf(name)}`,
    );
    return;
  }
  const origin = (draft.upstream ?? values.upstream)?.origin;
  const origins = credentials.usable.get(name)?.origins;
  if (origin === undefined || origins === undefined || origins.includes(origin)) return;
  const field = draft.upstream === undefined ? 'credential' : 'upstream';
  draft.report(field, `would send ${name} to ${origin}; allow it in credentials.${name}.origins`);
}

/** What can only be said when all is read: names that must exist, prefixes that must differ, where secrets may go. */
export function checkRoutes(drafts: readonly RouteDraft[], values: Values, credentials: Credentials): void {
  for (const [index, draft] of drafts.entries()) {
    checkCredential(draft, values, credentials);
    const { prefix } = draft;
    if (prefix !== undefined && drafts.slice(0, index).some((other) => other.prefix === prefix)) {
      draft.report('prefix', 'has the prefix of another route');
    }
    if (draft.upstream !== undefined && isInsecure(draft.upstream.origin) && !values.allowInsecureUpstream) {
      draft.report('upstream', INSECURE);
    }
  }
}

/** The finished routes, once there is no fault left. */
export function finishRoutes(drafts: readonly RouteDraft[], base: Upstream): readonly RouteConfig[] {
  return drafts.flatMap(({ report: _report, prefix, credential, upstream, ...rest }) =>
    prefix === undefined || credential === undefined
      ? []
      : [{ ...rest, prefix, credential, upstream: upstream ?? base }],
  );
}
