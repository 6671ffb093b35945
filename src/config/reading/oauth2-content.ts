import type { CredentialPlacement, OAuth2CredentialConfig } from '../config.ts';
import { OAUTH2_FIELDS, OWN_PARAMETERS } from '../declaration/file-fields.ts';
import type { Secret } from '../secret.ts';
import type { Kind } from '../values/kind.ts';
import { secretFromFile } from './given-secret.ts';
import { below, entry, isAbsent, readField, readMap, type YamlMap } from './maps.ts';
import type { Reading } from './reading.ts';

/** More form parameters. Any of them may be a secret, so each is read as one and shown to nobody. */
function readParameters(map: YamlMap, path: string, reading: Reading): Readonly<Record<string, Secret>> {
  const raw = readMap(entry(map, 'parameters'), path, reading.report);
  const parameters: [string, Secret][] = [];
  for (const name of Object.keys(raw)) {
    const key = below(path, name);
    const reason = entry(OWN_PARAMETERS, name);
    if (reason !== undefined) reading.report(key, `cannot be given here: ${reason}`);
    const given = secretFromFile(raw[name], key, 'body', reading);
    if (given?.secret) parameters.push([name, given.secret]);
  }
  return Object.fromEntries(parameters);
}

/** A client of an OAuth 2.0 token endpoint; nothing where there is a fault in it, which has been reported. */
export function oauth2FromFile(
  map: YamlMap,
  path: string,
  reading: Reading,
): Omit<OAuth2CredentialConfig, keyof CredentialPlacement> | undefined {
  const { report } = reading;
  const read = <T>(key: string, { kind }: { readonly kind: Kind<T> }) =>
    readField(map, path, key, kind, report);
  const readSecret = (key: string) => secretFromFile(entry(map, key), below(path, key), 'body', reading);

  const tokenEndpoint = read('tokenUrl', OAUTH2_FIELDS.tokenUrl);
  const [clientId, clientSecret] = [readSecret('clientId'), readSecret('clientSecret')];
  if (isAbsent(entry(map, 'tokenUrl'))) report(below(path, 'tokenUrl'), 'is missing');
  if (clientId === undefined) report(below(path, 'clientId'), 'is missing');
  if (clientSecret === undefined) report(below(path, 'clientSecret'), 'is missing');
  if (tokenEndpoint !== undefined) reading.tokenOrigins.set(below(path, 'tokenUrl'), tokenEndpoint.origin);

  const scope = read('scope', OAUTH2_FIELDS.scope);
  const audience = read('audience', OAUTH2_FIELDS.audience);
  const { clientAuthentication } = OAUTH2_FIELDS;
  const rest = {
    clientAuthentication: read('clientAuthentication', clientAuthentication) ?? clientAuthentication.default,
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    parameters: readParameters(map, below(path, 'parameters'), reading),
  };
  if (!tokenEndpoint || !clientId?.secret || !clientSecret?.secret) return undefined;
  return {
    kind: 'oauth2',
    tokenEndpoint,
    clientId: clientId.secret,
    clientSecret: clientSecret.secret,
    ...rest,
  };
}
