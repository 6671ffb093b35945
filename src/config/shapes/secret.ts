import { Secret } from '../../base/secret.ts';
import type { SecretSetting } from '../declaration/settings.ts';
import type { Report } from '../reading/faults.ts';
import { entry, isAbsent, isMap, type YamlMap } from '../reading/maps.ts';
import { folderOf, type Reading } from '../reading/reading.ts';
import { isOtherEncoding, NOT_UTF8, readTextFile } from '../reading/text-file.ts';
import { doubtAbout } from '../values/doubtful-secrets.ts';
import { basicProblem, COOKIE_VALUE, headerValueProblem } from '../values/header-values.ts';
import type { JsonSchema } from '../values/kind.ts';
import { variablePlaceholderProblem, wholePlaceholder } from '../values/placeholders.ts';
import type { At } from './at.ts';
import { mapSchema } from './object-schema.ts';
import type { Shape } from './shape.ts';

/** A header can't carry every text, and a cookie or `Basic` fewer yet; a request body, or a query, carries all. */
export type SecretUse = SecretSetting['secret'] | 'cookie' | 'username' | 'password';

/** A credential's `parameters`. An alias may stand in itself. */
const DEEPEST_SECRET = 2;

export const HIDDEN = '***';

/** The one definition that every secret of the schema refers to. */
export const SECRET_SCHEMA: JsonSchema = {
  description:
    'the secret itself, {env: NAME} or {file: PATH} (from the folder of this file, where it is relative)',
  oneOf: [
    { type: 'string', minLength: 1 },
    mapSchema({ env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } }, ['env']),
    mapSchema({ file: { type: 'string', minLength: 1 } }, ['file']),
  ],
};

/** A secret: the text itself, a variable of `env`, or a file, which is watched. */
export type SecretValue = string | { readonly env: string } | { readonly file: string };

/** In the place of a value of the file: the variables of a setting give it. */
export class FromVariables {
  readonly setting: SecretSetting;

  constructor(setting: SecretSetting) {
    this.setting = setting;
  }
}

/** @param use what it has to fit into, which may depend on what stands beside it */
export function secret(use: SecretUse | ((siblings: YamlMap) => SecretUse)): Shape<Secret, SecretValue> {
  return {
    schema: { $ref: '#/definitions/secret' },
    holdsSecrets: true,
    read(raw, at, siblings) {
      const meant = typeof use === 'string' ? use : use(siblings);
      if (raw instanceof FromVariables) return secretFromVariables(raw.setting, meant, at.reading);
      return secretFromFile(raw, meant, at);
    },
    show: () => HIDDEN,
  };
}

