import { UsageError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { SETTINGS } from '../../config/declaration/settings.ts';
import { ownParameterProblem } from '../../config/sections/credentials/oauth2.ts';
import { namesCredential } from '../../config/values/credential-names.ts';
import { type FoundCredential, secret, type Value } from './credential-entry.ts';
import type { CurlLine } from './curl-line.ts';
import { type CurlRequest, formDecoded } from './curl-request.ts';
import { plainText, replaceExpansions } from './given-value.ts';
import { type TokenBody, tokenBody } from './token-body.ts';

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
const WAS_ENCODED =
  'The line has the client ID and secret form-encoded (RFC 6749, section 2.3.1). They are written decoded, since bearerd encodes them for each login.';
const WILL_BE_ENCODED =
  'The line sends the client ID and secret as they are, and bearerd form-encodes them (RFC 6749, section 2.3.1). If the login is refused, try clientAuthentication: body.';
const ONE_ORIGIN = 'The API is taken to be where the login is: change baseUrl if it is elsewhere.';

/**
 * The credential that logs in as the line does; undefined if the line is no login. Pure.
 *
 * @throws UsageError if it is a login of a kind that bearerd does not make.
 */
export function loginOf(line: CurlLine, request: CurlRequest): FoundCredential | undefined {
  if (request.method !== 'POST' || request.body === undefined) return undefined;
  const body = tokenBody(request.body);
  if (body === undefined) return undefined;
  const { isJson, fields } = body;
  if (isJson && fields.get('grantType') === 'clientCredentials')
    return sessionLogin(line, request, ['clientId', 'clientSecret'], body);
  if (fields.has('grant_type')) return oauth2Login(line, request, body);
  const isUser = !isJson && fields.has('username') && fields.has('password') && fields.size === 2;
  return isUser ? sessionLogin(line, request, ['username', 'password'], body) : undefined;
}

function sessionLogin(
  line: CurlLine,
  request: CurlRequest,
  [id, password]: readonly [string, string],
  { fields, lost }: TokenBody,
): FoundCredential {
  const more = [...fields.keys()].filter((name) => ![id, password, 'grantType'].includes(name));
  return {
    name: 'token',
    fields: {
      type: 'session',
      [id]: maybeSecret(fields.get(id) ?? '', line, id),
      [password]: secret(fields.get(password) ?? '', line, password),
    },
    ...(request.path !== SETTINGS.sessionPath.default && { sessionPath: request.path }),
    isLogin: true,
    others: [
      ...request.query.map(({ name, value }) => `query parameter ${value === '' ? 'without a value' : name}`),
      ...more.map((name) => `${name} of the body`),
      ...lost,
      ...notSent(line, request, undefined),
    ],
    notes: [],
  };
}

/** A name is no secret, and yet it may come from a variable. */
function maybeSecret(text: string, line: CurlLine, what: string): Value {
  const value = secret(text, line, what);
  return 'text' in value.secret ? text : value;
}

function oauth2Login(line: CurlLine, request: CurlRequest, body: TokenBody): FoundCredential {
  const { fields } = body;
  const grant = fields.get('grant_type');
  if (grant !== 'client_credentials' && grant !== 'password')
    throw new UsageError(
      `a token request by ${/^[\w:.-]{1,80}$/.test(grant ?? '') ? grant : 'this grant'} is not carried over: it can be client_credentials or password (docs/configuration.md has the others)`,
    );
  const client = clientOf(request, fields);
  const parameters = parametersOf(line, fields);
  const text = (name: string) => fields.get(name) && { [name]: plainText(fields.get(name)!, line, name) };
  return {
    name: 'token',
    fields: {
      type: 'oauth2',
      tokenUrl: tokenUrlOf(line, request),
      ...(grant === 'password' && {
        grant,
        username: maybeSecret(fields.get('username') ?? '', line, 'username'),
        password: secret(fields.get('password') ?? '', line, 'password'),
      }),
      ...(client.id !== undefined && { clientId: maybeSecret(client.id, line, 'client_id') }),
      ...(client.secret !== undefined && { clientSecret: secret(client.secret, line, 'client_secret') }),
      ...(client.by === 'body' && { clientAuthentication: 'body' }),
      ...(client.secret === undefined && { clientAuthentication: 'none' }),
      ...text('scope'),
      ...text('audience'),
      ...(parameters.length > 0 && { parameters: { map: Object.fromEntries(parameters) } }),
    },
    isLogin: true,
    others: [...unusedFields(grant, client, fields), ...body.lost, ...notSent(line, request, client.by)],
    notes: [...(body.isJson ? [AS_FORM] : []), ...client.notes, ONE_ORIGIN],
  };
}

/** The URL stands in the file, so that it may hold no secret. */
function tokenUrlOf(line: CurlLine, { origin, path, query, queryText }: CurlRequest): string {
  const found = query.find(({ name, value }) => isSecret(formDecoded(name), formDecoded(value)));
  if (found !== undefined)
    throw new UsageError(
      `the token request has ${found.name} in the URL, and bearerd sends a secret in the body or in the Authorization header: give it there, if the API takes it there`,
    );
  return plainText(`${origin}${path}${queryText && `?${queryText}`}`, line, 'the URL');
}

/** Whatever may be one: the names of keys, a code of one time, a token under any name. */
function isSecret(name: string, text: string): boolean {
  return namesCredential(name) || /pass|pwd|otp$|pin$|code$|signature$/i.test(name) || /^eyJ/.test(text);
}

/** The other fields of the form. An empty one means the same as none (RFC 6749 §3.2). */
function parametersOf(line: CurlLine, fields: TokenBody['fields']): readonly (readonly [string, Value])[] {
  const given = [...fields].filter(([name, text]) => !OWN.has(name) && text !== '');
  return given.map(([name, text]) => {
    const problem = ownParameterProblem(name);
    if (problem !== undefined)
      throw new UsageError(
        `a token request with ${name} is not carried over: ${problem} (docs/oauth2.md says how)`,
      );
    if (!isSecret(name, text)) return [name, plainText(text, line, name)];
    if (!/^[\w.-]{1,80}$/.test(name))
      throw new UsageError('a secret of the token request has a name that no file can have');
    return [name, secret(text, line, name)];
  });
}

interface Client {
  readonly id: string | undefined;
  readonly secret: string | undefined;
  /** Where the secret stands. */
  readonly by: 'body' | 'header' | '-u' | undefined;
  readonly notes: readonly string[];
}

/** ID and secret, by the form or by Basic (RFC 6749 §2.3.1). */
function clientOf({ user, headers }: CurlRequest, fields: TokenBody['fields']): Client {
  const id = fields.get('client_id');
  if (fields.has('client_secret')) return { id, secret: fields.get('client_secret'), by: 'body', notes: [] };
  const header = headers.find(({ name }) => name.toLowerCase() === 'authorization')?.value;
  const basic = /^Basic +([\w+/-]+=*)$/i.exec(header ?? '')?.[1];
  const pair = basic === undefined ? user : Buffer.from(basic, 'base64').toString('utf8');
  const colon = pair?.indexOf(':') ?? -1;
  if (pair === undefined || colon === -1) return { id, secret: undefined, by: undefined, notes: [] };
  const by = basic === undefined ? '-u' : 'header';
  return { ...ofBasic(pair.slice(0, colon), pair.slice(colon + 1)), by };
}

/** Decoded if bearerd then sends what the line sends: it form-encodes both. */
function ofBasic(id: string, secret: string): Pick<Client, 'id' | 'secret' | 'notes'> {
  if (![id, secret].every(isFormEncoded)) return { id, secret, notes: [WILL_BE_ENCODED] };
  const sent = { id: formDecoded(id), secret: formDecoded(secret) };
  return { ...sent, notes: sent.id === id && sent.secret === secret ? [] : [WAS_ENCODED] };
}

/** Whether form-encoding gives the text again after it was decoded. What a variable holds is not known. */
function isFormEncoded(text: string): boolean {
  const known = replaceExpansions(text, () => '').replaceAll(/%[\da-f]{2}/gi, (byte) => byte.toUpperCase());
  return new Secret(formDecoded(known)).formEncoded().equals(new Secret(known));
}

/** Fields that the grant or the client's Basic leaves without a use. */
function unusedFields(grant: string, { id, by }: Client, fields: TokenBody['fields']): readonly string[] {
  const ofUser = grant === 'password' ? [] : ['username', 'password'];
  const names = by !== 'body' && id !== fields.get('client_id') ? [...ofUser, 'client_id'] : ofUser;
  return names.filter((name) => fields.has(name)).map((name) => `${name} of the body`);
}

/** They say what the body is, or what a client can do; others of them are named elsewhere. */
const OF_ANY_LOGIN =
  /^(?:accept|accept-encoding|connection|content-(?:length|type)|host|origin|proxy-authorization|sec-fetch-.*)$/i;

/** What the line sends beside the body, and a login of bearerd does not. */
function notSent(
  { options }: CurlLine,
  { headers, cookies, user, bearer }: CurlRequest,
  by: Client['by'],
): readonly string[] {
  const isSent = (name: string) =>
    OF_ANY_LOGIN.test(name) || (by === 'header' && /^authorization$/i.test(name));
  return [
    ...headers.filter(({ name }) => !isSent(name)).map(({ name }) => `header ${name}`),
    ...cookies.map(({ name }) => `cookie ${name}`),
    ...(user !== undefined && by !== '-u' ? ['-u'] : []),
    ...(bearer !== undefined ? ['--oauth2-bearer'] : []),
    ...options.filter(({ name }) => /^(?:user-agent|referer)$/.test(name)).map(({ flag }) => flag),
  ];
}
