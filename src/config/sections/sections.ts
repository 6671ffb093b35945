import { SETTINGS, type Values } from '../declaration/settings.ts';
import type { Reading } from '../reading/reading.ts';
import type { Fields } from '../shapes/field.ts';
import { CALLERS, type Callers, readCallers } from './callers.ts';
import { CREDENTIALS } from './credentials/credential.ts';
import { type Credentials, readCredentials } from './credentials/credentials.ts';
import { type DeclaredRoutes, ROUTES, readRoutes } from './routes.ts';
import type { GivenShare } from './share.ts';
import { readSecret, readSettings, reportUnknownSettings } from './single-settings.ts';
import { type DeclaredSinks, readSinks, SINKS } from './sinks.ts';

/** The parts of the file that are more than single values; each is declared in a file of its own. */
export const SECTIONS = {
  callers: { kind: CALLERS, description: 'those who may call, by name, each with a key of its own' },
  credentials: { kind: CREDENTIALS, description: 'credentials by name; the variables set token and apiKey' },
  routes: {
    kind: ROUTES,
    description:
      'routes; without any, everything goes with token, or with apiKey where only a key is configured',
  },
  sinks: {
    kind: SINKS,
    description: 'places outside of bearerd that hold a credential; none unless given',
  },
} as const satisfies Fields;

/** What flags, variables and the file say. What is missing or wrong in it has been reported. */
export interface Declaration {
  readonly values: Values;
  readonly share: GivenShare;
  readonly credentials: Credentials;
  readonly callers: Callers;
  readonly routes: DeclaredRoutes;
  readonly sinks: DeclaredSinks;
}

export function readDeclaration(reading: Reading): Declaration {
  const values = readSettings(reading);
  reportUnknownSettings(reading);
  const credentials = readCredentials(reading, values.upstream?.origin);
  return {
    values,
    credentials,
    share: { url: readSecret(SETTINGS.shareUrl, reading), key: readSecret(SETTINGS.shareKey, reading) },
    callers: readCallers(reading, readSecret(SETTINGS.callerKey, reading)),
    routes: readRoutes(reading, values, credentials),
    sinks: readSinks(reading),
  };
}
