import type { Secret } from '../../base/secret.ts';
import type { ClientAuthentication, CredentialPlacement, OAuth2Common, TokenExchange } from '../config.ts';
import { OAUTH2_FIELDS, OWN_PARAMETERS } from '../declaration/file-fields.ts';
import type { Kind } from '../values/kind.ts';
import { secretFromFile } from './given-secret.ts';
import { loginFileAt, readClientCertificate } from './login-files.ts';
import { below, entry, isAbsent, readField, readMap, type YamlMap } from './maps.ts';
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

/** One entry, and how its values are read. */
class Entry {
  readonly #map: YamlMap;
  readonly #path: string;
  readonly #reading: Reading;

  constructor(map: YamlMap, path: string, reading: Reading) {
    this.#map = map;
    this.#path = path;
    this.#reading = reading;
  }

  has(key: string): boolean {
    return !isAbsent(entry(this.#map, key));
  }

  report(key: string, problem: string): void {
    this.#reading.report(below(this.#path, key), problem);
  }

  need(key: string, why = ''): void {
    if (!this.has(key)) this.report(key, `is missing${why}`);
  }

  read<T>(key: string, { kind }: { readonly kind: Kind<T> }): T | undefined {
    return readField(this.#map, this.#path, key, kind, this.#reading.report);
  }

  secret(key: string): Secret | undefined {
    return secretFromFile(entry(this.#map, key), below(this.#path, key), 'body', this.#reading)?.secret;
  }

  file(key: string) {
    return loginFileAt(this.#map, this.#path, key, this.#reading);
  }

  certificate() {
    return readClientCertificate(this.#map, this.#path, this.#reading);
  }
}

function readAuthentication(at: Entry): ClientAuthentication | undefined {
  const { clientAuthentication, keyId, algorithm, assertionAudience } = OAUTH2_FIELDS;
  const faulty =
    at.has('clientAuthentication') && at.read('clientAuthentication', clientAuthentication) === undefined;
  const method = at.read('clientAuthentication', clientAuthentication) ?? clientAuthentication.default;
  for (const [key, methods] of Object.entries(METHODS_OF)) {
    if (faulty || !at.has(key) || methods.includes(method)) continue;
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
      at.need('privateKey', '; clientAuthentication: privateKeyJwt needs it');
      const privateKey = at.file('privateKey');
      const [id, audience] = [at.read('keyId', keyId), at.read('assertionAudience', assertionAudience)];
      const options = {
        algorithm: at.read('algorithm', algorithm) ?? algorithm.default,
        ...(id !== undefined && { keyId: id }),
        ...(audience !== undefined && { assertionAudience: audience }),
      };
      return named && privateKey && { clientAuthentication: method, ...named, privateKey, ...options };
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

/** Undefined for another grant, `faulty` where there is a fault in it. */
function readExchange(at: Entry): TokenExchange | 'faulty' | undefined {
  const { grant, subjectTokenType } = OAUTH2_FIELDS;
  const isExchange = at.read('grant', grant) === 'tokenExchange';
  const type = at.read('subjectTokenType', subjectTokenType) ?? subjectTokenType.default;
  if (!isExchange) {
    for (const key of ['subjectToken', 'subjectTokenType']) {
      if (at.has(key)) at.report(key, 'is for grant: tokenExchange');
    }
    return undefined;
  }
  at.need('subjectToken', '; grant: tokenExchange needs it');
  const subjectToken = at.file('subjectToken');
  return subjectToken === undefined ? 'faulty' : { subjectToken, subjectTokenType: type };
}

/** A client of an OAuth 2.0 token endpoint; nothing where there is a fault in it, which has been reported. */
export function oauth2FromFile(
  map: YamlMap,
  path: string,
  reading: Reading,
): (Omit<OAuth2Common, keyof CredentialPlacement> & ClientAuthentication) | undefined {
  const at = new Entry(map, path, reading);
  const tokenEndpoint = at.read('tokenUrl', OAUTH2_FIELDS.tokenUrl);
  const issuer = at.read('issuer', OAUTH2_FIELDS.issuer);
  if (!at.has('issuer')) at.need('tokenUrl');
  else if (at.has('tokenUrl')) at.report('issuer', 'is given together with tokenUrl; keep one of the two');
  if (tokenEndpoint !== undefined) reading.tokenOrigins.set(below(path, 'tokenUrl'), tokenEndpoint.origin);
  if (issuer !== undefined) reading.tokenOrigins.set(below(path, 'issuer'), new URL(issuer).origin);

  const scope = at.read('scope', OAUTH2_FIELDS.scope);
  const audience = at.read('audience', OAUTH2_FIELDS.audience);
  const client = readAuthentication(at);
  const exchange = readExchange(at);
  const tls = client?.clientAuthentication === 'tls' ? undefined : at.certificate();
  const parameters = readParameters(map, below(path, 'parameters'), reading);
  if ((tokenEndpoint ?? issuer) === undefined || client === undefined || exchange === 'faulty')
    return undefined;
  return {
    kind: 'oauth2',
    ...(tokenEndpoint ? { tokenEndpoint } : { issuer: issuer! }),
    ...client,
    ...(tls && { tls }),
    ...(exchange && { exchange }),
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    parameters,
  };
}