function problemIn(text: string, use: SecretUse): string | undefined {
  if (text === '') return 'is empty';
  if (isOtherEncoding(text)) return `holds what was lost in decoding: it is ${NOT_UTF8}`;
  // Let through where a login carries it: if that is refused, the failure tells of the mark.
  if (use !== 'body' && text.startsWith('\ufeff'))
    return 'begins with a byte order mark (BOM); save it without';
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

function checked(
  text: string,
  key: string,
  use: SecretUse,
  { report, warn }: Pick<Reading, 'report' | 'warn'>,
): Secret | undefined {
  const problem = problemIn(text, use);
  if (problem !== undefined) {
    report(key, problem);
    return undefined;
  }
  const placeholder = wholePlaceholder(text);
  const doubt = placeholder ? `is ${placeholder.shown}, which nothing replaces here` : doubtAbout(text);
  if (doubt !== undefined) warn(key, doubt);
  return new Secret(text);
}

function fromTextFile(
  path: string,
  folder: string,
  key: string,
  use: SecretUse,
  reading: Reading,
): Secret | undefined {
  const file = readTextFile(path, folder, key, reading);
  if (file === undefined) return undefined;
  const report: Report = (at, problem) => reading.report(at, problem, { ofFile: true });
  // What the decoder leaves where bytes were no UTF-8: the secret would be sent changed.
  if (isOtherEncoding(file.content)) {
    report(key, `names a file that is ${NOT_UTF8}`);
    return undefined;
  }
  // The final line end that editors add is not part of a secret; anything else may be.
  return checked(file.content.replace(/\r?\n$/, ''), key, use, { report, warn: reading.warn });
}

/** The variable of a secret that is in force: `BEARERD_X` or `BEARERD_X_FILE`; undefined where neither is set. */
export function variableOf({ variable }: SecretSetting, { environment }: Reading): string | undefined {
  const forms = [variable, `${variable}_FILE`].filter((name) => name in environment.variables);
  // Compose files hand on both, the one without a value as an empty string.
  return forms.find((name) => environment.variables[name]?.trim() !== '') ?? forms[0];
}

function secretFromVariables(setting: SecretSetting, use: SecretUse, reading: Reading): Secret | undefined {
  const { variables } = reading.environment;
  const fileVariable = `${setting.variable}_FILE`;
  const name = variableOf(setting, reading);
  if (name === undefined) return undefined;
  const text = variables[name] ?? '';
  if (name === fileVariable) {
    const problem = text.trim() === '' ? 'is empty; it must name a file' : variablePlaceholderProblem(text);
    if (problem === undefined) return fromTextFile(text, reading.cwd, fileVariable, use, reading);
    reading.report(fileVariable, problem);
    return undefined;
  }
  if (text !== '' && variables[fileVariable]?.trim()) {
    reading.report(setting.variable, `is given together with ${fileVariable}; keep one of the two`);
    return undefined;
  }
  return checked(text, setting.variable, use, reading);
}

function reference(raw: unknown, name: 'env' | 'file'): string | undefined {
  const value = isMap(raw) && Object.keys(raw).length === 1 ? entry(raw, name) : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Notes each variable that `{env: NAME}` names, at any depth: it holds a secret, whether or not the secret is used. */
export function noteVariables(raw: unknown, reading: Reading, depth = 0): void {
  const name = reference(raw, 'env');
  if (name !== undefined) reading.variablesNamed.add(name);
  else if (isMap(raw) && depth < DEEPEST_SECRET)
    for (const inner of Object.values(raw)) noteVariables(inner, reading, depth + 1);
}

/**
 * The secret at one key of the file. No fault here shows what stands there, not even the keys of a map:
 * `{hunter2}` is a map to YAML.
 */
function secretFromFile(raw: unknown, use: SecretUse, at: At): Secret | undefined {
  const { reading, key } = at;
  // Where a key is the user name of Basic, there is no password (`curl -u KEY:`).
  if (raw === '' && use === 'password') return new Secret('');
  if (raw === null) at.report('is empty; put it in quotes if it begins with #');
  if (typeof raw === 'string') {
    const placeholder = wholePlaceholder(raw);
    if (placeholder === undefined) return checked(raw, key, use, reading);
    at.report(`${placeholder.shown} is not replaced in this file; write { env: ${placeholder.name} }`);
  }
  if (raw === null || typeof raw === 'string') return undefined;
  noteVariables(raw, reading);
  const path = reference(raw, 'file');
  if (path !== undefined) return fromTextFile(path, folderOf(reading), key, use, reading);
  const name = reference(raw, 'env');
  if (name === undefined) {
    const number = typeof raw === 'number' || typeof raw === 'boolean';
    at.report(
      number
        ? 'must be in quotes: YAML reads it as a number or a boolean'
        : 'must be text, {env: NAME} or {file: PATH}',
    );
    return undefined;
  }
  const text = reading.environment.lookUp(name);
  if (!isAbsent(text)) return checked(text, key, use, reading);
  // Shown only where it looks like a variable's name, since secrets get pasted here too.
  const shown = /^[A-Z][A-Z0-9_]*$/.test(name) ? `the variable ${name}, which` : 'a variable that';
  at.report(`names ${shown} is not set`);
  return undefined;
}
