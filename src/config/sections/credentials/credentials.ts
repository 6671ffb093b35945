import type { CredentialConfig } from '../../credential-config.ts';
import { formsOf, type SecretSetting } from '../../declaration/setting.ts';
import { SETTINGS } from '../../declaration/settings.ts';
import { entry, isMap, valueAt } from '../../reading/maps.ts';
import type { Reading } from '../../reading/reading.ts';
import { At } from '../../shapes/at.ts';
import type { Placed } from '../../shapes/collections.ts';
import { FromVariables, noteVariables, variableOf } from '../../shapes/secret.ts';
import { CREDENTIAL, CREDENTIAL_TYPES, CREDENTIALS, type DeclaredCredential } from './credential.ts';
import { reportReplaced } from './replaced.ts';
import { type Credential, placementIn, usableOf } from './resolved.ts';

/** What variables can give: a name, its type, and the setting of each of its secrets. */
const FROM_VARIABLES = [
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
] as const;

/** Which settings give a field of the credentials that variables can make, by its dotted key. */
export const SETTINGS_OF_FIELDS = new Map<string, readonly SecretSetting[]>(
  FROM_VARIABLES.flatMap(({ name, secrets }) => {
    const settings: [string, SecretSetting][] = Object.entries(secrets);
    const type = settings.map(([, setting]) => setting);
    const fields = settings.map(([field, setting]) => [`credentials.${name}.${field}`, [setting]] as const);
    return [[`credentials.${name}.type`, type] as const, ...fields];
  }),
);

export interface Credentials {
  readonly declared: ReadonlyMap<string, Credential>;
  /** Every name that the configuration gives, those with a fault too. */
  readonly names: readonly string[];
  /** Those without a fault. */
  readonly usable: ReadonlyMap<string, CredentialConfig>;
}

/**
 * The entry as it would stand in the file if a variable could stand there. Variables win with secrets and type; where it may
 * go, and in which header, stays as the file says.
 */
function fromVariables(
  { type, secrets }: (typeof FROM_VARIABLES)[number],
  inFile: unknown,
  at: At,
): Placed<DeclaredCredential> | undefined {
  const { reading } = at;
  const settings: [string, SecretSetting][] = Object.entries(secrets);
  const given = settings.filter(([, setting]) => variableOf(setting, reading) !== undefined);
  if (given.length === 0) return undefined;
  CREDENTIAL.checkKeys(inFile, at);
  noteVariables(inFile, reading);
  const names = settings.map(
    ([field, setting]) => [field, variableOf(setting, reading) ?? setting.variable] as const,
  );
  const place = new At(at.key, reading, new Map(names));
  const fields = new Set(given.map(([field]) => field));
  if (reportReplaced(inFile, place, { type, settings: new Map(settings), given: fields }))
    return { at: place, value: undefined };
  const known = CREDENTIAL_TYPES[type].fields;
  const isKept = (key: string) => Object.hasOwn(known, key) && !Object.hasOwn(secrets, key);
  const kept = isMap(inFile) ? Object.entries(inFile).filter(([key]) => isKept(key)) : [];
  const own = given.map(([field, setting]) => [field, new FromVariables(setting)]);
  return {
    at: place,
    value: CREDENTIAL.read(Object.fromEntries([...kept, ...own, ['type', type]]), place, {}),
  };
}

/** All credentials, with the origin of the base URL as where they may go unless they say so. */
export function readCredentials(reading: Reading, baseOrigin: string | undefined): Credentials {
  const at = new At('credentials', reading);
  const raw = valueAt(reading.file.content, 'credentials');
  const inFile = isMap(raw) ? raw : {};
  const ofVariables = FROM_VARIABLES.flatMap((each) => {
    const placed = fromVariables(each, entry(inFile, each.name), at.below(each.name));
    return placed === undefined ? [] : [[each.name as string, placed] as const];
  });
  const won = new Map(ofVariables);
  const left = isMap(raw) ? Object.fromEntries(Object.entries(raw).filter(([name]) => !won.has(name))) : raw;
  const all = new Map([...won, ...(CREDENTIALS.read(left, at, {}) ?? [])]);
  const declared = new Map(
    [...all].flatMap(([name, { at, value }]) =>
      value === undefined
        ? []
        : [[name, { at, declared: value, placement: placementIn(value, baseOrigin) }] as const],
    ),
  );
  return { declared, names: [...all.keys()], usable: usableOf(declared) };
}

/** Whose secret stands at a key of the file, or in a variable; undefined for one that is of no credential. */
export function credentialOf(key: string, { names }: Credentials): string | undefined {
  const fromVariables = FROM_VARIABLES.find(({ secrets }) =>
    Object.values(secrets).flatMap(formsOf).includes(key),
  );
  return fromVariables?.name ?? names.find((name) => key.startsWith(`credentials.${name}.`));
}
