import { entry, type YamlMap } from '../../reading/maps.ts';
import { type Declared, object } from '../../shapes/object.ts';
import { secret } from '../../shapes/secret.ts';
import type { SecretUse } from '../../shapes/secret-text.ts';
import { isKeyAsName } from '../../values/basic-key.ts';
import { credential, type InForce, PLACEMENT } from './placement.ts';

/** A fixed key. */
export const API_KEY = credential({
  key: { kind: secret(keyUse), required: true, description: 'the key' },
});

/** Where the key is sent. The field `in` reports its own faults. */
function keyUse(siblings: YamlMap): SecretUse {
  const where = PLACEMENT.in.kind.parse(entry(siblings, 'in') ?? PLACEMENT.in.default);
  if (!('value' in where) || where.value === 'header') return 'header';
  return where.value === 'cookie' ? 'cookie' : 'body';
}

export function apiKeyInForce({ key }: Declared<typeof API_KEY.fields>) {
  return key && { kind: 'api-key' as const, key };
}

export type ApiKeyCredentialConfig = InForce<typeof apiKeyInForce>;

/** A user name and a password for `Authorization: Basic` (RFC 7617). */
export const BASIC = object({
  username: { kind: secret('username'), required: true, description: 'name of the user' },
  password: { kind: secret('password'), required: true, description: 'password of the user' },
  origins: PLACEMENT.origins,
  header: {
    kind: PLACEMENT.header.kind,
    default: 'Authorization',
    description: PLACEMENT.header.description,
  },
});

export function basicInForce({ username, password }: Declared<typeof BASIC.fields>) {
  if (username === undefined || password === undefined) return undefined;
  const keyAsName = isKeyAsName(username, password) ? username : undefined;
  return { kind: 'basic' as const, username, password, ...(keyAsName && { keyAsName }) };
}

export type BasicCredentialConfig = InForce<typeof basicInForce>;
