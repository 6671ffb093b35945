import { UsageError } from '../../base/errors.ts';
import { isInsecure } from '../../config/values/urls.ts';
import { type CurlLine, type CurlOption, optionValue } from './curl-line.ts';
import { plainText } from './given-value.ts';

export interface Field {
  readonly name: string;
  readonly value: string;
}

/** What curl would send, as far as it matters here. Values may hold expansions; names don't. */
export interface CurlRequest {
  readonly method: string;
  readonly origin: string;
  readonly path: string;
  /** As curl sends it; empty if there is none. */
  readonly queryText: string;
  /** Its parameters in their order, as written: escapes stay. */
  readonly query: readonly Field[];
  readonly headers: readonly Field[];
  readonly cookies: readonly Field[];
  /** `USER:PASSWORD` of `-u`, or of the URL. */
  readonly user: string | undefined;
  readonly bearer: string | undefined;
  /** Undefined if there is none, or it stands in a file. */
  readonly body: string | undefined;
}

const DATA: ReadonlySet<string> = new Set([
  'data',
  'data-ascii',
  'data-binary',
  'data-raw',
  'data-urlencode',
  'json',
]);
/** Whether the option gives a body, or with `-G` a part of the query. */
export function isData(name: string): boolean {
  return DATA.has(name);
}

const FORMS = new Set(['form', 'form-string']);

/** @throws UsageError if the URL can't be called, or a variable stands where no secret does. */
export function requestOf(line: CurlLine): CurlRequest {
  const { options } = line;
  const { user, queryText: inUrl, ...target } = readUrl(line);
  const data = options.filter(({ name }) => isData(name));
  const inQuery = has(options, 'get') ? data : [];
  const more = [...options.filter(({ name }) => name === 'url-query'), ...inQuery];
  const headers = options
    .filter(({ name }) => name === 'header')
    .flatMap((option) => readHeader(option, line));
  const isCookie = ({ name }: Field) => name.toLowerCase() === 'cookie';
  // A header takes the place of -b.
  const cookies = headers.some(isCookie) ? headers.filter(isCookie) : options.filter(isCookieText);
  const queryText = [inUrl, ...more.map(queryTextOf)].filter((text) => text !== '').join('&');
  return {
    method: methodOf(line, data.length > inQuery.length),
    ...target,
    queryText,
    query: fieldsOf(queryText, '&'),
    headers: headers.filter((header) => !isCookie(header)),
    cookies: cookies.flatMap(({ value }) => fieldsOf(value!, ';')),
    user: optionValue(options, 'user') ?? user,
    bearer: optionValue(options, 'oauth2-bearer'),
    body: data.length === inQuery.length ? undefined : bodyOf(data),
  };
}

/** `-b` with cookies, and not the name of a file. */
export function isCookieText({ name, value }: CurlOption): boolean {
  return name === 'cookie' && value!.includes('=');
}

function has(options: readonly CurlOption[], name: string): boolean {
  return options.some((option) => option.name === name);
}

function methodOf(line: CurlLine, hasData: boolean): string {
  const { method, options } = line;
  if (method !== undefined) return plainText(method, line, '-X').toUpperCase();
  if (has(options, 'head')) return 'HEAD';
  if (has(options, 'upload-file')) return 'PUT';
  return hasData || options.some(({ name }) => FORMS.has(name)) ? 'POST' : 'GET';
}

