import type { Config } from './config.ts';
import { formsOf } from './declaration/setting.ts';
import { PLAIN_SETTINGS, SECRET_SETTINGS, SETTINGS } from './declaration/settings.ts';
import { checkFileIsLeft, checkLost } from './lost.ts';
import { readConfigFile } from './reading/config-file.ts';
import { readEnvironment, reportUnknownVariables } from './reading/environment.ts';
import { FaultList, type Report } from './reading/faults.ts';
import { readOutboundProxies } from './reading/outbound-proxy.ts';
import { type LoadInput, placeInFile, type Reading, settingPlace } from './reading/reading.ts';
import { SecretCommands } from './reading/secret-commands.ts';
import { workingDirectory } from './reading/text-file.ts';
import { callersInForce } from './sections/callers.ts';
import { credentialOf } from './sections/credentials/credentials.ts';
import { readDeclaration } from './sections/declaration.ts';
import { fileSchema, wordsOf } from './sections/file.ts';
import { addressesByOrigin, routesInForce } from './sections/routes.ts';
import { readShare } from './sections/share.ts';
import { readSettings, settingsInForce } from './sections/single-settings.ts';
import { sinksInForce } from './sections/sinks.ts';
import { readListenTls, readTls } from './sections/tls.ts';
import { checkTogether } from './sections/together.ts';
import { effectiveView } from './shown/effective.ts';
import { provenanceOf } from './shown/provenance.ts';

/** A program that passes an object has set no variable: its faults name the key. */
const KEY_OF = new Map(PLAIN_SETTINGS.map(([, { variable, key }]) => [variable, key]));

/** Opens the sources of a configuration: flags, environment, `.env` and file. */
async function startReading(input: LoadInput, faults: FaultList, warnings: FaultList): Promise<Reading> {
  const { readFile, flags = {}, defaults = {}, cwd = workingDirectory() } = input;
  const environment = readEnvironment(input, cwd, faults.report);
  const words = () => new Set(wordsOf(fileSchema()));
  const file = await readConfigFile(input, { cwd, environment, words }, faults.report);
  const withPlace =
    (take: Report): Report =>
    (at, problem, where) => {
      const key = input.content === undefined || at in environment.variables ? at : (KEY_OF.get(at) ?? at);
      // If a flag set the variable, the fault names the flag; a fault of the file has its line.
      if (Object.hasOwn(flags, key)) take(environment.sourceOf(key), problem, where);
      else take(key, problem, { ...where, place: placeInFile(key, file) });
    };
  return {
    cwd,
    environment,
    file,
    report: withPlace(faults.report),
    warn: withPlace(warnings.report),
    defaults,
    readFile,
    filesRead: new Map(),
    variablesNamed: new Set(),
    commands: input.commands ?? new SecretCommands(),
  };
}

function secretVariables(reading: Reading): readonly string[] {
  return [...new Set([...SECRET_SETTINGS.flatMap(formsOf), ...reading.variablesNamed])];
}

/**
 * The address of the proxy or of its admin listener, whatever else is wrong: a running proxy that keeps its configuration
 * while a file is missing or faulty must be found, too.
 *
 * @throws {ConfigError} if that setting is faulty.
 * @throws {ConfigFileError} if the configuration file can't be read.
 */
export async function loadListen(
  name: 'listen' | 'adminListen',
  input: LoadInput,
): Promise<Config['listen']> {
  const faults = new FaultList();
  const reading = await startReading(input, faults, new FaultList());
  const { key } = settingPlace(SETTINGS[name], reading);
  const report: Reading['report'] = (at, problem) => {
    if (at === key) faults.report(at, problem);
  };
  const addresses = readSettings({ ...reading, report })[name];
  faults.throwIfAny();
  return addresses;
}

/**
 * Reads the environment, `.env`, the configuration file and every file that they name.
 *
 * @param inForce at a reload: the present configuration, of which no part may be lost by accident
 * @returns the whole configuration, frozen.
 * @throws {ConfigError} with every fault that there is, never with a secret.
 * @throws {ConfigFileError} if the configuration file can't be read.
 */
export async function loadConfig(input: LoadInput, inForce?: Config): Promise<Config> {
  const faults = new FaultList();
  const warnings = new FaultList();
  const reading = await startReading(input, faults, warnings);
  if (inForce !== undefined) checkFileIsLeft(inForce, reading);
  let declaration = readDeclaration(reading);
  // Faults of the first reading are found again, and reported once.
  if (await reading.commands.run(secretVariables(reading))) declaration = readDeclaration(reading);
  const { values, credentials, callers } = declaration;
  const tls = readTls(values, reading);
  const listenTls = readListenTls(values, reading);
  const outboundProxy = readOutboundProxies(input.env, reading.report);
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
    ...settingsInForce(values),
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
    provenance: provenanceOf(effective, reading, credentials),
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
