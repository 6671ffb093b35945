import { isDeepStrictEqual } from 'node:util';
import type { RouteConfig, Upstream, UpstreamAddress } from '../config.ts';
import { RESERVED_NAMES } from '../declaration/file-fields.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import type { Credentials } from '../reading/credentials.ts';
import type { RouteDraft } from '../reading/route-drafts.ts';
import { didYouMean, nearest } from '../values/nearest.ts';
import { isInsecure } from '../values/urls.ts';

export const INSECURE = `may be http:// for a loopback host only; use https://, or set ${SETTINGS.allowInsecureUpstream.variable}=true to send credentials in clear text`;

export const INSECURE_ADDRESS = `would send http:// to a host that is not loopback; use https://, or set ${SETTINGS.allowInsecureUpstream.variable}=true to send credentials in clear text`;

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
      `sends ${draft.prefix ?? 'a route'} to the credential ${name}, which does not exist ` +
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
    if (!values.allowInsecureUpstream) checkSecure(draft, values);
  }
}

function checkSecure(draft: RouteDraft, values: Values): void {
  const { upstream = values.upstream, upstreamAddress } = draft;
  if (upstream === undefined || !isInsecure(upstream.origin, addressOf(draft, upstream, values))) return;
  if (upstreamAddress !== undefined) draft.report('upstreamAddress', INSECURE_ADDRESS);
  else if (draft.upstream !== undefined) draft.report('upstream', INSECURE);
}

/** Its own, or else that of the base URL, for whatever has the same origin. */
function addressOf(
  { upstreamAddress }: Pick<RouteDraft, 'upstreamAddress'>,
  { origin }: Upstream,
  base: Pick<Values, 'upstream' | 'upstreamAddress'>,
): UpstreamAddress | undefined {
  return upstreamAddress ?? (origin === base.upstream?.origin ? base.upstreamAddress : undefined);
}

/** The finished routes, once there is no fault left. */
export function finishRoutes(drafts: readonly RouteDraft[], values: Values): readonly RouteConfig[] {
  const base = values.upstream;
  return drafts.flatMap(({ report: _report, prefix, credential, ...draft }) => {
    const upstream = draft.upstream ?? base;
    if (prefix === undefined || credential === undefined || upstream === undefined) return [];
    const upstreamAddress = addressOf(draft, upstream, values);
    return [{ ...draft, prefix, credential, upstream, ...(upstreamAddress && { upstreamAddress }) }];
  });
}

/**
 * Where connections go that no route opens: a login must not come back to us by the very hosts entry that leads clients
 * here. To the base URL's address; elsewhere to that which all routes to an origin have in common.
 */
export function addressesByOrigin(
  routes: readonly RouteConfig[],
  { upstream: base, upstreamAddress }: Values,
): ReadonlyMap<string, UpstreamAddress> {
  const found = new Map<string, UpstreamAddress | undefined>();
  for (const { credential, upstream, upstreamAddress: address } of routes) {
    if (credential === 'deny') continue;
    const known = found.has(upstream.origin) ? found.get(upstream.origin) : address;
    found.set(upstream.origin, isDeepStrictEqual(known, address) ? address : undefined);
  }
  if (base !== undefined && upstreamAddress !== undefined) found.set(base.origin, upstreamAddress);
  return new Map(
    [...found].flatMap(([origin, address]) => (address === undefined ? [] : [[origin, address]])),
  );
}
