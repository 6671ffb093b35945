import { isDeepStrictEqual } from 'node:util';
import { SETTINGS, type Timeouts, type Values } from '../declaration/settings.ts';
import { isWhole, type Reading } from '../reading/reading.ts';
import { listOf, type Placed, placed } from '../shapes/collections.ts';
import { type Declared, object } from '../shapes/object.ts';
import { standIn } from '../shapes/shape.ts';
import type { UpstreamAddress } from '../values/addresses.ts';
import { type RouteKey, routeName } from '../values/route-names.ts';
import type { Upstream } from '../values/urls.ts';
import * as kinds from '../values/vocabulary.ts';
import type { Credentials } from './credentials/credentials.ts';

const TIMEOUTS = object({
  connect: { kind: SETTINGS.connectMs.kind, description: SETTINGS.connectMs.description },
  response: { kind: SETTINGS.responseMs.kind, description: SETTINGS.responseMs.description },
  idle: { kind: SETTINGS.idleMs.kind, description: SETTINGS.idleMs.description },
});

export const ROUTE = object(
  {
    host: {
      kind: kinds.routeHost,
      description:
        'a host name without a port: the route is for requests with this Host, and one without it for those whose Host no route names',
    },
    prefix: {
      kind: kinds.path,
      required: true,
      description:
        'the path that this route begins at; the longest one that matches wins, whatever the order',
    },
    credential: {
      kind: kinds.text,
      required: true,
      description: 'name of a credential, none (sent without one) or deny (refused)',
    },
    methods: {
      kind: kinds.methods,
      description: 'the methods that are let through; all unless given',
    },
    rewrite: {
      kind: kinds.path,
      description: 'the path that replaces the prefix',
    },
    upstream: {
      kind: kinds.baseUrl,
      description: 'another base URL, which the credential must list in its origins',
    },
    upstreamAddress: {
      kind: kinds.upstreamAddress,
      description: 'HOST or HOST:PORT to connect to in place of the host of its base URL',
    },
    timeouts: { kind: TIMEOUTS, description: 'in place of the global ones' },
    clientAuthorization: {
      kind: kinds.choice(['replace', 'keep', 'reject']),
      default: 'replace',
      description:
        "what becomes of the client's own Authorization: replace it, keep it where there is one, or reject the request (400)",
    },
    overrideHeaders: {
      kind: kinds.choice(['remove', 'keep']),
      default: 'remove',
      description:
        'what becomes of headers that name another path or method (X-Original-URL, X-HTTP-Method-Override), where a credential goes with the request: remove them, or keep them',
    },
    scrub: {
      kind: kinds.flag,
      description:
        'strike every credential and token out of answers; as the global setting says unless given',
    },
    limit: {
      kind: kinds.rate,
      description:
        'how many requests it takes: N/DURATION, such as 60/1m; past it 429; no limit unless given',
    },
  },
  {
    // Without its host the route would have the name of another one. A route without a prefix has no name.
    check: (declared: { readonly host?: string | undefined; prefix?: string | undefined }, { has }) => {
      if (has('host') && declared.host === undefined) declared.prefix = undefined;
    },
  },
);

export const ROUTES = listOf(ROUTE, 'must be a list of at least one route', { least: 1 });

export type DeclaredRoute = Declared<typeof ROUTE.fields>;
export type DeclaredRoutes = readonly Placed<DeclaredRoute>[];

function defaultRoutes({ names }: Credentials, reading: Reading): DeclaredRoutes {
  const credential = ['token', 'apiKey'].find((name) => names.includes(name));
  if (credential !== undefined) {
    return placed(ROUTE, { prefix: '/', credential }, standIn('routes', 'the default route ', reading));
  }
  if (names.length > 0) {
    const problem = 'is missing: everything goes with token or apiKey by default, and there is neither';
    reading.report('routes', problem);
  } else {
    reading.report(
      'credentials',
      'is empty: set BEARERD_CLIENT_ID and BEARERD_CLIENT_SECRET (a service account), BEARERD_USERNAME and ' +
        'BEARERD_PASSWORD (a user), or BEARERD_API_KEY',
    );
  }
  return [];
}

/** The routes of `BEARERD_ROUTES`, or else of the file, or else one for everything. */
export function routesOf(
  inFile: DeclaredRoutes | undefined,
  { routes = [] }: Values,
  credentials: Credentials,
  reading: Reading,
): DeclaredRoutes {
  const { variable } = SETTINGS.routes;
  if (variable in reading.environment.variables) {
    return routes.flatMap((pair, index) =>
      placed(ROUTE, pair, standIn(variable, `entry ${index + 1}: `, reading)),
    );
  }
  return inFile ?? (isWhole(reading) ? defaultRoutes(credentials, reading) : []);
}

/** Undefined if a route has none: another route may be meant by any other name then. */
export function namesOf(routes: DeclaredRoutes): readonly string[] | undefined {
  const names = routes.flatMap(({ value }) => nameOf(value) ?? []);
  return names.length === routes.length ? names : undefined;
}

/** Undefined if it has no prefix. */
export function nameOf({ host, prefix }: Partial<RouteKey>): string | undefined {
  return prefix === undefined ? undefined : routeName({ host, prefix });
}

/** The route's own, or else the base URL's if that has the same origin. */
export function addressOf(
  own: UpstreamAddress | undefined,
  { origin }: Upstream,
  base: Pick<Values, 'upstream' | 'upstreamAddress'>,
): UpstreamAddress | undefined {
  return own ?? (origin === base.upstream?.origin ? base.upstreamAddress : undefined);
}

/** A route in force, as `ROUTE` describes it; global settings fill what it leaves out. */
export interface RouteConfig
  extends Omit<DeclaredRoute, 'prefix' | 'credential' | 'upstream' | 'timeouts' | 'scrub'> {
  readonly prefix: string;
  readonly credential: string;
  readonly upstream: Upstream;
  readonly timeouts: Timeouts;
  readonly scrub: boolean;
}

/** Called if there is no fault. */
export function routesInForce(routes: DeclaredRoutes, values: Values): readonly RouteConfig[] {
  return routes.flatMap(({ value }): RouteConfig[] => {
    const { prefix, credential, upstream = values.upstream, timeouts, ...own } = value;
    if (prefix === undefined || credential === undefined || upstream === undefined) return [];
    const upstreamAddress = addressOf(own.upstreamAddress, upstream, values);
    return [
      {
        scrub: values.scrub,
        ...own,
        prefix,
        credential,
        upstream,
        ...(upstreamAddress && { upstreamAddress }),
        timeouts: {
          connectMs: timeouts?.connect ?? values.connectMs,
          responseMs: timeouts?.response ?? values.responseMs,
          idleMs: timeouts?.idle ?? values.idleMs,
        },
      },
    ];
  });
}

/**
 * Addresses of connections that no route opens: the hosts entry that leads clients here must not lead our own login here.
 * The base URL's origin has the address that is configured for it; another origin has one if all its routes agree.
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
