import type { Setting } from '../declaration/setting.ts';
import { PLAIN_SETTINGS, type Values } from '../declaration/settings.ts';
import { isAbsent, valueAt } from '../reading/maps.ts';
import { isWhole, type Reading } from '../reading/reading.ts';
import { placeholderProblem, variablePlaceholderProblem } from '../values/placeholders.ts';
import { isInSection } from './file.ts';

/** Docker and others pass on the quotes of a line `NAME="value"`. */
const QUOTED = /^\s*(["']).*\1\s*$/s;
const QUOTES = '; it stands in quotes, which count as a part of it here: leave them out';

/** Variable, else file, else default. The file is checked even if the variable wins: later it may count. */
function readSetting(setting: Setting<unknown>, reading: Reading): unknown {
  const { variable, key, kind, required = false } = setting;
  const take = (raw: unknown, at: string, placeholder?: string): unknown => {
    if (isAbsent(raw)) return undefined;
    const parsed = placeholder === undefined ? kind.parse(raw) : { problem: placeholder };
    if ('value' in parsed) return parsed.value;
    const isQuoted = typeof raw === 'string' && QUOTED.test(raw);
    reading.report(at, `${parsed.problem}${isQuoted ? QUOTES : ''}`);
    return parsed.rest;
  };
  const fromFile = key === undefined || isInSection(key) ? undefined : valueAt(reading.file.content, key);
  const fromVariable = reading.environment.variables[variable];
  if (required && isAbsent(fromFile) && fromVariable === undefined && isWhole(reading)) {
    // The usual cause is a different working directory.
    const sought = reading.file.sought?.join(', ');
    const none = sought === undefined ? '' : `; there is none at ${sought}: name it with --config`;
    reading.report(variable, `is required; set it, or ${key} in a configuration file${none}`);
  }
  const inFile = take(fromFile, key ?? variable, placeholderProblem(fromFile));
  const winner = take(fromVariable, variable, variablePlaceholderProblem(fromVariable ?? ''));
  return winner ?? inFile ?? take(reading.defaults[variable] ?? setting.default, variable);
}

export function readSettings(reading: Reading): Values {
  const values = PLAIN_SETTINGS.map(([name, setting]) => [name, readSetting(setting, reading)]);
  // Each value has the type of its setting's kind.
  return Object.fromEntries(values) as Values;
}

/** The settings that `Config` holds, by themselves or in a group; other parts of it are made from the rest. */
export type SettingsInForce = Readonly<ReturnType<typeof settingsInForce>>;

export function settingsInForce(values: Values) {
  const {
    configFile,
    upstream,
    upstreamAddress,
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
