import { foldedName, isSameHeader } from '../../base/fields.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import { isWhole, type Reading, sourceOf } from '../reading/reading.ts';
import { isInsecure } from '../values/urls.ts';
import { asksForKey, checkCallers } from './callers.ts';
import type { Credentials } from './credentials/credentials.ts';
import { loginOrigins } from './credentials/resolved.ts';
import { checkDotEnv } from './dot-env.ts';
import { checkListeners } from './listeners.ts';
import { checkRoutes, INSECURE, INSECURE_ADDRESS } from './route-checks.ts';
import { namesOf } from './routes.ts';
import type { Declaration } from './sections.ts';
import { checkShortSecrets } from './short-secrets.ts';
import { checkSinks } from './sinks.ts';

/** The rules between settings. Nothing is asked of a file that can't be understood: the rest may stand in it. */
export function checkTogether(
  reading: Reading,
  { values, credentials, routes, callers, sinks }: Declaration,
): void {
  if (!isWhole(reading)) return;
  if (!values.allowInsecureUpstream) checkSecure(reading, values, credentials);
  checkRequestIdHeader(reading, values, credentials);
  checkRoutes(routes, values, credentials);
  checkShortSecrets(routes, values, credentials, reading);
  checkDotEnv(reading);
  checkCallers(callers, namesOf(routes));
  checkSinks(sinks, credentials, reading);
  checkListeners(values, asksForKey(callers), reading);
}

function checkSecure(
  reading: Reading,
  { upstream, upstreamAddress }: Values,
  credentials: Credentials,
): void {
  const address = (origin: string) => (origin === upstream?.origin ? upstreamAddress : undefined);
  if (upstream && isInsecure(upstream.origin, upstreamAddress)) {
    if (upstreamAddress === undefined) reading.report(sourceOf(SETTINGS.upstream, reading).key, INSECURE);
    else reading.report(sourceOf(SETTINGS.upstreamAddress, reading).key, INSECURE_ADDRESS);
  }
  for (const [at, origin] of loginOrigins(credentials.declared)) {
    if (isInsecure(origin, address(origin))) at.report(INSECURE);
  }
}

/** An ID in the place of a credential would be sent as one. */
function checkRequestIdHeader(
  reading: Reading,
  { requestIdHeader }: Values,
  { declared }: Credentials,
): void {
  for (const [name, { placement }] of declared) {
    if (requestIdHeader === undefined || !isSameHeader(requestIdHeader, foldedName(placement.header)))
      continue;
    reading.report(
      sourceOf(SETTINGS.requestIdHeader, reading).key,
      `the credential ${name} is sent in this header`,
    );
  }
}
