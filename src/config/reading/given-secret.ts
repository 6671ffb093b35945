import { Secret } from '../../base/secret.ts';
import type { SecretSetting } from '../declaration/settings.ts';
import { doubtAbout } from '../values/doubtful-secrets.ts';
import { basicProblem, COOKIE_VALUE, headerValueProblem } from '../values/header-values.ts';
import type { Report } from './faults.ts';
import { entry, isAbsent, isMap, valueAt, type YamlMap } from './maps.ts';
import { wholePlaceholder } from './placeholders.ts';
import type { Reading } from './reading.ts';
import { folderOf } from './single-settings.ts';
import { isOtherEncoding, NOT_UTF8, readTextFile } from './text-file.ts';

/** A header can't carry every text, and a cookie or `Basic` fewer yet; a request body, or a query, carries all. */
export type SecretUse = SecretSetting['secret'] | 'cookie' | 'username' | 'password';

function problemIn(text: string, use: SecretUse): string | undefined {
  switch (use) {
    case 'header':
      return headerValueProblem(text);
    case 'cookie':
      return COOKIE_VALUE.test(text)
        ? undefined
        : 'cannot be sent in a cookie: it holds a character that none may hold';
    case 'username':
    case 'password':
      return basicProblem(use, text);
    case 'body':
      return undefined;
  }
}

/** A secret that the configuration gives; without a value when there is a fault in it, which has been reported. */
export interface GivenSecret {
  readonly key: string;
  readonly secret?: Secret;
}

/** The final line end that editors add is not part of a secret; anything else may be. */
function withoutFinalLineEnd(content: string): string {
  return content.replace(/\r?\n$/, '');
}

/** A byte order mark is let through where a login carries it: if that is refused, the failure tells of the mark. */
function checked(
  text: string,
  key: string,
  use: SecretUse,
  { report, warn }: Pick<Reading, 'report' | 'warn'>,
): GivenSecret {
  const problem =
    text === ''
      ? 'is empty'
      : isOtherEncoding(text)
        ? `holds what was lost in decoding: it is ${NOT_UTF8}`
        : use !== 'body' && text.startsWith('\ufeff')
          ? 'begins with a byte order mark (BOM); save it without'
          : problemIn(text, use);
  if (problem !== undefined) {
    report(key, problem);
    return { key };
  }
  const placeholder = wholePlaceholder(text);
  const doubt =
    placeholder === undefined ? doubtAbout(text) : `is ${placeholder}, which nothing replaces here`;
  if (doubt !== undefined) warn(key, doubt);
  return { key, secret: new Secret(text) };
}

function fromFile(path: string, folder: string, key: string, use: SecretUse, reading: Reading): GivenSecret {
  const file = readTextFile(path, folder, key, reading);
  if (file === undefined) return { key };
  const report: Report = (at, problem) => reading.report(at, problem, { ofFile: true });
  // What the decoder leaves where bytes were no UTF-8: the secret would be sent changed.
  if (isOtherEncoding(file.content)) {
    report(key, `names a file that is ${NOT_UTF8}`);
    return { key };
  }
  return checked(withoutFinalLineEnd(file.content), key, use, { report, warn: reading.warn });
}

function isFilled(text: string | undefined): boolean {
  return text !== undefined && text.trim() !== '';
}

/** The secret that `BEARERD_X` or `BEARERD_X_FILE` gives. */
export function secretFromVariables(
  setting: SecretSetting,
  reading: Reading,
  use: SecretUse = setting.secret,
): GivenSecret | undefined {
  const { variables } = reading.environment;
  const fileVariable = `${setting.variable}_FILE`;
  const given = variables[setting.variable];
  const named = variables[fileVariable];
  // Compose files hand on both, the one without a value as an empty string.
  const text = given === '' && isFilled(named) ? undefined : given;
  const path = isFilled(given) && !isFilled(named) ? undefined : named;
  if (text !== undefined && path !== undefined) {
    reading.report(setting.variable, `is given together with ${fileVariable}; keep one of the two`);
    return { key: setting.variable };
  }
  if (text !== undefined) return checked(text, setting.variable, use, reading);
  if (path?.trim() === '') {
    reading.report(fileVariable, 'is empty; it must name a file');
    return { key: fileVariable };
  }
  return path === undefined ? undefined : fromFile(path, reading.cwd, fileVariable, use, reading);
}

const SHAPE = 'must be text, {env: NAME} or {file: PATH}';

function reference(raw: unknown, name: 'env' | 'file'): string | undefined {
  const value = isMap(raw) && Object.keys(raw).length === 1 ? entry(raw, name) : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Notes the variable that `{env: NAME}` names: it holds a secret, whether or not the secret is used. */
export function noteVariable(raw: unknown, reading: Reading): void {
  const name = reference(raw, 'env');
  if (name !== undefined) reading.variablesNamed.add(name);
}

/** Notes those of a whole entry, its `parameters` too. */
export function noteVariables(map: YamlMap, reading: Reading): void {
  for (const raw of Object.values(map)) {
    noteVariable(raw, reading);
    if (isMap(raw)) for (const inner of Object.values(raw)) noteVariable(inner, reading);
  }
}

/**
 * The secret at one key of the file. No fault here shows what stands there, not even the keys of a map:
 * `{hunter2}` is a map to YAML.
 */
export function secretFromFile(
  raw: unknown,
  key: string,
  use: SecretUse,
  reading: Reading,
): GivenSecret | undefined {
  if (raw === undefined) return undefined;
  if (raw === null) {
    reading.report(key, 'is empty; put it in quotes if it begins with #');
    return { key };
  }
  if (typeof raw === 'string') return checked(raw, key, use, reading);
  noteVariable(raw, reading);
  const path = reference(raw, 'file');
  if (path !== undefined) return fromFile(path, folderOf(reading), key, use, reading);
  const name = reference(raw, 'env');
  if (name === undefined) {
    const number = typeof raw === 'number' || typeof raw === 'boolean';
    reading.report(key, number ? 'must be in quotes: YAML reads it as a number or a boolean' : SHAPE);
    return { key };
  }
  const text = reading.environment.lookUp(name);
  if (!isAbsent(text)) return checked(text, key, use, reading);
  // Shown only where it looks like a variable's name, since secrets get pasted here too.
  const shown = /^[A-Z][A-Z0-9_]*$/.test(name) ? `the variable ${name}, which` : 'a variable that';
  reading.report(key, `names ${shown} is not set`);
  return { key };
}

/** A secret with a variable and a key of its own. */
export function readSecret(setting: SecretSetting, reading: Reading): GivenSecret | undefined {
  const raw = valueAt(reading.file.content, setting.key);
  noteVariable(raw, reading);
  return secretFromVariables(setting, reading) ?? secretFromFile(raw, setting.key, setting.secret, reading);
}
