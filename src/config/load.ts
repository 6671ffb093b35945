import { finishCallers } from './checks/callers.ts';
import { checkFileIsLeft, checkLost } from './checks/lost.ts';
import { addressesByOrigin, finishRoutes } from './checks/routes.ts';
import { readShare } from './checks/share.ts';
import { finishSinks } from './checks/sinks.ts';
import { checkTogether } from './checks/together.ts';
import type { Config } from './config.ts';
import { FILE_SETTINGS, SECRET_SETTINGS, SETTINGS, type Values } from './declaration/settings.ts';
import { deepFreeze } from './freeze.ts';
import { readCallers } from './reading/callers.ts';
import { readConfigFile } from './reading/config-file.ts';
import { readCredentials } from './reading/credentials.ts';
import { readEnvironment, reportUnknownVariables } from './reading/environment.ts';
import type { Report } from './reading/faults.ts';
import { type FaultList, faultList } from './reading/faults.ts';
import { readSecret } from './reading/given-secret.ts';
import { readOutboundProxy } from './reading/outbound-proxy.ts';
import { reportPlaceholders, reportVariablePlaceholders } from './reading/placeholders.ts';
import type { LoadInput, Reading } from './reading/reading.ts';
import { readRoutes } from './reading/route-drafts.ts';
import { readSettings, reportUnknownSettings, sourceOf } from './reading/single-settings.ts';
import { readSinks } from './reading/sinks.ts';
import { workingDirectory } from './reading/text-file.ts';
import { readListenTls, readTls } from './reading/tls.ts';
import { effectiveView } from './shown/effective.ts';
import { originsOf, placeInFile } from './shown/origins.ts';

/** A program that hands in an object has set no variable: what it lacks is named by its key. */
const KEY_OF: ReadonlyMap<string, string> = new Map(
  FILE_SETTINGS.map(({ variable, key }) => [variable, key]),
);

async function startReading(
  input: LoadInput,
  { report }: FaultList,
  warnings = faultList(),
): Promise<Reading> {
  const cwd = input.cwd ?? workingDirectory();
  const environment = readEnvironment(input, cwd, report);
  const file = await readConfigFile(input, cwd, environment, report);
  const { readFile, flags = {}, defaults = {} } = input;
  const learned = {
    filesRead: new Map<string, string>(),
    variablesNamed: new Set<string>(),
    tokenOrigins: new Map(),
  };
  const withPlace =
    (take: Report): Report =>
    (at, problem, where) => {
      const key = input.content === undefined || at in environment.variables ? at : (KEY_OF.get(at) ?? at);
      // A variable's fault is that of the flag which gave it; one of the file has its line.
      if (Object.hasOwn(flags, key)) take(environment.sourceOf(key), problem, where);
      else take(key, problem, { ...where, place: placeInFile(key, file) });
    };
  const reportAt = withPlace(report);
  const isSecret = (name: string) => SECRET_SETTINGS.some(({ variable }) => variable === name);
  const placeholders = new Set([
    ...reportPlaceholders(file.content, reportAt),
    ...reportVariablePlaceholders(environment.variables, isSecret, reportAt),
  ]);
  const reportOthers: Report = (key, problem, where) =>
    placeholders.has(key) || reportAt(key, problem, where);
  const warn = withPlace(warnings.report);
  return { cwd, environment, file, report: reportOthers, warn, defaults, readFile, ...learned };
}

function secretVariables(reading: Reading): readonly string[] {
  const own = SECRET_SETTINGS.flatMap(({ variable }) => [variable, `${variable}_FILE`]);
  return [...new Set([...own, ...reading.variablesNamed])];
}

/** What the single settings give, in the shape of the configuration. */
function settingsPart(values: Values) {
  const {
    connectMs,
    responseMs,
    idleMs,
    connections,
    waiting,
    headerSizeBytes,
    logLevel,
    logFormat,
    requestIdHeader,
  } = values;
  return {
    upstreamHttp2: values.upstreamHttp2,
    sessionPath: values.sessionPath,
    tokenWaitMs: values.tokenWaitMs,
    renewAfterMs: values.renewAfterMs,
    listen: values.listen,
    adminListen: values.adminListen,
    probesListen: values.probesListen,
    allowedHosts: values.allowedHosts,
    allowedOrigins: values.allowedOrigins,
    browserCookies: values.browserCookies,
    allowRemoteCallers: values.allowRemoteCallers,
    timeouts: { connectMs, responseMs, idleMs },
    closeTunnels: values.closeTunnels,
    limits: { connections, waiting, headerSizeBytes },
    drainTimeoutMs: values.drainTimeoutMs,
    shutdownDelayMs: values.shutdownDelayMs,
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
  const reading = await startReading(input, faults);
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
  const values = readSettings(reading);
  reportUnknownSettings(reading);
  const shared = {
    url: readSecret(SETTINGS.shareUrl, reading),
    key: readSecret(SETTINGS.shareKey, reading),
  };
  const credentials = readCredentials(reading, values.upstream?.origin);
  const callers = readCallers(reading);
  const drafts = readRoutes(reading, values, credentials);
  const tls = readTls(values, reading);
  const listenTls = readListenTls(values, reading);
  const outboundProxy = readOutboundProxy(input.env, reading.report);
  const sinks = readSinks(reading);
  checkTogether(reading, values, { credentials, routes: drafts, callers, sinks });
  if (inForce !== undefined) checkLost(inForce, callers, reading);
  const share = readShare(shared, values, credentials.usable.values(), reading.report);
  reportUnknownVariables(reading.environment, reading.variablesNamed, reading.report);
  faults.throwIfAny();

  const { upstream } = values;
  if (upstream === undefined) throw new Error('a missing base URL was not reported');
  const routes = finishRoutes(drafts, values);
  const secured = {
    credentials: credentials.usable,
    routes,
    ...finishCallers(callers),
    ...(share && { share }),
    sinks: finishSinks(sinks, credentials.usable, routes),
  };
  const effective = effectiveView(values, secured, { tls, listenTls });
  return deepFreeze({
    ...(reading.file.path !== undefined && { file: reading.file.path }),
    upstream,
    upstreamAddresses: addressesByOrigin(secured.routes, values),
    ...settingsPart(values),
    ...secured,
    tls,
    ...(listenTls && { listenTls }),
    outboundProxy,
    watchedFiles: [...reading.filesRead.keys()],
    fileNames: reading.filesRead,
    secretVariables: secretVariables(reading),
    effective,
    origins: originsOf(effective, reading),
    dotEnv: reading.environment.dotEnv,
    warnings: warnings.all(),
  });
}
