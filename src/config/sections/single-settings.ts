import type { Secret } from '../../base/secret.ts';
import type { SecretSetting, Setting } from '../declaration/setting.ts';
import {
  FILE_KEYS,
  PLAIN_SETTINGS,
  SECRET_SETTINGS,
  STRUCTURED_KEYS,
  type Values,
} from '../declaration/settings.ts';
import { entry, isAbsent, valueAt } from '../reading/maps.ts';
import { isWhole, type Reading } from '../reading/reading.ts';
import { At } from '../shapes/at.ts';
import { FromVariables, noteVariables, secret, variableOf } from '../shapes/secret.ts';
import { mapAt, reportUnknown } from '../shapes/unknown-keys.ts';
import { placeholderProblem, variablePlaceholderProblem } from '../values/placeholders.ts';

function rawFromFile(setting: Setting<unknown>, reading: Reading): unknown {
  if (setting.key === undefined || STRUCTURED_KEYS.includes(setting.key)) return undefined;
  return valueAt(reading.file.content, setting.key);
}

/** Docker and others hand on the quotes of a line `NAME="value"`. */
const QUOTED = /^\s*(["']).*\1\s*$/s;
const QUOTES = '; it stands in quotes, which count as a part of it here: leave them out';

/** Variable, else file, else default. The value that loses is checked as well: later it may win. */
function readSetting(setting: Setting<unknown>, reading: Reading): unknown {
  const take = (raw: unknown, key: string, placeholder?: string): unknown => {
    if (isAbsent(raw)) return undefined;
    const parsed = placeholder === undefined ? setting.kind.parse(raw) : { problem: placeholder };
    if ('value' in parsed) return parsed.value;
    reading.report(key, `${parsed.problem}${QUOTED.test(String(raw)) ? QUOTES : ''}`);
    return parsed.rest;
  };
  const fromFile = rawFromFile(setting, reading);
  const fromVariable = reading.environment.variables[setting.variable];
  const nowhere = isAbsent(fromFile) && fromVariable === undefined;
  if (nowhere && setting.required === true && isWhole(reading)) {
    // The usual reason is another working directory.
    const sought = reading.file.sought?.join(', ');
    const none = sought === undefined ? '' : `; there is none at ${sought}: name it with --config`;
    reading.report(setting.variable, `is required; set it, or ${setting.key} in a configuration file${none}`);
  }
  const inFile = take(fromFile, setting.key ?? setting.variable, placeholderProblem(fromFile));
  const otherwise = reading.defaults[setting.variable] ?? setting.default;
  const winner = take(fromVariable, setting.variable, variablePlaceholderProblem(fromVariable ?? ''));
  return winner ?? inFile ?? take(otherwise, setting.variable);
}

export function readSettings(reading: Reading): Values {
  const values = PLAIN_SETTINGS.map(([name, setting]) => [name, readSetting(setting, reading)]);
  // Each value has come out of its own setting's kind.
  return Object.fromEntries(values) as Values;
}

/** A secret that the configuration gives; without a value when there is a fault in it, which has been reported. */
export interface GivenSecret {
  readonly key: string;
  readonly secret: Secret | undefined;
}

/** A secret with a variable and a key of its own. */
export function readSecret(setting: SecretSetting, reading: Reading): GivenSecret | undefined {
  const inFile = valueAt(reading.file.content, setting.key);
  noteVariables(inFile, reading);
  const variable = variableOf(setting, reading);
  const raw = variable === undefined ? inFile : new FromVariables(setting);
  if (raw === undefined) return undefined;
  const key = variable ?? setting.key;
  return { key, secret: secret(setting.secret).read(raw, new At(key, reading), {}) };
}

/** Faults for keys that mean nothing at the top of the file and one level below it. */
export function reportUnknownSettings(reading: Reading): void {
  const { content } = reading.file;
  const at = new At('', reading);
  const tops = [...new Set(FILE_KEYS.map((key) => key.replace(/\..*/, '')))];
  reportUnknown(content, at, { known: tops, elsewhere: FILE_KEYS });
  for (const group of tops) {
    const dotted = FILE_KEYS.filter((key) => key.startsWith(`${group}.`));
    if (dotted.length === 0) continue;
    const known = dotted.map((key) => key.slice(group.length + 1));
    const map = mapAt(entry(content, group), at.below(group)) ?? {};
    const holdsSecrets = SECRET_SETTINGS.some(({ key }) => dotted.includes(key));
    reportUnknown(map, at.below(group), {
      known,
      holdsSecrets,
      ...(!holdsSecrets && { elsewhere: FILE_KEYS }),
    });
  }
}
