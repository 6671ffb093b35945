import { relative } from 'node:path';
import { foldedName, isSameHeader } from '../../base/fields.ts';
import type { Secret } from '../../base/secret.ts';
import { formsOf } from '../declaration/setting.ts';
import { SECRET_SETTINGS, SETTINGS, type Values } from '../declaration/settings.ts';
import { isWhole, type Reading, settingPlace } from '../reading/reading.ts';
import { isKeyAsName } from '../values/basic-key.ts';
import { isInsecure } from '../values/urls.ts';
import { asksForKey, checkCallers } from './callers.ts';
import { type DeclaredCredential, loginOrigins } from './credentials/credential.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { Declaration } from './declaration.ts';
import { checkListeners } from './listeners.ts';
import { checkRoutes, INSECURE, INSECURE_ADDRESS } from './route-checks.ts';
import { type DeclaredRoutes, namesOf } from './routes.ts';
import { checkSinks } from './sinks.ts';

/** The rules between settings. A file that can't be parsed may hold what is missing, so nothing is checked then. */
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
    if (upstreamAddress === undefined) reading.report(settingPlace(SETTINGS.upstream, reading).key, INSECURE);
    else reading.report(settingPlace(SETTINGS.upstreamAddress, reading).key, INSECURE_ADDRESS);
  }
  for (const { at, declared } of credentials.declared.values()) {
    for (const [field, origin] of loginOrigins(declared)) {
      if (origin !== undefined && isInsecure(origin, address(origin))) at.below(field).report(INSECURE);
    }
  }
}

/** A request ID in a credential's header would be sent as the credential. */
function checkRequestIdHeader(
  reading: Reading,
  { requestIdHeader }: Values,
  { declared }: Credentials,
): void {
  for (const [name, { placement }] of declared) {
    if (requestIdHeader === undefined || !isSameHeader(requestIdHeader, foldedName(placement.header)))
      continue;
    reading.report(
      settingPlace(SETTINGS.requestIdHeader, reading).key,
      `the credential ${name} is sent in this header`,
    );
  }
}

/** Settings that decide where a secret goes, or which server counts as the upstream. */
const DESTINATIONS = [
  SETTINGS.configFile,
  SETTINGS.upstream,
  SETTINGS.upstreamAddress,
  SETTINGS.allowInsecureUpstream,
  SETTINGS.sessionPath,
  SETTINGS.caFile,
].map(({ variable }) => variable);

/**
 * A `.env` may come with a checkout. It must not send the secrets of the environment, or of a user's own file, to a server of
 * its choice.
 */
function checkDotEnv(reading: Reading): void {
  const owner = secretFromElsewhere(reading);
  if (owner === undefined) return;
  for (const variable of DESTINATIONS.filter(reading.environment.fromDotEnv)) {
    const problem = `stands in .env, which may not decide where ${owner} goes; give both in the same place`;
    reading.report(variable, problem);
  }
}

/** Names a secret that is neither from `.env` nor from a file beside it; undefined if there is none. */
function secretFromElsewhere({ environment, variablesNamed, file, cwd }: Reading): string | undefined {
  const { variables, lookUp, fromDotEnv } = environment;
  const own = SECRET_SETTINGS.flatMap(formsOf);
  const variable =
    own.find((name) => name in variables && !fromDotEnv(name)) ??
    [...variablesNamed].find((name) => lookUp(name) !== undefined && !fromDotEnv(name));
  if (variable !== undefined) return `${variable} of the environment`;
  const elsewhere = file.path !== undefined && !isBelow(file.path, cwd) && 'credentials' in file.content;
  return elsewhere ? `a secret of ${file.path}` : undefined;
}

function isBelow(path: string, folder: string): boolean {
  return !relative(folder, path).startsWith('..');
}

/** This many random letters and digits can't be guessed through an echo. */
const SHORTEST = 16;

/**
 * Where an answer echoes a caller's own text, stars in it show that the text is a credential: a short one, or a word, can be
 * guessed that way. Tokens and client secrets are not checked: servers issue long ones.
 */
function checkShortSecrets(
  routes: DeclaredRoutes,
  values: Values,
  { declared: all }: Credentials,
  { warn }: Reading,
): void {
  if (!routes.some(({ value }) => value.scrub ?? values.scrub)) return;
  for (const { at, declared } of all.values()) {
    const [field, secret] = sentSecret(declared);
    if (secret === undefined || secret.characters() >= SHORTEST) continue;
    const problem = `is shorter than ${SHORTEST} characters: with scrub, a caller whose own text is echoed can guess it; use a longer one`;
    warn(at.below(field).key, problem);
  }
}

/** What is sent as it is configured, with the name of its field. */
function sentSecret(declared: DeclaredCredential): readonly [field: string, secret: Secret | undefined] {
  if (declared.type === 'apiKey') return ['key', declared.key];
  if (declared.type !== 'basic') return ['', undefined];
  const { username, password } = declared;
  const isKey = username !== undefined && password !== undefined && isKeyAsName(username, password);
  return isKey ? ['username', username] : ['password', password];
}
