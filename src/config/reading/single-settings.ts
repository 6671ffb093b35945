import { dirname } from 'node:path';
import {
  FILE_KEYS,
  PLAIN_SETTINGS,
  type Setting,
  STRUCTURED_KEYS,
  type Values,
} from '../declaration/settings.ts';
import { entry, isAbsent, readMap, reportUnknownKeys, reportUnknownSecretKeys, valueAt } from './maps.ts';
import type { Reading } from './reading.ts';

function rawFromFile(setting: Setting<unknown>, reading: Reading): unknown {
  if (setting.key === undefined || STRUCTURED_KEYS.includes(setting.key)) return undefined;
  return valueAt(reading.file.content, setting.key);
}

/** Where a setting's value comes from: the key that a fault is to name, and the folder where its paths begin. */
export function sourceOf(
  setting: { readonly variable: string; readonly key?: string },
  reading: Reading,
): { readonly key: string; readonly folder: string } {
  const { environment, file, cwd } = reading;
  const inFile = setting.key !== undefined && !isAbsent(valueAt(file.content, setting.key));
  if (setting.variable in environment.variables || !inFile) return { key: setting.variable, folder: cwd };
  return { key: setting.key, folder: folderOf(reading) };
}

/** Where the file's relative paths begin. */
export function folderOf({ file, cwd }: Pick<Reading, 'file' | 'cwd'>): string {
  return file.path === undefined ? cwd : dirname(file.path);
}

/** What a broken file may well hold can't be said to be missing. */
export function isWhole({ file, environment }: Pick<Reading, 'file' | 'environment'>): boolean {
  return !file.broken && !environment.broken;
}

/** Variable, else file, else default. A value that loses is checked as well: it may win tomorrow. */
function readSetting(setting: Setting<unknown>, reading: Reading): unknown {
  const take = (raw: unknown, key: string): unknown => {
    if (isAbsent(raw)) return undefined;
    const parsed = setting.kind.parse(raw);
    if ('value' in parsed) return parsed.value;
    reading.report(key, parsed.problem);
    return parsed.rest;
  };
  const fromFile = rawFromFile(setting, reading);
  const fromVariable = reading.environment.variables[setting.variable];
  const nowhere = isAbsent(fromFile) && fromVariable === undefined;
  if (nowhere && setting.required === true && isWhole(reading)) {
    reading.report(setting.variable, `is required; set it, or ${setting.key} in a configuration file`);
  }
  const inFile = take(fromFile, setting.key ?? setting.variable);
  const otherwise = reading.defaults[setting.variable] ?? setting.default;
  return take(fromVariable, setting.variable) ?? inFile ?? take(otherwise, setting.variable);
}

export function readSettings(reading: Reading): Values {
  const values = PLAIN_SETTINGS.map(([name, setting]) => [name, readSetting(setting, reading)]);
  // Each value has come out of its own setting's kind.
  return Object.fromEntries(values) as Values;
}

/** Faults for keys that mean nothing at the top of the file and one level below it. */
export function reportUnknownSettings(reading: Reading): void {
  const { file, report } = reading;
  const tops = [...new Set(FILE_KEYS.map((key) => key.replace(/\..*/, '')))];
  reportUnknownKeys(file.content, '', tops, report, FILE_KEYS);
  for (const group of tops) {
    const keys = FILE_KEYS.filter((key) => key.startsWith(`${group}.`)).map((key) =>
      key.slice(group.length + 1),
    );
    if (keys.length === 0) continue;
    const map = readMap(entry(file.content, group), group, report);
    if (group === 'share') reportUnknownSecretKeys(map, group, keys, () => undefined, report);
    else reportUnknownKeys(map, group, keys, report, FILE_KEYS);
  }
}
