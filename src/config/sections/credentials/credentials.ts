import type { CredentialConfig } from '../../config.ts';
import { SETTINGS, type SecretSetting } from '../../declaration/settings.ts';
import { entry, isMap, valueAt } from '../../reading/maps.ts';
import type { Reading } from '../../reading/reading.ts';
import { At } from '../../shapes/at.ts';
import { mapOf, type Placed } from '../../shapes/collections.ts';
import { FromVariables, noteVariables, variableOf } from '../../shapes/secret.ts';
import { type Variant, variants } from '../../shapes/variants.ts';
import { EXEC, execInForce } from './exec.ts';
import { API_KEY, apiKeyInForce, BASIC, basicInForce } from './keys.ts';
import { OAUTH2, oauth2InForce } from './oauth2.ts';
import { PLACEMENT, type Placement, placementOf, placementShown } from './placement.ts';
import { KEPT_KEYS, SESSION, sessionInForce } from './session.ts';
import type { Unplaced } from './unplaced.ts';

/** `none` and `deny` are what a route says instead of a credential's name. */
export const RESERVED_NAMES: readonly string[] = ['none', 'deny'];
const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_-]*$';

/** What is wrong with a name that the user chooses, if anything. */
export function nameProblem(name: string): string | undefined {
  const isName = new RegExp(NAME_PATTERN).test(name);
  return isName ? undefined : 'must have a name of letters, digits, - and _ that begins with a letter';
}

export const NAMES = { propertyNames: { pattern: NAME_PATTERN } };

const CREDENTIAL = variants(
  'type',
  { session: SESSION, apiKey: API_KEY, basic: BASIC, oauth2: OAUTH2, exec: EXEC },
  PLACEMENT,
);
type DeclaredCredential = Variant<typeof CREDENTIAL.objects>;

export const CREDENTIAL_TYPES = CREDENTIAL.objects;

export const CREDENTIALS = mapOf({
  of: CREDENTIAL,
  nameProblem: (name) =>
    RESERVED_NAMES.includes(name)
      ? `cannot be a credential's name: routes use ${name} as a word`
      : nameProblem(name),
  schema: { propertyNames: { pattern: NAME_PATTERN, not: { enum: RESERVED_NAMES } } },
});

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

interface Credential {
  readonly at: At;
  readonly declared: DeclaredCredential;
  readonly placement: Placement;
}

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
  const kept = isMap(inFile) ? Object.entries(inFile).filter(([key]) => KEPT_KEYS.includes(key)) : [];
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
        : [[name, { at, declared: value, placement: placed(value, baseOrigin) }] as const],
    ),
  );
  return { declared, names: [...all.keys()], usable: usableOf(declared) };
}

function placed({ type, declared }: DeclaredCredential, baseOrigin: string | undefined): Placement {
  if (type === 'basic') return placementOf({ ...declared, scheme: 'Basic' }, baseOrigin);
  return placementOf(declared, type === 'session' ? (declared.baseUrl?.origin ?? baseOrigin) : baseOrigin);
}

function usableOf(all: Credentials['declared']): ReadonlyMap<string, CredentialConfig> {
  return new Map(
    [...all].flatMap(([name, { at, declared, placement }]) => {
      const content = contentOf(declared, at);
      return content === undefined ? [] : [[name, { name, ...placement, ...content }] as const];
    }),
  );
}

function contentOf({ type, declared }: DeclaredCredential, at: At): Unplaced<CredentialConfig> | undefined {
  switch (type) {
    case 'session':
      return sessionInForce(declared);
    case 'apiKey':
      return apiKeyInForce(declared);
    case 'basic':
      return basicInForce(declared);
    case 'oauth2':
      return oauth2InForce(declared);
    case 'exec':
      return execInForce(declared, at);
  }
}

/** Origins besides the upstreams' that get a secret, with the place that names each. */
export function loginOrigins({ declared: all }: Credentials): readonly (readonly [At, string])[] {
  return [...all.values()].flatMap(({ at, declared: { type, declared } }) => {
    const named =
      type === 'session'
        ? { baseUrl: declared.baseUrl?.origin }
        : type === 'oauth2'
          ? {
              tokenUrl: declared.tokenUrl?.origin,
              issuer: declared.issuer && new URL(declared.issuer).origin,
            }
          : {};
    return Object.entries(named).flatMap(([key, origin]) =>
      origin ? [[at.below(key), origin] as const] : [],
    );
  });
}

/** As the file would say it. */
export function credentialsShown({ declared: all }: Credentials): Record<string, unknown> {
  const shown = [...all].map(
    ([
      name,
      {
        declared: { type, declared },
        placement,
      },
    ]) => {
      const full = { type, declared: { ...declared, ...placementShown(placement) } };
      return [name, CREDENTIAL.show(full as DeclaredCredential)];
    },
  );
  return Object.fromEntries(shown);
}
