import { SETTINGS, type Values } from '../declaration/settings.ts';
import { valueAt } from '../reading/maps.ts';
import type { Reading } from '../reading/reading.ts';
import { readSecret } from '../shapes/secret.ts';
import { At } from '../shapes/shape.ts';
import { CALLERS, type Callers } from './callers.ts';
import { type Credentials, readCredentials } from './credentials/credentials.ts';
import { reportUnknownSettings } from './file.ts';
import { type DeclaredRoutes, ROUTES, routesOf } from './routes.ts';
import type { GivenShare } from './share.ts';
import { readSettings } from './single-settings.ts';
import { type DeclaredSinks, SINKS } from './sinks.ts';

/** What flags, variables and the file say. Faults have been reported. */
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
  const section = (name: string) => [valueAt(reading.file.content, name), new At(name, reading), {}] as const;
  return {
    values,
    credentials,
    share: { url: readSecret(SETTINGS.shareUrl, reading), key: readSecret(SETTINGS.shareKey, reading) },
    callers: {
      unnamed: readSecret(SETTINGS.callerKey, reading),
      named: CALLERS.read(...section('callers')) ?? new Map(),
    },
    routes: routesOf(ROUTES.read(...section('routes')), values, credentials, reading),
    sinks: SINKS.read(...section('sinks')) ?? [],
  };
}
