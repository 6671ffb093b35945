import { CALLER_FIELDS, NAME_PATTERN } from '../declaration/file-fields.ts';
import { SETTINGS } from '../declaration/settings.ts';
import { type GivenSecret, readSecret, secretFromFile } from './given-secret.ts';
import {
  below,
  entry,
  isAbsent,
  isMap,
  readField,
  readMap,
  reportUnknownSecretKeys,
  valueAt,
} from './maps.ts';
import type { Reading } from './reading.ts';

/** A caller as it was read; what is undefined was not given or had a fault. */
interface CallerDraft {
  readonly name: string;
  readonly path: string;
  readonly key: GivenSecret | undefined;
  readonly routes: readonly string[] | undefined;
}

export interface Callers {
  /** `callerKey`: that of callers that have no name. */
  readonly unnamed: GivenSecret | undefined;
  readonly named: readonly CallerDraft[];
}

export function readCallers(reading: Reading): Callers {
  const unnamed = readSecret(SETTINGS.callerKey, reading);
  const file = readMap(valueAt(reading.file.content, 'callers'), 'callers', reading.report);
  const named = Object.keys(file).flatMap((name) => readCaller(name, entry(file, name), reading) ?? []);
  return { unnamed, named };
}

function readCaller(name: string, raw: unknown, reading: Reading): CallerDraft | undefined {
  const { report } = reading;
  const path = below('callers', name);
  if (!new RegExp(NAME_PATTERN).test(name)) {
    report(path, 'must have a name of letters, digits, - and _ that begins with a letter');
  }
  const map = readMap(raw, path, report);
  if (!isMap(raw) && !isAbsent(raw)) return undefined;
  reportUnknownSecretKeys(map, path, ['key', ...Object.keys(CALLER_FIELDS)], () => undefined, report);
  const key = secretFromFile(entry(map, 'key'), below(path, 'key'), 'header', reading);
  if (key === undefined) report(below(path, 'key'), 'is missing');
  return { name, path, key, routes: readField(map, path, 'routes', CALLER_FIELDS.routes.kind, report) };
}
