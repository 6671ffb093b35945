import { placementOf } from '../app/credentials.ts';
import { logsIn, sessionPlaces } from '../app/logins.ts';
import { configuredRoutes } from '../app/routes-place.ts';
import { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import type { Credential, TokenSource } from '../login/credential.ts';
import { createRoutes, type RoutesByHost } from '../routes/routes-by-host.ts';

/** The route tables of the proxy, with credentials that hold no value: choosing a route needs none. */
export function tablesOf(config: Config): RoutesByHost {
  const credentials = new Map<string, Credential>();
  for (const credential of config.credentials.values()) {
    const placement = placementOf(credential);
    credentials.set(
      credential.name,
      logsIn(credential)
        ? { ...placement, kind: 'token', source: NO_SOURCE }
        : { ...placement, kind: 'fixed', headerValue: NO_KEY, value: NO_KEY },
    );
  }
  return createRoutes(configuredRoutes(config), credentials, sessionPlaces(config));
}

const NO_KEY = new Secret('');
const NO_SOURCE: TokenSource = {
  name: '',
  current: () => undefined,
  stateWith: () => 'starting',
  wait: () => Promise.reject(new Error('no token is needed to choose a route')),
  rejected: () => undefined,
  newTokenRejected: () => {},
};
