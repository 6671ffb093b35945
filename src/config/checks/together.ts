import { foldedName, isSameHeader } from '../../base/fields.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import type { Callers } from '../reading/callers.ts';
import type { Credentials } from '../reading/credentials.ts';
import type { Reading } from '../reading/reading.ts';
import type { RouteDraft } from '../reading/route-drafts.ts';
import { isWhole, sourceOf } from '../reading/single-settings.ts';
import type { SinkDraft } from '../reading/sinks.ts';
import { isInsecure } from '../values/urls.ts';
import { checkCallers } from './callers.ts';
import { checkDotEnv } from './dot-env.ts';
import { checkListeners } from './listeners.ts';
import { checkRoutes, INSECURE, INSECURE_ADDRESS } from './routes.ts';
import { checkShortSecrets } from './short-secrets.ts';
import { checkSinks } from './sinks.ts';

/** What of the file is more than single settings. */
interface Structured {
  readonly credentials: Credentials;
  readonly routes: readonly RouteDraft[];
  readonly callers: Callers;
  readonly sinks: readonly SinkDraft[];
}

/** The rules between settings. Nothing is asked of a file that can't be understood: the rest may stand in it. */
export function checkTogether(
  reading: Reading,
  values: Values,
  { credentials, routes, callers, sinks }: Structured,
): void {
  if (!isWhole(reading)) return;
  if (!values.allowInsecureUpstream) checkSecure(reading, values);
  checkRequestIdHeader(reading, values, credentials);
  checkRoutes(routes, values, credentials);
  checkShortSecrets(routes, credentials, reading);
  checkDotEnv(reading);
  const prefixes = routes.flatMap(({ prefix }) => prefix ?? []);
  checkCallers(callers, prefixes, reading);
  checkSinks(sinks, credentials, reading);
  checkListeners(values, callers.unnamed !== undefined || callers.named.length > 0, reading);
}

function checkSecure(reading: Reading, { upstream, upstreamAddress }: Values): void {
  const address = (origin: string) => (origin === upstream?.origin ? upstreamAddress : undefined);
  if (upstream && isInsecure(upstream.origin, upstreamAddress)) {
    if (upstreamAddress === undefined) reading.report(sourceOf(SETTINGS.upstream, reading).key, INSECURE);
    else reading.report(sourceOf(SETTINGS.upstreamAddress, reading).key, INSECURE_ADDRESS);
  }
  for (const [key, origin] of reading.tokenOrigins) {
    if (isInsecure(origin, address(origin))) reading.report(key, INSECURE);
  }
}

/** An ID in the place of a credential would be sent as one. */
function checkRequestIdHeader(reading: Reading, { requestIdHeader }: Values, { usable }: Credentials): void {
  for (const { name, header } of usable.values()) {
    if (requestIdHeader === undefined || !isSameHeader(requestIdHeader, foldedName(header))) continue;
    reading.report(
      sourceOf(SETTINGS.requestIdHeader, reading).key,
      `the credential ${name} is sent in this header`,
    );
  }
}
