import type { RouteConfig } from '../config/sections/routes.ts';
import type { Credential } from '../login/credential.ts';
import { createRoute } from './create-route.ts';
import { createRouteTable, type Route, type RouteTable, type SessionPlaces } from './route-table.ts';

/** All routes: a table for each host that has routes of its own, and one for all other hosts. */
export interface RoutesByHost {
  /** The routes of all tables, in the order of the configuration. */
  readonly routes: readonly Route[];
  /** First the table for all other hosts; then one for each host, in the order of the configuration. */
  readonly tables: readonly [RouteTable, ...RouteTable[]];
  /** @param host in lower case, without port and final dot; undefined if the request has none */
  at(host: string | undefined): RouteTable;
  /** The same as if there were only these routes. @param names of routes; the result is kept for as long as they are */
  only(names: ReadonlySet<string>): Pick<RoutesByHost, 'at'>;
}

/** The routes of a configuration. */
export interface ConfiguredRoutes {
  readonly routes: readonly RouteConfig[];
  /** Where the routes are configured: `BEARERD_ROUTES` or `bearerd.yaml:12`. */
  readonly place?: string | undefined;
}

/** @param credentials by name; `none` and `deny` need no entry */
export function createRoutes(
  { routes: configs, place }: ConfiguredRoutes,
  credentials: ReadonlyMap<string, Credential>,
  sessions: SessionPlaces,
): RoutesByHost {
  const routes: Route[] = [];
  for (const config of configs) routes.push(createRoute(config, credentials, routes));
  const kept = new WeakMap<ReadonlySet<string>, ReturnType<RoutesByHost['only']>>();
  const only = (names: ReadonlySet<string>) => {
    const known = kept.get(names) ?? tablesOf(routes.filter(({ name }) => names.has(name)));
    kept.set(names, known);
    return known;
  };
  const tablesOf = (some: readonly Route[]) => {
    const groups = Map.groupBy(some, ({ host }) => host);
    const tableOf = (own: readonly Route[], host: string | undefined) =>
      createRouteTable({ own, all: some, host, place }, sessions);
    const others = tableOf(groups.get(undefined) ?? [], undefined);
    const byHost = new Map<string | undefined, RouteTable>();
    for (const [host, own] of groups) {
      if (host !== undefined) byHost.set(host, tableOf(own, host));
    }
    const tables = [others, ...byHost.values()] as const;
    // If no route has a host, nothing is looked up.
    const at = byHost.size === 0 ? () => others : (host: string | undefined) => byHost.get(host) ?? others;
    return { tables, at };
  };
  return { routes, ...tablesOf(routes), only };
}
