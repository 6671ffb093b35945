import type { FoundCredential } from './credential-entry.ts';
import type { CurlLine, CurlOption } from './curl-line.ts';
import { NOT_CARRIED } from './curl-options.ts';
import { type CurlRequest, isData } from './curl-request.ts';
import { isCredential } from './found-credential.ts';
import { plainText } from './given-value.ts';

/** From now on bearerd does these, or they hold a credential. */
const DROPPED = new Set([
  ...['user', 'oauth2-bearer', 'cacert', 'cert', 'cert-type', 'key', 'key-type', 'proxy', 'proxy-user'],
  ...['proxytunnel', 'cookie', 'cookie-jar', 'junk-session-cookies', 'request-target', 'path-as-is'],
]);
/** They say where a browser's page was, and would be refused, or mean another origin. */
const OF_A_BROWSER = /^(?:origin|sec-fetch-.*)$/i;

/** Headers that the printed call lacks although they are no credential. */
export function headersLeftOut({ headers }: CurlRequest): string[] {
  return headers.map(({ name }) => name).filter((name) => OF_A_BROWSER.test(name) || /^host$/i.test(name));
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
    const value = isQuery(option, line) ? withoutCredential(option.value) : option.value;
    if (value === '') return [];
    return [flag, quoted(plainText(value, line, `the value of ${flag} (--${name})`))];
  });
  return ['curl', ...args, quoted(`http://${listen}${targetOf(line, request)}`)].join(' ');
}

function isKept({ name, value = '' }: CurlOption): boolean {
  if (DROPPED.has(name) || NOT_CARRIED.has(name)) return false;
  if (name !== 'header') return true;
  const header = value.replace(/[:;][\s\S]*/, '').trim();
  return !isCredential('header', header) && !OF_A_BROWSER.test(header) && !/^(?:cookie|host)$/i.test(header);
}

function isQuery({ name }: CurlOption, { options }: CurlLine): boolean {
  return name === 'url-query' || (isData(name) && options.some((option) => option.name === 'get'));
}

function withoutCredential(query: string): string {
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

/** For a POSIX shell. */
export function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
