import { formsOf, type SecretSetting } from '../../declaration/setting.ts';
import { SETTINGS } from '../../declaration/settings.ts';
import { entry, isMap, valueAt } from '../../reading/maps.ts';
import type { Reading } from '../../reading/reading.ts';
import type { Placed } from '../../shapes/collections.ts';
import { FromVariables, noteVariables, variableOf } from '../../shapes/secret.ts';
import { At } from '../../shapes/shape.ts';
import {
  CREDENTIAL,
  CREDENTIAL_TYPES,
  CREDENTIALS,
  type Credential,
  type CredentialConfig,
  type DeclaredCredential,
  inForce,
  placementIn,
} from './credential.ts';
import { reportReplaced } from './replaced.ts';

interface OfVariables {
  readonly name: string;
  readonly type: keyof typeof CREDENTIAL_TYPES;
  /** The setting of each of its secrets. */
  readonly secrets: Readonly<Record<string, SecretSetting>>;
}

/** The credentials that variables can give. */
const OF_VARIABLES: readonly OfVariables[] = [
  {
    name: 'token',
    type: 'session',
    secrets: {
      clientId: SETTINGS.clientId,
      clientSecret: SETTINGS.clientSecret,
      username: SETTINGS.username,
      password: SETTINGS.password,
    },
  },
  { name: 'apiKey', type: 'apiKey', secrets: { key: SETTINGS.apiKey } },
];

export interface Credentials {
  readonly declared: ReadonlyMap<string, Credential>;
  /** All names, including credentials with a fault. */
  readonly names: readonly string[];
  /** Credentials without a fault. */
  readonly usable: ReadonlyMap<string, CredentialConfig>;
}

/**
 * The entry of a credential that variables give. They decide its secrets and type; the file decides where it may go, and in
 * which header.
 */
function fromVariables(
  { type, secrets }: OfVariables,
  inFile: unknown,
  { key, reading }: At,
): Placed<DeclaredCredential | undefined> | undefined {
  const named = Object.entries(secrets).map(
    ([field, setting]) => [field, setting, variableOf(setting, reading)] as const,
  );
  const given = named.filter(([, , variable]) => variable !== undefined);
  if (given.length === 0) return undefined;
  CREDENTIAL.checkKeys(inFile, new At(key, reading));
  noteVariables(inFile, reading);
  const names = named.map(([field, setting, variable = setting.variable]) => [field, variable] as const);
  const at = new At(key, reading, new Map([...names, ['type', given[0]?.[2] ?? '']]));
  const own = new Map(given.map(([field, setting]) => [field, new FromVariables(setting)]));
  if (reportReplaced(inFile, at, { type, secrets, given: own })) return { at, value: undefined };
  const { fields } = CREDENTIAL_TYPES[type];
  const isKept = ([field]: [string, unknown]) =>
    Object.hasOwn(fields, field) && !Object.hasOwn(secrets, field);
  const kept = isMap(inFile) ? Object.entries(inFile).filter(isKept) : [];
  return { at, value: CREDENTIAL.read(Object.fromEntries([...kept, ...own, ['type', type]]), at, {}) };
}

/** @param baseOrigin where credentials may go that name no origins */
export function readCredentials(reading: Reading, baseOrigin: string | undefined): Credentials {
  const at = new At('credentials', reading);
  const raw = valueAt(reading.file.content, 'credentials');
  const inFile = isMap(raw) ? raw : {};
  const won = new Map(
    OF_VARIABLES.flatMap((each) => {
      const placed = fromVariables(each, entry(inFile, each.name), at.below(each.name));
      return placed === undefined ? [] : [[each.name, placed]];
    }),
  );
  const left = isMap(raw) ? Object.fromEntries(Object.entries(raw).filter(([name]) => !won.has(name))) : raw;
  const all = new Map([...won, ...(CREDENTIALS.read(left, at, {}) ?? [])]);
  const declared = new Map<string, Credential>();
  const usable = new Map<string, CredentialConfig>();
  for (const [name, { at, value }] of all) {
    if (value === undefined) continue;
    const credential = { at, declared: value, placement: placementIn(value, baseOrigin) };
    declared.set(name, credential);
    const config = inForce(name, credential);
    if (config !== undefined) usable.set(name, config);
  }
  return { declared, names: [...all.keys()], usable };
}

/** The credential whose secret is at a key of the file, or in a variable; undefined for other secrets. */
export function credentialOf(key: string, { names }: Credentials): string | undefined {
  const variables = OF_VARIABLES.find(({ secrets }) => Object.values(secrets).flatMap(formsOf).includes(key));
  return variables?.name ?? names.find((name) => key.startsWith(`credentials.${name}.`));
}
