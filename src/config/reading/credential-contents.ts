import { Secret } from '../../base/secret.ts';
import type { CredentialConfig, CredentialPlacement, Upstream } from '../config.ts';
import {
  type CredentialType,
  OTHER_FIELDS,
  PLACEMENT_FIELDS,
  SECRET_FIELDS,
  SESSION_FIELDS,
} from '../declaration/file-fields.ts';
import { SETTINGS } from '../declaration/settings.ts';
import { execFromFile } from './exec-content.ts';
import type { Report } from './faults.ts';
import { type GivenSecret, type SecretUse, secretFromFile, secretFromVariables } from './given-secret.ts';
import {
  below,
  entry,
  isAbsent,
  isMap,
  readField,
  reportUnknownSecretKeys,
  valueAt,
  type YamlMap,
} from './maps.ts';
import { oauth2FromFile } from './oauth2-content.ts';
import { placementKeys } from './placement.ts';
import type { Reading } from './reading.ts';

type Unplaced<C> = C extends CredentialConfig ? Omit<C, keyof CredentialPlacement> : never;

/** What is sent, or how it is got; absent when there is a fault in it. */
export type Content = Unplaced<CredentialConfig>;

type SessionField = (typeof SECRET_FIELDS.session)[number];
type SessionParts = Readonly<Record<SessionField, GivenSecret | undefined>>;

const PAIRS = [
  ['clientId', 'clientSecret'],
  ['username', 'password'],
] as const;

/** Reports what keeps the parts from being one whole pair. `keyOf` is the variable or file key of a part. */
function reportPairFaults(
  parts: SessionParts,
  keyOf: (field: SessionField) => string,
  reading: Reading,
): void {
  const [account, user] = PAIRS.map(([id, secret]) => parts[id] ?? parts[secret]);
  if (account !== undefined && user !== undefined) {
    reading.report(
      user.key,
      `cannot be combined with ${account.key}: a credential is a service account or a user`,
    );
    return;
  }
  if (reading.environment.broken) return;
  for (const [id, secret] of PAIRS) {
    const given = parts[id] ?? parts[secret];
    if (given === undefined || (parts[id] !== undefined && parts[secret] !== undefined)) continue;
    reading.report(keyOf(parts[id] === undefined ? id : secret), `is missing; ${given.key} needs it`);
  }
}

function sessionContent({ clientId, clientSecret, username, password }: SessionParts): Content | undefined {
  const account = clientId !== undefined || clientSecret !== undefined;
  const user = username !== undefined || password !== undefined;
  if (account && !user && clientId?.secret && clientSecret?.secret) {
    const grant = {
      kind: 'service-account',
      clientId: clientId.secret,
      clientSecret: clientSecret.secret,
    } as const;
    return { kind: 'session', grant };
  }
  if (user && !account && username?.secret && password?.secret) {
    return { kind: 'session', grant: { kind: 'user', username: username.secret, password: password.secret } };
  }
  return undefined;
}

function apiKeyContent(key: GivenSecret | undefined): Content | undefined {
  return key?.secret && { kind: 'api-key', key: key.secret };
}

/** `token` and `apiKey`, where variables give them. One without content has a fault. */
export function contentsFromVariables(
  reading: Reading,
): ReadonlyMap<string, { readonly content: Content | undefined }> {
  const contents = new Map<string, { readonly content: Content | undefined }>();
  const parts: SessionParts = {
    clientId: secretFromVariables(SETTINGS.clientId, reading),
    clientSecret: secretFromVariables(SETTINGS.clientSecret, reading),
    username: secretFromVariables(SETTINGS.username, reading),
    password: secretFromVariables(SETTINGS.password, reading),
  };
  if (Object.values(parts).some((part) => part !== undefined)) {
    reportPairFaults(parts, (field) => SETTINGS[field].variable, reading);
    contents.set('token', { content: sessionContent(parts) });
  }
  const inFile = valueAt(reading.file.content, 'credentials.apiKey');
  const key = secretFromVariables(SETTINGS.apiKey, reading, keyUse(isMap(inFile) ? inFile : {}));
  if (key !== undefined) contents.set('apiKey', { content: apiKeyContent(key) });
  return contents;
}

