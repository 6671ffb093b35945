import { Secret } from '../../base/secret.ts';
import { formsOf, type SecretSetting } from '../declaration/setting.ts';
import { inForceAmong } from '../reading/environment.ts';
import type { Report } from '../reading/faults.ts';
import { entry, isAbsent, isMap, valueAt, type YamlMap } from '../reading/maps.ts';
import { folderOf, type Reading } from '../reading/reading.ts';
import type { SecretCommand } from '../reading/secret-commands.ts';
import { readTextFile } from '../reading/text-file.ts';
import { isOtherEncoding, NOT_UTF8, withoutLineEnd } from '../values/encoding.ts';
import type { JsonSchema } from '../values/kind.ts';
import { variablePlaceholderProblem, wholePlaceholder } from '../values/placeholders.ts';
import { mapSchema, objectSchema } from './field.ts';
import { COMMAND, commandAt, printedBy, shellCommand } from './secret-command.ts';
import { type SecretUse, secretOf } from './secret-text.ts';
import { At, type Shape } from './shape.ts';

/** Enough for a credential's `parameters`. Bounded, because an alias may contain itself. */
const DEEPEST_SECRET = 2;

export const HIDDEN = '***';

/** The definition that every secret in the schema refers to. */
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

/** Replaces a value of the file that comes from the variables of a setting. */
export class FromVariables {
  readonly setting: SecretSetting;

  constructor(setting: SecretSetting) {
    this.setting = setting;
  }
}

/** @param use where it is sent, which may depend on the keys beside it */
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

/** A secret that is configured; without a value if a fault was reported. */
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

/** The variable in force: `BEARERD_X`, `BEARERD_X_FILE` or `BEARERD_X_COMMAND`; undefined if none is set. */
export function variableOf(setting: SecretSetting, { environment }: Reading): string | undefined {
  return inForceAmong(formsOf(setting), environment);
}

/** @param at the variable that is in force */
function secretFromVariables(setting: SecretSetting, at: At, use: SecretUse): Secret | undefined {
  const { variables } = at.reading.environment;
  const text = variables[at.key] ?? '';
  const [itself, file, command] = formsOf(setting);
  const other = [file, command].find((form) => form !== at.key && variables[form]?.trim());
  if (text !== '' && other !== undefined)
    return at.report(`is given together with ${other}; keep one of the two`);
  if (at.key === itself) return secretOf(text, at, use);
  const isFile = at.key === file;
  if (text.trim() === '')
    return at.report(`is empty; it must ${isFile ? 'name a file' : 'be a command that prints the secret'}`);
  // A shell's text may well hold a `$`.
  if (!isFile) return fromCommand(shellCommand(text), at, use);
  const problem = variablePlaceholderProblem(text);
  return problem === undefined ? fromTextFile([text, at.reading.cwd], at, use) : at.report(problem);
}

/**
 * The secret at a key of the file. No fault shows the value, not even the keys of a map: `{hunter2}` is a map to YAML.
 */
function secretFromFile(raw: unknown, at: At, use: SecretUse): Secret | undefined {
  const { reading } = at;
  // Some APIs take a key as user name of Basic, without a password (`curl -u KEY:`).
  if (raw === '' && use === 'password') return new Secret('');
  if (raw === null) return at.report('is empty; put it in quotes if it begins with #');
  if (typeof raw === 'number' || typeof raw === 'boolean')
    return at.report('must be in quotes: YAML reads it as a number or a boolean');
  if (typeof raw === 'string') {
    const placeholder = wholePlaceholder(raw);
    if (placeholder === undefined) return secretOf(raw, at, use);
    const { shown, name } = placeholder;
    return at.report(`${shown} is not replaced in this file; write { env: ${name} }`);
  }
  noteVariables(raw, reading);
  if (isMap(raw) && entry(raw, 'command') !== undefined) return fromCommand(commandAt(raw, at), at, use);
  const path = reference(raw, 'file');
  if (path !== undefined) return fromTextFile([path, folderOf(reading)], at, use);
  const name = reference(raw, 'env');
  if (name === undefined)
    return at.report('must be text, {env: NAME}, {file: PATH} or {command: [PROGRAM, ARG, …]}');
  const text = reading.environment.lookUp(name);
  if (!isAbsent(text)) return secretOf(text, at, use);
  // Shown only if it looks like a variable's name, since secrets get pasted here, too.
  const shown = /^[A-Z][A-Z0-9_]*$/.test(name) ? `the variable ${name}, which` : 'a variable that';
  return at.report(`names ${shown} is not set`);
}

/** @param path with the folder where a relative path begins */
function fromTextFile([path, folder]: [string, string], at: At, use: SecretUse): Secret | undefined {
  const { key, reading } = at;
  const content = readTextFile(path, folder, key, reading)?.content;
  if (content === undefined) return undefined;
  const report: Report = (named, problem) => reading.report(named, problem, { ofFile: true });
  const ofFile = new At(key, { ...reading, report });
  // Bytes that are not UTF-8 were replaced: the secret would be sent changed.
  if (isOtherEncoding(content)) return ofFile.report(`names a file that is ${NOT_UTF8}`);
  // Editors add a final line end, which is no part of the secret; anything else may be.
  return secretOf(withoutLineEnd(content), ofFile, use);
}

function fromCommand(asked: SecretCommand | undefined, at: At, use: SecretUse): Secret | undefined {
  const text = asked && printedBy(asked, at);
  if (text === undefined) return undefined;
  // A stand-in is valid everywhere.
  return at.reading.commands.standIns ? new Secret(text) : secretOf(text, at, use);
}

function reference(raw: unknown, name: 'env' | 'file'): string | undefined {
  const value = isMap(raw) && Object.keys(raw).length === 1 ? entry(raw, name) : undefined;
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The variable that `{env: NAME}` names; undefined for any other value. */
export function variableNamed(raw: unknown): string | undefined {
  return reference(raw, 'env');
}

/** Notes each variable that `{env: NAME}` names, at any depth: it holds a secret even if that is not used. */
export function noteVariables(raw: unknown, reading: Reading, depth = 0): void {
  const name = reference(raw, 'env');
  if (name !== undefined) reading.variablesNamed.add(name);
  else if (isMap(raw) && depth < DEEPEST_SECRET)
    for (const inner of Object.values(raw)) noteVariables(inner, reading, depth + 1);
}
