import { fieldOf, KNOWN_NAMES } from '../../base/fields.ts';
import type { Route } from '../../routes/route-table.ts';
import { NOT_WITH_SCRUB, requestHeaders } from './request-headers.ts';

/** What is said anew of each request, so that nothing is missing upstream. */
const SAID_ANEW = new Set(['host', 'content-length']);

/**
 * The headers, in lower case, that a client may send and the upstream of this route never sees. Asked of the same
 * function that makes each request's headers, so that no second list can differ from it. Those that `Connection`
 * names go besides, and of a browser's request its cookies.
 */
export function removedHeaders(route: Route, requestIdHeader: string | undefined): string[] {
  const id = requestIdHeader === undefined ? undefined : { header: requestIdHeader.toLowerCase(), value: '' };
  const injection = {
    credential: undefined,
    cookie: undefined,
    keepClientCredential: route.clientAuthorization === 'keep',
    credentialHeader: route.credentialHeader,
    dropCookies: false,
    keepOverrides: route.keepsOverrides,
    id,
    scrub: route.scrub,
    via: '',
  };
  const candidates = [...KNOWN_NAMES, route.credentialHeader, ...NOT_WITH_SCRUB, id?.header ?? []].flat();
  const names = new Set(candidates.map((name) => name.toLowerCase()).filter((name) => !SAID_ANEW.has(name)));
  const passes = (name: string) =>
    requestHeaders({ pairs: [name, 'sent'], fields: [fieldOf(name)] }, injection).includes('sent');
  return [...names].filter((name) => !passes(name));
}
