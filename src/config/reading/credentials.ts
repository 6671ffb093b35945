import type { CredentialConfig } from '../config.ts';
import {
  CREDENTIAL_TYPE,
  type CredentialType,
  NAME_PATTERN,
  RESERVED_NAMES,
} from '../declaration/file-fields.ts';
import {
  type Content,
  contentFromFile,
  contentsFromVariables,
  readSessionPlace,
  reportUnknownFields,
} from './credential-contents.ts';
import { noteVariables } from './given-secret.ts';
import { below, entry, isAbsent, isMap, readField, readMap, valueAt, type YamlMap } from './maps.ts';
import { readPlacement } from './placement.ts';
import type { Reading } from './reading.ts';

export interface Credentials {
  readonly usable: ReadonlyMap<string, CredentialConfig>;
  /** Every name that the configuration gives, those with a fault too. */
  readonly names: readonly string[];
}

function reportName(name: string, path: string, reading: Reading): void {
  if (RESERVED_NAMES.includes(name))
    reading.report(path, `cannot be a credential's name: routes use ${name} as a word`);
  else if (!new RegExp(NAME_PATTERN).test(name)) {
    reading.report(path, 'must have a name of letters, digits, - and _ that begins with a letter');
  }
}

/** The file's entry, unless a variable has given the content: then its secrets are only noted, never read. */
function contentOf(
  map: YamlMap,
  path: string,
  type: CredentialType | undefined,
  given: { readonly content: Content | undefined } | undefined,
  reading: Reading,
): Content | undefined {
  reportUnknownFields(map, path, type, reading.report);
  if (given === undefined) return contentFromFile(map, path, type, reading);
  noteVariables(map, reading);
  return given.content;
}

/**
 * All credentials. Variables win over the file's entry of the same name, secrets and type; where it may go, and
 * in which header, stays as the file says.
 */
export function readCredentials(reading: Reading, baseOrigin: string | undefined): Credentials {
  const fromVariables = contentsFromVariables(reading);
  const file = readMap(valueAt(reading.file.content, 'credentials'), 'credentials', reading.report);
  const names = [...new Set([...fromVariables.keys(), ...Object.keys(file)])];
  const usable = new Map<string, CredentialConfig>();
  for (const name of names) {
    const path = below('credentials', name);
    reportName(name, path, reading);
    const raw = entry(file, name);
    const map = readMap(raw, path, reading.report);
    if (!isMap(raw) && !isAbsent(raw)) continue;
    const type = readField(map, path, 'type', CREDENTIAL_TYPE, reading.report);
    const content = contentOf(map, path, type, fromVariables.get(name), reading);
    const session = content?.kind === 'session' ? readSessionPlace(map, path, reading) : {};
    // What a variable gives has the type that it has, whatever the file says.
    const typeInUse = fromVariables.has(name) ? undefined : type;
    const placement = readPlacement(map, path, typeInUse, session.baseUrl?.origin ?? baseOrigin, reading);
    if (content !== undefined) usable.set(name, { name, ...placement, ...content, ...session });
  }
  return { usable, names };
}
