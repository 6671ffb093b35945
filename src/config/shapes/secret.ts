import { Secret } from '../../base/secret.ts';
import { formsOf, type SecretSetting } from '../declaration/setting.ts';
import { inForceAmong } from '../reading/environment.ts';
import type { Report } from '../reading/faults.ts';
import { entry, isAbsent, isMap, type YamlMap } from '../reading/maps.ts';
import { folderOf, type Reading } from '../reading/reading.ts';
import type { SecretCommand } from '../reading/secret-commands.ts';
import { readTextFile } from '../reading/text-file.ts';
import { doubtAbout } from '../values/doubtful-secrets.ts';
import { isOtherEncoding, NOT_UTF8, withoutLineEnd } from '../values/encoding.ts';
import { basicProblem, COOKIE_VALUE, headerValueProblem } from '../values/header-values.ts';
import type { JsonSchema } from '../values/kind.ts';
import { variablePlaceholderProblem, wholePlaceholder } from '../values/placeholders.ts';
import { At } from './at.ts';
import { mapSchema, objectSchema } from './object-schema.ts';
import { COMMAND, commandAt, printedBy, shellCommand } from './secret-command.ts';
import type { Shape } from './shape.ts';

/** A header can't carry every text, a cookie or `Basic` even fewer; a request body or a query carries any. */
export type SecretUse = SecretSetting['secret'] | 'cookie' | 'username' | 'password';

/** A credential's `parameters`. An alias may stand in itself. */
const DEEPEST_SECRET = 2;

export const HIDDEN = '***';

/** The one definition that every secret of the schema refers to. */
export const secretSchema = (): JsonSchema => ({
  description:
    'the secret itself, {env: NAME}, {file: PATH} (from the folder of this file, where it is relative), or {command: [PROGRAM, ARG, …]}, which prints it',
  oneOf: [
    { type: 'string', minLength: 1 },
    mapSchema({ env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } }, ['env']),
    mapSchema({ file: { type: 'string', minLength: 1 } }, ['file']),
    objectSchema(COMMAND.fields),
  ],
});

/** A secret: the text itself, a variable of `env`, a file, which is watched, or a command that prints it. */
export type SecretValue =
  | string
  | { readonly env: string }
  | { readonly file: string }
  | { readonly command: readonly string[]; readonly timeout?: string };

/** Stands in place of a value of the file that the variables of a setting give. */
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
      if (raw instanceof FromVariables) return secretFromVariables(raw.setting, at, meant);
      return secretFromFile(raw, at, meant);
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

function checked(text: string, { key, reading }: At, use: SecretUse): Secret | undefined {
  reading.commands.knows(text);
  const problem = problemIn(text, use);
  if (problem !== undefined) {
    reading.report(key, problem);
    return undefined;
  }
  const placeholder = wholePlaceholder(text);
  const doubt = placeholder ? `is ${placeholder.shown}, which nothing replaces here` : doubtAbout(text);
  if (doubt !== undefined) reading.warn(key, doubt);
  return new Secret(text);
}

/** @param path with the folder where it begins if it is relative */
function fromTextFile(
  [path, folder]: [string, string],
  { key, reading }: At,
  use: SecretUse,
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
  return checked(withoutLineEnd(file.content), new At(key, { ...reading, report }), use);
}

/** The variable of a secret that is in force: `BEARERD_X`, `BEARERD_X_FILE` or `BEARERD_X_COMMAND`; undefined where none is set. */
export function variableOf(setting: SecretSetting, { environment }: Reading): string | undefined {
  return inForceAmong(formsOf(setting), environment);
}

/** @param at the variable that is in force */
function secretFromVariables(setting: SecretSetting, at: At, use: SecretUse): Secret | undefined {
  const { variables } = at.reading.environment;
  const text = variables[at.key] ?? '';
  const [itself, file, command] = formsOf(setting);
  const other = [file, command].find((form) => form !== at.key && variables[form]?.trim());
  if (text !== '' && other !== undefined) {
    at.report(`is given together with ${other}; keep one of the two`);
    return undefined;
  }
  if (at.key === itself) return checked(text, at, use);
  const isFile = at.key === file;
  const lost = `is empty; it must ${isFile ? 'name a file' : 'be a command that prints the secret'}`;
  // What a shell reads may well hold a `$`.
  const problem = text.trim() === '' ? lost : isFile ? variablePlaceholderProblem(text) : undefined;
  if (problem !== undefined) at.report(problem);
  else if (isFile) return fromTextFile([text, at.reading.cwd], at, use);
  else return fromCommand(shellCommand(text), at, use);
  return undefined;
}

function fromCommand(asked: SecretCommand | undefined, at: At, use: SecretUse): Secret | undefined {
  const text = asked && printedBy(asked, at);
  if (text === undefined) return undefined;
  // It stands for any value, whatever that has to fit into.
  return at.reading.commands.standIns ? new Secret(text) : checked(text, at, use);
}

function reference(raw: unknown, name: 'env' | 'file'): string | undefined {
  const value = isMap(raw) && Object.keys(raw).length === 1 ? entry(raw, name) : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The variable that `{env: NAME}` names; undefined for any other value. */
export function variableNamed(raw: unknown): string | undefined {
  return reference(raw, 'env');
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
function secretFromFile(raw: unknown, at: At, use: SecretUse): Secret | undefined {
  const { reading } = at;
  // Where a key is the user name of Basic, there is no password (`curl -u KEY:`).
  if (raw === '' && use === 'password') return new Secret('');
  if (raw === null) at.report('is empty; put it in quotes if it begins with #');
  if (typeof raw === 'string') {
    const placeholder = wholePlaceholder(raw);
    if (placeholder === undefined) return checked(raw, at, use);
    at.report(`${placeholder.shown} is not replaced in this file; write { env: ${placeholder.name} }`);
  }
  if (raw === null || typeof raw === 'string') return undefined;
  noteVariables(raw, reading);
  if (isMap(raw) && entry(raw, 'command') !== undefined) return fromCommand(commandAt(raw, at), at, use);
  const path = reference(raw, 'file');
  if (path !== undefined) return fromTextFile([path, folderOf(reading)], at, use);
  const name = reference(raw, 'env');
  if (name === undefined) {
    const number = typeof raw === 'number' || typeof raw === 'boolean';
    at.report(
      number
        ? 'must be in quotes: YAML reads it as a number or a boolean'
        : 'must be text, {env: NAME}, {file: PATH} or {command: [PROGRAM, ARG, …]}',
    );
    return undefined;
  }
  const text = reading.environment.lookUp(name);
  if (!isAbsent(text)) return checked(text, at, use);
  // Shown only where it looks like a variable's name, since secrets get pasted here too.
  const shown = /^[A-Z][A-Z0-9_]*$/.test(name) ? `the variable ${name}, which` : 'a variable that';
  at.report(`names ${shown} is not set`);
  return undefined;
}
