import type { Secret } from '../../base/secret.ts';
import type { ClientAuthentication, CredentialPlacement, OAuth2Common } from '../config.ts';
import { OAUTH2_FIELDS, OWN_PARAMETERS } from '../declaration/file-fields.ts';
import { secretFromFile } from './given-secret.ts';
import { below, entry, readMap, type YamlMap } from './maps.ts';
import { OAuth2Entry } from './oauth2-entry.ts';
import { ASSERTION_KEYS, type Grant, readGrant, readSigningKey } from './oauth2-grants.ts';
import type { Reading } from './reading.ts';

type Method = ClientAuthentication['clientAuthentication'];

/** Which keys belong to which way of authentication, and mean nothing with another. */
const METHODS_OF: Readonly<Record<string, readonly Method[]>> = {
  clientSecret: ['basic', 'body'],
  assertion: ['assertion'],
  privateKey: ['privateKeyJwt'],
  keyId: ['privateKeyJwt'],
  algorithm: ['privateKeyJwt'],
  assertionAudience: ['privateKeyJwt'],
};

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

function readAuthentication(at: OAuth2Entry, grant: Grant): ClientAuthentication | undefined {
  const { clientAuthentication } = OAUTH2_FIELDS;
  const isAssertion = grant === 'jwtBearer';
  const faulty =
    at.has('clientAuthentication') && at.read('clientAuthentication', clientAuthentication) === undefined;
  const usual = isAssertion ? 'none' : clientAuthentication.default;
  const method = at.read('clientAuthentication', clientAuthentication) ?? usual;
  if (isAssertion && (method === 'assertion' || method === 'privateKeyJwt')) {
    const problem = `cannot be ${method} with grant: jwtBearer, whose assertion says who asks`;
    at.report('clientAuthentication', problem);
    return undefined;
  }
  for (const [key, methods] of Object.entries(METHODS_OF)) {
    if (faulty || !at.has(key) || methods.includes(method) || (isAssertion && ASSERTION_KEYS.has(key)))
      continue;
    at.report(
      key,
      `means nothing with clientAuthentication: ${method}; it belongs to ${methods.join(' or ')}`,
    );
  }
  const clientId = at.secret('clientId');
  if (method !== 'assertion' && method !== 'none') at.need('clientId');
  const named = clientId && { clientId };
  switch (method) {
    case 'basic':
    case 'body': {
      const clientSecret = at.secret('clientSecret');
      if (!faulty) at.need('clientSecret');
      return named && clientSecret && { clientAuthentication: method, ...named, clientSecret };
    }
    case 'assertion': {
      at.need('assertion', '; clientAuthentication: assertion needs it');
      const assertion = at.file('assertion');
      return assertion && { clientAuthentication: method, ...named, assertion };
    }
    case 'privateKeyJwt': {
      const key = readSigningKey(at, 'clientAuthentication: privateKeyJwt');
      return named && key && { clientAuthentication: method, ...named, ...key };
    }
    case 'tls': {
      at.need('tls', '; clientAuthentication: tls needs it');
      const tls = at.certificate();
      return named && tls && { clientAuthentication: method, ...named, tls };
    }
    case 'none':
      return { clientAuthentication: method, ...named };
  }
}

/** A client of an OAuth 2.0 token endpoint; nothing where there is a fault in it, which has been reported. */
export function oauth2FromFile(
  map: YamlMap,
  path: string,
  reading: Reading,
): (Omit<OAuth2Common, keyof CredentialPlacement> & ClientAuthentication) | undefined {
  const at = new OAuth2Entry(map, path, reading);
  const tokenEndpoint = at.read('tokenUrl', OAUTH2_FIELDS.tokenUrl);
  const issuer = at.read('issuer', OAUTH2_FIELDS.issuer);
  if (!at.has('issuer')) at.need('tokenUrl');
  else if (at.has('tokenUrl')) at.report('issuer', 'is given together with tokenUrl; keep one of the two');
  if (tokenEndpoint !== undefined) reading.tokenOrigins.set(below(path, 'tokenUrl'), tokenEndpoint.origin);
  if (issuer !== undefined) reading.tokenOrigins.set(below(path, 'issuer'), new URL(issuer).origin);

  const scope = at.read('scope', OAUTH2_FIELDS.scope);
  const audience = at.read('audience', OAUTH2_FIELDS.audience);
  const grant = at.read('grant', OAUTH2_FIELDS.grant) ?? OAUTH2_FIELDS.grant.default;
  const client = readAuthentication(at, grant);
  const granted = readGrant(at, grant, client?.clientId);
  const tls = client?.clientAuthentication === 'tls' ? undefined : at.certificate();
  const parameters = readParameters(map, below(path, 'parameters'), reading);
  if ((tokenEndpoint ?? issuer) === undefined || client === undefined || granted === undefined)
    return undefined;
  return {
    kind: 'oauth2',
    ...(tokenEndpoint ? { tokenEndpoint } : { issuer: issuer! }),
    ...client,
    ...(tls && { tls }),
    ...granted,
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    parameters,
  };
}
