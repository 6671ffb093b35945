import type { RouteConfig } from '../config/config.ts';
import type { Credential } from '../login/credential.ts';
import { createRoute } from './create-route.ts';
import { createRouteTable, type Route, type RouteTable, type SessionPlaces } from './route-table.ts';

/** All routes, as requests see them: a table for each host that a route has, and one for every other. */
export interface RoutesByHost {
  /** Of all tables, as they are configured. */
  readonly routes: readonly Route[];
  /** First the one for every other host; then a table for each, in the order in which they are configured. */
  readonly tables: readonly [RouteTable, ...RouteTable[]];
  /** @param host in lower case, without port and final dot; undefined for a request without one */
  at(host: string | undefined): RouteTable;
}

/** @param credentials by name; `none` and `deny` need no entry. */
export function createRoutes(
  configs: readonly RouteConfig[],
  credentials: ReadonlyMap<string, Credential>,
  sessions: SessionPlaces,
): RoutesByHost {
  const routes: Route[] = [];
  for (const config of configs) routes.push(createRoute(config, credentials, routes));
  const groups = Map.groupBy(routes, ({ host }) => host);
  const others = createRouteTable(groups.get(undefined) ?? [], sessions);
  const byHost = new Map<string | undefined, RouteTable>();
  for (const [host, own] of groups) {
    if (host !== undefined) byHost.set(host, createRouteTable(own, sessions, host));
  }
  return {
    routes,
    tables: [others, ...byHost.values()],
    // Where no route has a host, no name is looked up.
    at: byHost.size === 0 ? () => others : (host) => byHost.get(host) ?? others,
  };
}
