import { fieldOf, KNOWN_NAMES } from '../../base/fields.ts';
import type { Route } from '../../routes/route-table.ts';
import { NOT_WITH_SCRUB, requestHeaders } from './request-headers.ts';

/** bearerd sets these anew, so the upstream misses nothing. */
const SET_ANEW = new Set(['host', 'content-length']);

/**
 * The headers, in lower case, that a client may send and the upstream of this route never gets. Found by trying each in the
 * function that makes the headers of requests, so that the two can't differ. Not among them: headers that `Connection`
 * names, and the cookies of a browser's request.
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
  const names = new Set(candidates.map((name) => name.toLowerCase()).filter((name) => !SET_ANEW.has(name)));
  const passes = (name: string) =>
    requestHeaders({ pairs: [name, 'sent'], fields: [fieldOf(name)] }, injection).includes('sent');
  return [...names].filter((name) => !passes(name));
}
