import type { Config } from './config.ts';
import { formsOf } from './declaration/setting.ts';
import { SECRET_SETTINGS, SETTINGS, type Values } from './declaration/settings.ts';
import { reportUnknownVariables } from './reading/environment.ts';
import { faultList } from './reading/faults.ts';
import { readOutboundProxy } from './reading/outbound-proxy.ts';
import { type LoadInput, type Reading, sourceOf } from './reading/reading.ts';
import { callersInForce } from './sections/callers.ts';
import { credentialOf } from './sections/credentials/credentials.ts';
import { checkFileIsLeft, checkLost } from './sections/lost.ts';
import { addressesByOrigin, routesInForce } from './sections/routes.ts';
import { readDeclaration } from './sections/sections.ts';
import { readShare } from './sections/share.ts';
import { readSettings } from './sections/single-settings.ts';
import { sinksInForce } from './sections/sinks.ts';
import { readListenTls, readTls } from './sections/tls.ts';
import { checkTogether } from './sections/together.ts';
import { effectiveView } from './shown/effective.ts';
import { provenanceOf } from './shown/provenance.ts';
import { startReading } from './start-reading.ts';

function secretVariables(reading: Reading): readonly string[] {
  return [...new Set([...SECRET_SETTINGS.flatMap(formsOf), ...reading.variablesNamed])];
}

/** What the single settings give: the groups of some, and those that stand for themselves. */
function settingsPart(values: Values) {
  const {
    configFile,
    upstream,
    upstreamAddress,
    allowInsecureUpstream,
    routes,
    scrub,
    listenCertFile,
    listenKeyFile,
    caFile,
    certFile,
    keyFile,
    sharePrefix,
    connectMs,
    responseMs,
    idleMs,
    connections,
    waiting,
    headerSizeBytes,
    logLevel,
    logFormat,
    requestIdHeader,
    ...single
  } = values;
  return {
    ...single,
    timeouts: { connectMs, responseMs, idleMs },
    limits: { connections, waiting, headerSizeBytes },
    log: { level: logLevel, format: logFormat, ...(requestIdHeader !== undefined && { requestIdHeader }) },
  };
}

/**
 * Where the admin listener is, whatever else is wrong: a proxy that runs goes on with what it has when a file of it
 * is missing or faulty, and has to be found then, too.
 *
 * @throws {ConfigError} when just that can't be told.
 * @throws {ConfigFileError} when the configuration file can't be read.
 */
export async function loadAdminListen(input: LoadInput): Promise<Config['adminListen']> {
  const faults = faultList();
  const reading = await startReading(input, faults, faultList());
  const { key } = sourceOf(SETTINGS.adminListen, reading);
  const report: Reading['report'] = (at, problem) => {
    if (at === key) faults.report(at, problem);
  };
  const { adminListen } = readSettings({ ...reading, report });
  faults.throwIfAny();
  return adminListen;
}

/**
 * Reads the environment, `.env`, the configuration file and every file that they name.
 *
 * @returns the whole configuration, frozen.
 * @throws {ConfigError} with every fault that there is, never with a secret.
 * @throws {ConfigFileError} when the configuration file can't be read.
 */
export async function loadConfig(input: LoadInput): Promise<Config> {
  const faults = faultList();
  const warnings = faultList();
  const reading = await startReading(input, faults, warnings);
  const { inForce } = input;
  if (inForce !== undefined) checkFileIsLeft(inForce, reading);
  let declaration = readDeclaration(reading);
  // A fault that was found before is found again, and told once.
  if (await reading.commands.run(secretVariables(reading))) declaration = readDeclaration(reading);
  const { values, credentials, callers } = declaration;
  const tls = readTls(values, reading);
  const listenTls = readListenTls(values, reading);
  const outboundProxy = readOutboundProxy(input.env, reading.report);
  checkTogether(reading, declaration);
  if (inForce !== undefined) checkLost(inForce, callers, reading);
  const share = readShare(declaration.share, values, credentials.usable.values(), reading.report);
  reportUnknownVariables(reading.environment, reading.variablesNamed, reading.report);
  faults.throwIfAny();

  const { upstream } = values;
  if (upstream === undefined) throw new Error('a missing base URL was not reported');
  const routes = routesInForce(declaration.routes, values);
  const effective = effectiveView(declaration, { tls, listenTls, share });
  return deepFreeze({
    ...(reading.file.path !== undefined && { file: reading.file.path }),
    upstream,
    upstreamAddresses: addressesByOrigin(routes, values),
    ...settingsPart(values),
    credentials: credentials.usable,
    routes,
    ...callersInForce(callers),
    ...(share && { share }),
    sinks: sinksInForce(declaration.sinks, reading, credentials.usable, routes),
    tls,
    ...(listenTls && { listenTls }),
    outboundProxy,
    watchedFiles: [...reading.filesRead.keys()],
    fileNames: reading.filesRead,
    secretVariables: secretVariables(reading),
    secretCommands: new Map(reading.commands.keys.map((key) => [key, credentialOf(key, credentials)])),
    effective,
    provenance: provenanceOf(effective, reading),
    dotEnv: reading.environment.dotEnv,
    warnings: warnings.all(),
  });
}

/** Freezes a value and all that it holds. Maps stay as they are but for their values: their type is read-only. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  const parts = value instanceof Map ? value.values() : Object.values(value);
  for (const part of parts) deepFreeze(part);
  return value;
}
