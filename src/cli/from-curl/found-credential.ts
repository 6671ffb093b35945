import { UsageError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import { isKeyAsName, looksLikeKey, mayBeNoPassword } from '../../config/values/basic-key.ts';
import { namesCredential, namesSession } from '../../config/values/credential-names.ts';
import { type FoundCredential, secret } from './credential-entry.ts';
import { type CurlLine, EXPANSION_BASE } from './curl-line.ts';
import { type CurlRequest, decoded, type Field, formDecoded } from './curl-request.ts';
import { loginOf } from './token-request.ts';

/** One place of the line where a credential may stand. */
interface Candidate {
  readonly where: string;
  readonly read: () => Pick<FoundCredential, 'name' | 'fields'>;
}

/**
 * The credential of the line; of several, the one that bearerd carries (an `Authorization` header wins over `-u`, as
 * in curl). Pure.
 *
 * @throws UsageError if there is none that bearerd could send.
 */
export function findCredential(line: CurlLine, request: CurlRequest): FoundCredential {
  const login = loginOf(line, request);
  if (login !== undefined) return login;
  const [first, ...others] = candidates(line, request);
  if (first !== undefined) {
    const { name, fields } = first.read();
    return { name, fields, isLogin: false, others: others.map(({ where }) => where), notes: [] };
  }
  if (line.options.some(({ name }) => name === 'cert'))
    return { name: undefined, fields: {}, isLogin: false, others: [], notes: [] };
  throw new UsageError(`it has no credential that bearerd can send${inBody(request)}`);
}

/**
 * Whether a header or a parameter stays out of the call that is printed.
 *
 * @param name as it is written: that of a parameter may hold escapes
 */
export function isCredential(kind: 'header' | 'query', name: string): boolean {
  return kind === 'header'
    ? /^(?:proxy-)?authorization$/i.test(name) || namesCredential(name)
    : namesCredential(formDecoded(name));
}

function candidates(line: CurlLine, request: CurlRequest): Candidate[] {
  const { headers, query, cookies, user, bearer } = request;
  const authorization = headers.find(({ name }) => name.toLowerCase() === 'authorization');
  const found: Candidate[] = [];
  if (authorization !== undefined)
    found.push({ where: 'header Authorization', read: () => inAuthorization(authorization.value, line) });
  if (user !== undefined) found.push({ where: '-u', read: () => ofUser(user, line) });
  if (bearer !== undefined) {
    const key = () => ({ type: 'apiKey', key: secret(bearer, line, '--oauth2-bearer') });
    found.push({ where: '--oauth2-bearer', read: () => ({ name: 'apiKey', fields: key() }) });
  }
  for (const field of headers)
    if (namesCredential(field.name) && field !== authorization && !/^proxy-/i.test(field.name))
      found.push({ where: `header ${field.name}`, read: () => inHeader(field, line) });
  for (const field of query)
    if (isCredential('query', field.name))
      found.push({ where: `query parameter ${field.name}`, read: () => inPlace('query', field, line) });
  const first = cookies.find(({ name }) => namesSession(name));
  for (const field of first === undefined ? cookies : [first, ...cookies.filter((each) => each !== first)])
    found.push({ where: `cookie ${field.name}`, read: () => inPlace('cookie', field, line) });
  return found;
}

const PER_REQUEST = /^(?:digest|aws4-hmac|hawk|negotiate|ntlm|signature)/i;
/** OAuth 1.0 signs each request (RFC 5849 §3.5.1); others send a token by the same scheme. */
const SIGNED_OAUTH = /\boauth_(?:signature|consumer_key)\s*=/i;

/** Any scheme (RFC 9110 §11.6.2), or none: then the whole value is the key. */
function inAuthorization(value: string, line: CurlLine): Pick<FoundCredential, 'name' | 'fields'> {
  const [, scheme, rest = ''] = /^([\w!#$%&'*+.^`|~-]+)[ \t]+(\S[\s\S]*)$/.exec(value) ?? [];
  const isSigned = /^oauth$/i.test(scheme ?? '') && SIGNED_OAUTH.test(rest);
  if (scheme !== undefined && (isSigned || PER_REQUEST.test(scheme)))
    throw new UsageError(
      `Authorization: ${scheme} is made anew for each request, which bearerd does not do: give a line with a key or a token`,
    );
  if (scheme?.toLowerCase() === 'basic') return ofBasic(rest, line);
  const key = secret(rest === '' ? value : rest, line, 'header Authorization');
  const given = scheme ?? '';
  return { name: 'apiKey', fields: { type: 'apiKey', key, ...(given !== 'Bearer' && { scheme: given }) } };
}

function ofBasic(encoded: string, line: CurlLine): Pick<FoundCredential, 'name' | 'fields'> {
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  if (/^[\w+/-]+=*$/.test(encoded) && /^[^\x00-\x1f:\uFFFD]*:[^\x00-\x1f\uFFFD]*$/.test(text))
    return ofUser(text, line);
  // It is no user and password, so it is sent as it stands.
  return {
    name: 'apiKey',
    fields: { type: 'apiKey', key: secret(encoded, line, 'header Authorization'), scheme: 'Basic' },
  };
}

function ofUser(user: string, line: CurlLine): Pick<FoundCredential, 'name' | 'fields'> {
  const colon = user.indexOf(':');
  if (colon === -1)
    throw new UsageError('-u has no password: write -u USER:PASSWORD, or -u KEY: where there is none');
  const [username, password] = [user.slice(0, colon), user.slice(colon + 1)];
  const isExpansion = (username.codePointAt(0) ?? 0) >= EXPANSION_BASE;
  const [sentName, sentPassword] = [new Secret(username), new Secret(password)];
  const isSecretName = mayBeNoPassword(sentPassword) || looksLikeKey(sentName) || isExpansion;
  return {
    name: 'account',
    fields: {
      type: 'basic',
      username: isSecretName ? secret(username, line, 'the user name of -u') : username,
      // A word that often stands for no password may be a real one.
      password: isKeyAsName(sentName, sentPassword) ? password : secret(password, line, 'the password of -u'),
    },
  };
}

const SCHEME = /^(Bearer|Token|Basic|ApiKey|Key) +(\S[\s\S]*)$/i;

function inHeader({ name, value }: Field, line: CurlLine): Pick<FoundCredential, 'name' | 'fields'> {
  const [, scheme, rest] = SCHEME.exec(value) ?? [];
  const key = secret(rest ?? value, line, `header ${name}`);
  return {
    name: 'apiKey',
    fields: { type: 'apiKey', key, header: name, ...(scheme !== undefined && { scheme }) },
  };
}

function inPlace(
  place: 'query' | 'cookie',
  { name, value }: Field,
  line: CurlLine,
): Pick<FoundCredential, 'name' | 'fields'> {
  const [sentName, text] =
    place === 'query' ? [formDecoded(name), formDecoded(value)] : [decoded(name), value];
  const key = secret(text, line, `${place} ${name}`);
  return { name: 'apiKey', fields: { type: 'apiKey', key, in: place, name: sentName } };
}

function inBody({ body = '' }: CurlRequest): string {
  const names = [...body.matchAll(/(?:^|[&{,\s])"?([\w-]{2,40})"?\s*[=:]/g)].map(([, name]) => name!);
  const name = names.find(namesCredential);
  return name === undefined
    ? '. Give it as -u, a header Authorization, --oauth2-bearer, or a header, a query parameter or a cookie whose name says that it is a credential'
    : `: "${name}" is in the body, and bearerd sends a credential in a header, the query or a cookie. Give it there`;
}
