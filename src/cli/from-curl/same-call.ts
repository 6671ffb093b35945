import { UsageError } from '../../base/errors.ts';
import type { FoundCredential } from './credential-entry.ts';
import { type CurlLine, type CurlOption, optionValue } from './curl-line.ts';
import { NOT_CARRIED } from './curl-options.ts';
import {
  type CurlRequest,
  headerNameOf,
  isCookieText,
  isData,
  isEscaped,
  isPlainQuery,
} from './curl-request.ts';
import { isCredential } from './found-credential.ts';
import { plainText } from './given-value.ts';

const COOKIE_FILE = 'bearerd keeps no cookies between requests';
const OTHER_PATH = 'bearerd sends the path of the URL, and refuses one with . or .. in it';
/** Options without a place in bearerd. */
const WHY_DROPPED: Readonly<Record<string, string>> = {
  cookie: COOKIE_FILE,
  'cookie-jar': COOKIE_FILE,
  'junk-session-cookies': COOKIE_FILE,
  'request-target': OTHER_PATH,
  'path-as-is': OTHER_PATH,
};
/** From now on bearerd does these, or they hold a credential, or they have no place. */
const DROPPED = new Set([
  ...['user', 'oauth2-bearer', 'cacert', 'cert', 'cert-type', 'key', 'key-type', 'proxy', 'proxy-user'],
  ...['proxytunnel', ...Object.keys(WHY_DROPPED)],
]);
/** They say where a browser's page was, and would be refused, or mean another origin. */
const OF_A_BROWSER = /^(?:origin|sec-fetch-.*)$/i;

/** Headers that the printed call lacks although they are not the credential, with the reasons. */
export function headersLeftOut({ headers }: CurlRequest): string[] {
  return headers.flatMap(({ name }) => {
    if (OF_A_BROWSER.test(name) || /^host$/i.test(name))
      return [`header ${name}: it is about where the line was copied from`];
    return /^proxy-/i.test(name) && isCredential('header', name)
      ? [`header ${name}: it is for a proxy; HTTPS_PROXY takes a user name and a password`]
      : [];
  });
}

/** Options that the printed call lacks, with the reasons; what became of the others, the configuration says. */
export function optionsLeftOut({ options }: CurlLine): string[] {
  return options.flatMap((option) => {
    const why = isCookieText(option) ? undefined : WHY_DROPPED[option.name];
    return why === undefined ? [] : [`${option.flag}: ${why}`];
  });
}

/**
 * The same call by bearerd, without any credential: what a person types next. Pure.
 *
 * @throws UsageError if a variable stands outside of the secret.
 */
export function sameCall(
  line: CurlLine,
  request: CurlRequest,
  found: FoundCredential,
  listen: string,
): string {
  if (found.isLogin) return 'bearerd token';
  const args = line.options.filter(isKept).flatMap((option) => {
    const { name, flag } = option;
    if (option.value === undefined) return [flag];
    const value = isQuery(option, line) ? queryKept(option) : option.value;
    if (value === '') return [];
    return [flag, quoted(plainText(value, line, `the value of ${flag} (--${name})`))];
  });
  return ['curl', ...args, quoted(`http://${listen}${targetOf(line, request)}`)].join(' ');
}

function isKept({ name, value = '' }: CurlOption): boolean {
  if (DROPPED.has(name) || NOT_CARRIED.has(name)) return false;
  return name !== 'header' || isHeaderKept(headerNameOf(value));
}

/** Whether the call by bearerd has it: `--try` sends what the printed call sends. */
export function isHeaderKept(name: string): boolean {
  return !isCredential('header', name) && !OF_A_BROWSER.test(name) && !/^(?:cookie|host)$/i.test(name);
}

function isQuery({ name }: CurlOption, { options }: CurlLine): boolean {
  return name === 'url-query' || (isData(name) && options.some((option) => option.name === 'get'));
}

/** What is escaped is one pair, whatever it holds. */
function queryKept(option: CurlOption): string {
  const { name, value = '' } = option;
  if (isPlainQuery(option)) {
    const kept = withoutCredential(value.slice(1));
    return kept && `+${kept}`;
  }
  if (!isEscaped(name)) return withoutCredential(value);
  return isCredential('query', value.replace(/=[\s\S]*/, '')) ? '' : value;
}

/** A query without the pairs whose names say that they hold a credential. */
export function withoutCredential(query: string): string {
  const kept = query.split('&').filter((pair) => !isCredential('query', pair.replace(/=[\s\S]*/, '')));
  return kept.join('&');
}

/** Path and query as they were written, but for what may be a credential. */
export function targetOf(line: CurlLine, { path }: CurlRequest): string {
  const query = /\?([^#]*)/.exec(line.url)?.[1];
  if (query === undefined) return path;
  const kept = withoutCredential(query);
  return kept === '' && query !== '' ? path : `${path}?${plainText(kept, line, 'the query')}`;
}

/**
 * `-x` as a variable in front of a command; empty without it. Only the address is shown: who logs in there is the
 * environment's business.
 */
export function proxyVariable(line: CurlLine, { origin }: CurlRequest): string {
  const given = optionValue(line.options, 'proxy');
  if (given === undefined || given === '') return '';
  const [, scheme = 'http://', authority = '', rest = ''] =
    /^([a-z][a-z0-9+.-]*:\/\/)?([^/?#]*)([\s\S]*)$/i.exec(given)!;
  if (!/^https?:\/\/$/i.test(scheme))
    throw new UsageError('-x: bearerd uses http:// and https:// proxies only; give one of those');
  const at = authority.lastIndexOf('@');
  const host = plainText(authority.slice(at + 1), line, '-x');
  // Behind a "/" in a password there is another "@", and then the host would be a part of the login.
  if (rest.includes('@') || URL.parse(`${scheme}${host}`) === null)
    throw new UsageError(
      '-x has no host: in a user name or a password, write / ? # and @ as %2F %3F %23 and %40',
    );
  const login = at !== -1 || optionValue(line.options, 'proxy-user') !== undefined ? 'USER:PASSWORD@' : '';
  const variable = origin.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  return `${variable}=${quoted(`${scheme}${login}${host}`)} `;
}

/** For a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
