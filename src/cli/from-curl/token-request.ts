import { UsageError } from '../../base/errors.ts';
import { SETTINGS } from '../../config/declaration/settings.ts';
import { type Entry, type FoundCredential, secret } from './credential-entry.ts';
import type { CurlLine } from './curl-line.ts';
import { type CurlRequest, decoded, fieldsOf } from './curl-request.ts';

import { plainText } from './given-value.ts';

/** What the keys of an `oauth2` credential make of a token request. */
const OWN = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'username',
  'password',
  'scope',
  'audience',
]);
const AS_FORM = 'The line sends the token request as JSON; bearerd sends it as the form that RFC 6749 has.';
const ONE_ORIGIN = 'The API is taken to be where the login is: change baseUrl if it is elsewhere.';

/**
 * The credential that logs in as the line does; undefined if the line is no login. Pure.
 *
 * @throws UsageError if it is a login of a kind that bearerd does not make.
 */
export function loginOf(line: CurlLine, request: CurlRequest): FoundCredential | undefined {
  if (request.method !== 'POST' || request.body === undefined) return undefined;
  const json = jsonFields(request.body);
  const fields = json ?? formFields(request.body);
  if (fields === undefined) return undefined;
  if (json !== undefined && fields.get('grantType') === 'clientCredentials')
    return sessionLogin(line, request, ['clientId', 'clientSecret'], fields);
  if (fields.has('grant_type')) {
    const found = oauth2Login(line, request, fields);
    return json === undefined ? found : { ...found, notes: [AS_FORM, ...found.notes] };
  }
  const isUser = json === undefined && fields.has('username') && fields.has('password') && fields.size === 2;
  return isUser ? sessionLogin(line, request, ['username', 'password'], fields) : undefined;
}

type Fields = ReadonlyMap<string, string>;

function formFields(body: string): Fields | undefined {
  if (!/^[\w.%-]+=[^\n]*$/.test(body)) return undefined;
  const plus = (text: string) => decoded(text.replaceAll('+', ' '));
  return new Map(fieldsOf(body, '&').map(({ name, value }) => [plus(name), plus(value)]));
}

/** The text members of a JSON object; undefined if it is none. */
function jsonFields(body: string): Fields | undefined {
  if (!body.trimStart().startsWith('{')) return undefined;
  try {
    const members = Object.entries(JSON.parse(body) as object);
    return new Map(members.filter((member): member is [string, string] => typeof member[1] === 'string'));
  } catch {
    return undefined;
  }
}

function sessionLogin(
  line: CurlLine,
  { path }: CurlRequest,
  [id, password]: readonly [string, string],
  fields: Fields,
): FoundCredential {
  return {
    name: 'token',
    fields: {
      type: 'session',
      [id]: maybeSecret(fields.get(id) ?? '', line, id),
      [password]: secret(fields.get(password) ?? '', line, password),
    },
    ...(path !== SETTINGS.sessionPath.default && { sessionPath: path }),
    isLogin: true,
    others: [],
    notes: [],
  };
}

/** A name is no secret, and yet it may come from a variable. */
function maybeSecret(text: string, line: CurlLine, what: string): Entry {
  const value = secret(text, line, what);
  return 'text' in value.secret ? text : value;
}

function oauth2Login(line: CurlLine, request: CurlRequest, fields: Fields): FoundCredential {
  const grant = fields.get('grant_type');
  if (grant !== 'client_credentials' && grant !== 'password')
    throw new UsageError(
      `a token request by ${/^[\w:.-]{1,80}$/.test(grant ?? '') ? grant : 'this grant'} is not carried over: it can be client_credentials or password (docs/configuration.md has the others)`,
    );
  const [id, clientSecret] = clientOf(request, fields);
  const inBody = fields.has('client_secret');
  const query = request.query.map(({ name, value }) => `${name}=${value}`).join('&');
  const text = (name: string) => plainText(fields.get(name)!, line, name);
  const parameters = [...fields.keys()].filter((name) => !OWN.has(name));
  return {
    name: 'token',
    fields: {
      type: 'oauth2',
      tokenUrl: plainText(`${request.origin}${request.path}${query && `?${query}`}`, line, 'the URL'),
      ...(grant === 'password' && {
        grant,
        username: maybeSecret(fields.get('username') ?? '', line, 'username'),
        password: secret(fields.get('password') ?? '', line, 'password'),
      }),
      ...(id !== undefined && { clientId: maybeSecret(id, line, 'client_id') }),
      ...(clientSecret !== undefined && { clientSecret: secret(clientSecret, line, 'client_secret') }),
      ...(inBody && { clientAuthentication: 'body' }),
      ...(clientSecret === undefined && { clientAuthentication: 'none' }),
      ...(fields.has('scope') && { scope: text('scope') }),
      ...(fields.has('audience') && { audience: text('audience') }),
      ...(parameters.length > 0 && {
        parameters: Object.fromEntries(parameters.map((name) => [name, text(name)])),
      }),
    },
    isLogin: true,
    others: [],
    notes: [ONE_ORIGIN],
  };
}

/** ID and secret, by the form or by Basic (RFC 6749 §2.3.1). */
function clientOf(
  { user, headers }: CurlRequest,
  fields: Fields,
): readonly [id: string | undefined, secret: string | undefined] {
  if (fields.has('client_secret')) return [fields.get('client_id'), fields.get('client_secret')];
  const header = headers.find(({ name }) => name.toLowerCase() === 'authorization')?.value;
  const basic = /^Basic +([\w+/-]+=*)$/i.exec(header ?? '')?.[1];
  const pair = basic === undefined ? user : Buffer.from(basic, 'base64').toString('utf8');
  const colon = pair?.indexOf(':') ?? -1;
  if (pair === undefined || colon === -1) return [fields.get('client_id'), undefined];
  return [pair.slice(0, colon), pair.slice(colon + 1)];
}