/** What the key has to fit into; a fault in `in` is told elsewhere. */
function keyUse(map: YamlMap): SecretUse {
  const where = PLACEMENT_FIELDS.in.kind.parse(entry(map, 'in') ?? PLACEMENT_FIELDS.in.default);
  if (!('value' in where) || where.value === 'header') return 'header';
  return where.value === 'cookie' ? 'cookie' : 'body';
}

function basicFromFile(map: YamlMap, path: string, reading: Reading): Content | undefined {
  const [username, password] = SECRET_FIELDS.basic.map((field) => {
    const raw = entry(map, field);
    // Where a key is the user name, there is no password (`curl -u KEY:`).
    if (field === 'password' && raw === '') return new Secret('');
    const given = secretFromFile(raw, below(path, field), field, reading);
    if (given === undefined) reading.report(below(path, field), 'is missing');
    return given?.secret;
  });
  return username && password && { kind: 'basic', username, password };
}

function apiKeyFromFile(map: YamlMap, path: string, reading: Reading): Content | undefined {
  const key = secretFromFile(entry(map, 'key'), below(path, 'key'), keyUse(map), reading);
  if (key === undefined) reading.report(below(path, 'key'), 'is missing');
  return apiKeyContent(key);
}

function sessionFromFile(map: YamlMap, path: string, reading: Reading): Content | undefined {
  const part = (field: SessionField) =>
    secretFromFile(entry(map, field), below(path, field), 'body', reading);
  const parts: SessionParts = {
    clientId: part('clientId'),
    clientSecret: part('clientSecret'),
    username: part('username'),
    password: part('password'),
  };
  if (Object.values(parts).every((given) => given === undefined)) {
    reading.report(path, 'needs clientId and clientSecret, or username and password');
  }
  reportPairFaults(parts, (field) => below(path, field), reading);
  return sessionContent(parts);
}

/** Where a `session` entry logs in, as far as it says so itself; that holds for a content from variables, too. */
export function readSessionPlace(
  map: YamlMap,
  path: string,
  reading: Reading,
): { readonly baseUrl?: Upstream; readonly sessionPath?: string } {
  const baseUrl = readField(map, path, 'baseUrl', SESSION_FIELDS.baseUrl.kind, reading.report);
  const sessionPath = readField(map, path, 'sessionPath', SESSION_FIELDS.sessionPath.kind, reading.report);
  if (baseUrl !== undefined) reading.tokenOrigins.set(below(path, 'baseUrl'), baseUrl.origin);
  return { ...(baseUrl && { baseUrl }), ...(sessionPath !== undefined && { sessionPath }) };
}

const TYPES = Object.keys(SECRET_FIELDS) as CredentialType[];

/** Reports unknown keys; those of every type are known while the type itself is not. */
export function reportUnknownFields(
  map: YamlMap,
  path: string,
  type: CredentialType | undefined,
  report: Report,
): void {
  const types = type === undefined ? TYPES : [type];
  const own = types.flatMap((each) => [...SECRET_FIELDS[each], ...OTHER_FIELDS[each]]);
  const known = ['type', ...own, ...placementKeys(type)];
  const typesWith = (key: string) =>
    TYPES.filter((each) => [...SECRET_FIELDS[each], ...OTHER_FIELDS[each]].some((field) => field === key));
  const placeOf = (key: string) => {
    const owners = typesWith(key);
    return owners.length > 0 ? `type: ${owners.join(' or ')}` : undefined;
  };
  reportUnknownSecretKeys(map, path, known, placeOf, report);
}

const READERS: Readonly<
  Record<CredentialType, (map: YamlMap, path: string, reading: Reading) => Content | undefined>
> = {
  session: sessionFromFile,
  apiKey: apiKeyFromFile,
  basic: basicFromFile,
  oauth2: oauth2FromFile,
  exec: execFromFile,
};

/** The content of the file's entry, of the type that it says it has. */
export function contentFromFile(
  map: YamlMap,
  path: string,
  type: CredentialType | undefined,
  reading: Reading,
): Content | undefined {
  if (type !== undefined) return READERS[type](map, path, reading);
  if (isAbsent(entry(map, 'type'))) {
    reading.report(below(path, 'type'), `is missing; it is one of ${TYPES.join(', ')}`);
  }
  return undefined;
}
