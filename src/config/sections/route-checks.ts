import { SETTINGS, type Values } from '../declaration/settings.ts';
import type { At } from '../shapes/shape.ts';
import { insteadOf } from '../values/nearest.ts';
import { isInsecure } from '../values/urls.ts';
import { RESERVED_NAMES } from './credentials/credential.ts';
import type { Credentials } from './credentials/credentials.ts';
import { addressOf, type DeclaredRoute, type DeclaredRoutes, nameOf } from './routes.ts';

export const INSECURE = `may be http:// for a loopback host only; use https://, or set ${SETTINGS.allowInsecureUpstream.variable}=true to send credentials in clear text`;

export const INSECURE_ADDRESS = `would send http:// to a host that is not loopback; use https://, or set ${SETTINGS.allowInsecureUpstream.variable}=true to send credentials in clear text`;

const LOCALHOST =
  'is only one of the names of this machine: requests for 127.0.0.1 and [::1] see the routes without a host; leave host out, or take a name below it (orders.localhost)';

/** How to define a credential of that name. */
function definitionOf(name: string): string {
  const inFile = `credentials.${name} in a configuration file`;
  if (name === 'token') {
    return `set BEARERD_CLIENT_ID and BEARERD_CLIENT_SECRET, BEARERD_USERNAME and BEARERD_PASSWORD, or ${inFile}`;
  }
  return name === 'apiKey' ? `set BEARERD_API_KEY or ${inFile}` : `define ${inFile}`;
}

/** What else to write, or how to define it: as the end of a sentence. */
function definedOrMeant(name: string, names: readonly string[]): string {
  const instead = insteadOf(name, names);
  return instead.endsWith('?')
    ? `${instead} If not, ${definitionOf(name)}`
    : `${instead}; to have it, ${definitionOf(name)}`;
}

function checkCredential(route: DeclaredRoute, at: At, values: Values, credentials: Credentials): void {
  const { credential: name } = route;
  if (name === undefined || RESERVED_NAMES.includes(name)) return;
  const names = [...new Set([...credentials.names, ...RESERVED_NAMES])];
  if (!credentials.names.includes(name)) {
    at.below('credential').report(
      `sends ${nameOf(route) ?? 'a route'} to the credential ${name}, which does not exist ` +
        definedOrMeant(name, names),
    );
    return;
  }
  const origin = (route.upstream ?? values.upstream)?.origin;
  const known = credentials.declared.get(name);
  if (origin === undefined || known === undefined || known.placement.origins.includes(origin)) return;
  const field = route.upstream === undefined ? 'credential' : 'upstream';
  const { declared } = known;
  // With the origin alone, its secret would still go to the login of the global base URL.
  const elsewhere =
    declared.type === 'session' && declared.baseUrl === undefined
      ? `where that has a login of its own, set credentials.${name}.baseUrl (it logs in at ${values.upstream?.origin} now); else `
      : '';
  at.below(field).report(
    `would send ${name} to ${origin}; ${elsewhere}allow it in credentials.${name}.origins`,
  );
}

/** Rules that need all of the configuration: names that must exist, prefixes that must differ, where secrets may go. */
export function checkRoutes(routes: DeclaredRoutes, values: Values, credentials: Credentials): void {
  const seen = new Set<string>();
  for (const { at, value: route } of routes) {
    checkCredential(route, at, values, credentials);
    const name = nameOf(route);
    const of = route.host === undefined ? 'prefix' : 'host and prefix';
    if (name !== undefined && seen.has(name)) at.below('prefix').report(`has the ${of} of another route`);
    if (name !== undefined) seen.add(name);
    if (route.host === 'localhost') at.reading.warn(at.below('host').key, LOCALHOST);
    if (!values.allowInsecureUpstream) checkSecure(route, at, values);
  }
}

function checkSecure(route: DeclaredRoute, at: At, values: Values): void {
  const { upstream = values.upstream, upstreamAddress } = route;
  if (upstream === undefined || !isInsecure(upstream.origin, addressOf(upstreamAddress, upstream, values)))
    return;
  if (upstreamAddress !== undefined) at.below('upstreamAddress').report(INSECURE_ADDRESS);
  else if (route.upstream !== undefined) at.below('upstream').report(INSECURE);
}
