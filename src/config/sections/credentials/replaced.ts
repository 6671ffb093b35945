import { formsOf, type SecretSetting } from '../../declaration/setting.ts';
import { entry, isMap, type YamlMap } from '../../reading/maps.ts';
import { type FromVariables, variableNamed } from '../../shapes/secret.ts';
import type { At } from '../../shapes/shape.ts';
import { PAIRS } from './session.ts';

/** What variables put in place of an entry of the file. */
interface Replacement {
  readonly type: string;
  /** By their fields: the setting of each secret that variables can give, and those that they do give. */
  readonly secrets: Readonly<Record<string, SecretSetting>>;
  readonly given: ReadonlyMap<string, FromVariables>;
}

/**
 * Reports a variable that takes the place of an entry that was meant to count: the entry itself names that variable, or
 * the variables give only half of what the entry has. Other faults would be about an entry that is not in the file.
 *
 * @param at the entry, with the variables in force below it
 * @returns whether there is such a fault
 */
export function reportReplaced(inFile: unknown, at: At, replacement: Replacement): boolean {
  if (!isMap(inFile)) return false;
  const named = namingField(inFile, replacement);
  if (named !== undefined && losesSome(inFile, replacement)) {
    const [field, variable] = named;
    at.reading.report(
      `${at.key}.${field}`,
      `names ${variable}, which replaces this whole entry by a credential of type ${replacement.type}; give that value by a variable of another name`,
    );
    return true;
  }
  if (at.reading.environment.broken) return false;
  const half = PAIRS.find((pair) => pair.filter((field) => replacement.given.has(field)).length === 1);
  if (half === undefined) return false;
  const [missing, given] = replacement.given.has(half[0]) ? [half[1], half[0]] : half;
  const variable = at.below(given).key;
  at.below(missing).report(
    `is missing; ${variable} needs it, and replaces ${at.key} of the file: set both, or unset ${variable}`,
  );
  return true;
}

/** The field whose value is one of the variables that replace its entry, and that variable. */
function namingField(
  inFile: YamlMap,
  { given }: Replacement,
): readonly [field: string, variable: string] | undefined {
  const replacing = [...given.values()].flatMap(({ setting }) => formsOf(setting));
  for (const [field, value] of Object.entries(inFile)) {
    const variable = variableNamed(value);
    if (variable !== undefined && replacing.includes(variable)) return [field, variable];
  }
  return undefined;
}

/** Whether the variables give less, or something else, than the entry has. */
function losesSome(inFile: YamlMap, { type, secrets, given }: Replacement): boolean {
  if (entry(inFile, 'type') !== type) return true;
  return Object.keys(inFile).some((field) => Object.hasOwn(secrets, field) && !given.has(field));
}