function readUrl(line: CurlLine): Pick<CurlRequest, 'origin' | 'path' | 'queryText' | 'user'> {
  const [, scheme, authority = '', path = '', queryText = ''] =
    /^([a-z][a-z0-9+.-]*:\/\/)?([^/?#]*)([^?#]*)(?:\?([^#]*))?/is.exec(line.url)!;
  if (scheme !== undefined && !/^https?:\/\/$/i.test(scheme))
    throw new UsageError('the URL is not https:// (or http://)');
  const at = authority.lastIndexOf('@');
  const host = plainText(authority.slice(at + 1), line, 'the host of the URL');
  const url = URL.parse(`${scheme ?? 'http://'}${host}`);
  if (url === null || host === '') throw new UsageError('the URL has no host');
  if (isInsecure(url.origin)) {
    const why = scheme === undefined ? 'has no https:// (curl takes that for http://)' : 'is http://';
    throw new UsageError(
      `the URL ${why}: write https://, since credentials go to another machine over TLS only`,
    );
  }
  const sentPath = plainText(path === '' ? '/' : path, line, 'the path of the URL');
  return {
    origin: url.origin,
    path: has(line.options, 'path-as-is') ? sentPath : withoutDots(sentPath),
    queryText,
    user: at === -1 ? undefined : userOf(authority.slice(0, at)),
  };
}

/** curl removes the segments `.` and `..` (RFC 3986 §5.2.4). */
function withoutDots(path: string): string {
  return /\/\.\.?(?:\/|$)/.test(path) ? new URL(`http://h${path}`).pathname : path;
}

/** curl sends an empty password if the URL has none; `-u` would ask for it. */
function userOf(information: string): string {
  return decoded(information.includes(':') ? information : `${information}:`);
}

/** The name in the value of `-H`, of whichever form. */
export function headerNameOf(text: string): string {
  return text.replace(/[:;][\s\S]*/, '').trim();
}

/** `Name: value`; `Name;` is an empty one, and `Name:` takes one of curl's own away. */
function readHeader({ value: text = '', flag }: CurlOption, line: CurlLine): Field[] {
  if (text.startsWith('@'))
    throw new UsageError(`${flag}: the headers stand in another file: write them into the line`);
  const colon = text.indexOf(':');
  if (colon === -1 && !text.endsWith(';'))
    throw new UsageError(`${flag}: a header has no ":" (is a quote missing?)`);
  const name = plainText(text.slice(0, colon).trim(), line, 'the name of a header');
  const value = colon === -1 ? '' : text.slice(colon + 1).trim();
  return colon !== -1 && value === '' ? [] : [{ name, value }];
}

export function fieldsOf(text: string, separator: '&' | ';'): Field[] {
  return text
    .split(separator)
    .map((pair) => (separator === ';' ? pair.trim() : pair))
    .filter((pair) => pair !== '')
    .map((pair) => {
      const at = pair.indexOf('=');
      return at === -1 ? { name: pair, value: '' } : { name: pair.slice(0, at), value: pair.slice(at + 1) };
    });
}

/** Whether curl escapes what the option gives. */
export function isEscaped(name: string): boolean {
  return name === 'data-urlencode' || name === 'url-query';
}

/** `--url-query +TEXT`, of which curl escapes nothing. */
export function isPlainQuery({ name, value = '' }: CurlOption): boolean {
  return name === 'url-query' && value.startsWith('+');
}

/** Whether what the option gives stands in a file. */
export function readsFile(option: CurlOption): boolean {
  const { name, value = '' } = option;
  if (isEscaped(name)) return value.includes('@') && !value.includes('=') && !isPlainQuery(option);
  return isData(name) && name !== 'data-raw' && value.startsWith('@');
}

/** As it goes into the query. What stands in a file is not known. */
function queryTextOf(option: CurlOption): string {
  const { name, value = '' } = option;
  if (readsFile(option)) return '';
  if (isPlainQuery(option)) return value.slice(1);
  return isEscaped(name) ? urlencoded(value) : value;
}

/** Texts of several `-d` are joined by `&`, and those of `--json` by nothing. Undefined if one stands in a file. */
function bodyOf(data: readonly CurlOption[]): string | undefined {
  if (data.some(readsFile)) return undefined;
  return data.reduce((body, { name, value = '' }) => {
    const text = isEscaped(name) ? urlencoded(value) : value;
    return body === '' || name === 'json' ? body + text : `${body}&${text}`;
  }, '');
}

function urlencoded(value: string): string {
  const at = value.indexOf('=');
  // "=TEXT" is a text that may hold "=" itself.
  return (at < 1 ? '' : value.slice(0, at + 1)) + encoded(value.slice(at + 1));
}

/** With all escapes of curl. Expansions are characters that no escape may take apart. */
function encoded(text: string): string {
  return text
    .replaceAll(/[^\u{f0000}-\u{ffffd}]+/gu, encodeURIComponent)
    .replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

/** Percent escapes undone; what is none stays. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The same of a name or a value of a form or a query, where a plus stands for a blank. */
export function formDecoded(text: string): string {
  return decoded(text.replaceAll('+', ' '));
}
