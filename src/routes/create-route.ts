import { foldedName } from '../base/fields.ts';
import type { RouteConfig } from '../config/sections/routes.ts';
import { routeName } from '../config/values/route-names.ts';
import type { Credential } from '../login/credential.ts';
import { type Route, withoutSlash } from './route-table.ts';

/**
 * @param credentials by name; `none` and `deny` need no entry
 * @param all the routes of all tables. It may still be incomplete: `neighbours`, `siblings` and `strangers` read it later.
 */
export function createRoute(
  config: RouteConfig,
  credentials: ReadonlyMap<string, Credential>,
  all: readonly Route[],
): Route {
  const { host, prefix, credential: credentialName, upstream, rewrite } = config;
  const name = routeName(config);
  const denied = credentialName === 'deny';
  const credential = denied || credentialName === 'none' ? undefined : credentials.get(credentialName);
  if (!denied && credentialName !== 'none') {
    // The configuration was checked before. This check makes sure that no credential goes to another origin.
    if (credential === undefined) throw new Error(`route ${name}: no credential "${credentialName}"`);
    if (!credential.origins.has(upstream.origin)) {
      throw new Error(`route ${name}: credential "${credentialName}" may not go to ${upstream.origin}`);
    }
  }
  const upstreamPrefix = upstream.basePath + withoutSlash(rewrite ?? prefix);
  return {
    name,
    host,
    prefix,
    credentialName,
    credential,
    credentialHeader: foldedName(credential?.header ?? 'authorization'),
    queryOrCookie: credential?.queryOrCookie,
    denied,
    methods: config.methods === undefined ? undefined : new Set(config.methods),
    allow: config.methods?.join(', ') ?? '',
    upstreamOrigin: upstream.origin,
    upstreamAddress: config.upstreamAddress,
    basePath: upstream.basePath,
    upstreamPrefix,
    replacedLength: rewrite === undefined ? 0 : withoutSlash(prefix).length,
    replacement: rewrite === undefined ? upstream.basePath : upstreamPrefix,
    timeouts: config.timeouts,
    clientAuthorization: config.clientAuthorization,
    scrub: config.scrub,
    limit: config.limit,
    keepsOverrides: credential === undefined || config.overrideHeaders === 'keep',
    get neighbours() {
      return all.filter((other) => other.host === host);
    },
    get siblings() {
      return deepestFirst(all.filter((other) => other.host === host && leadsTo(upstream.origin, other)));
    },
    get strangers() {
      return deepestFirst(all.filter((other) => other.host !== host && leadsTo(upstream.origin, other)));
    },
  };
}

function leadsTo(origin: string, { denied, upstreamOrigin }: Route): boolean {
  return !denied && upstreamOrigin === origin;
}

function deepestFirst(routes: Route[]): Route[] {
  return routes.sort(
    (a, b) => b.upstreamPrefix.length - a.upstreamPrefix.length || a.replacedLength - b.replacedLength,
  );
}
