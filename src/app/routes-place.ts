import type { Config } from '../config/config.ts';
import type { ConfiguredRoutes } from '../routes/routes-by-host.ts';

/** The routes in force, with the place where a person would add one: behind the last. */
export function configuredRoutes({
  routes,
  provenance,
}: Pick<Config, 'routes' | 'provenance'>): ConfiguredRoutes {
  const place = provenance[`routes[${routes.length - 1}].prefix`];
  return { routes, place: place === 'default' ? undefined : place };
}
