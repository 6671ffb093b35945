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
  /** In their order, as written: escapes stay. */
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
  const { origin, path, query, user } = readUrl(line);
  const data = options.filter(({ name }) => isData(name));
  const inQuery = has(options, 'get') ? data : [];
  const more = [...options.filter(({ name }) => name === 'url-query'), ...inQuery];
  const headers = options
    .filter(({ name }) => name === 'header')
    .flatMap((option) => readHeader(option, line));
  const cookies = [
    ...headers.filter(({ name }) => name.toLowerCase() === 'cookie').map(({ value }) => value),
    ...options
      .filter(({ name, value }) => name === 'cookie' && value!.includes('='))
      .map(({ value }) => value!),
  ];
  return {
    method: methodOf(line, data.length > inQuery.length),
    origin,
    path,
    query: [...query, ...more.flatMap(queryFields)],
    headers: headers.filter(({ name }) => name.toLowerCase() !== 'cookie'),
    cookies: cookies.flatMap((value) => fieldsOf(value, ';')),
    user: optionValue(options, 'user') ?? user,
    bearer: optionValue(options, 'oauth2-bearer'),
    body: data.length === inQuery.length ? undefined : bodyOf(data),
  };
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

function readUrl(line: CurlLine): Pick<CurlRequest, 'origin' | 'path' | 'query' | 'user'> {
  const [, scheme, authority = '', path = '', query] =
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
  return {
    origin: url.origin,
    path: plainText(path === '' ? '/' : path, line, 'the path of the URL'),
    query: query === undefined ? [] : fieldsOf(query, '&'),
    user: at === -1 ? undefined : userOf(authority.slice(0, at)),
  };
}

/** curl sends an empty password if the URL has none; `-u` would ask for it. */
function userOf(information: string): string {
  return decoded(information.includes(':') ? information : `${information}:`);
}

/** `Name: value`; `Name;` is an empty one, and `Name:` takes one of curl's own away. */
function readHeader({ value, flag }: CurlOption, line: CurlLine): Field[] {
  const text = value!;
  if (text.startsWith('@'))
    throw new UsageError(`${flag}: the headers stand in another file: write them into the line`);
  const colon = text.indexOf(':');
  if (colon === -1 && !text.endsWith(';'))
    throw new UsageError(`${flag}: a header has no ":" (is a quote missing?)`);
  if (colon === -1 || text.slice(colon + 1).trim() === '') return [];
  return [
    {
      name: plainText(text.slice(0, colon).trim(), line, 'the name of a header'),
      value: text.slice(colon + 1).trim(),
    },
  ];
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

/** As they go into the query; `--url-query +TEXT` goes as it is. */
function queryFields({ name, value = '' }: CurlOption): Field[] {
  if (name === 'url-query' && value.startsWith('+')) return fieldsOf(value.slice(1), '&');
  return fieldsOf((isEscaped(name) ? urlencoded(value) : value) ?? '', '&');
}

/** Texts of several `-d` are joined by `&`; the text of a file is not known. */
function bodyOf(data: readonly CurlOption[]): string | undefined {
  const texts = data.map(({ name, value = '' }) => {
    if (name === 'data-urlencode') return urlencoded(value);
    return name !== 'data-raw' && value.startsWith('@') ? undefined : value;
  });
  return texts.includes(undefined) ? undefined : texts.join('&');
}

function urlencoded(value: string): string | undefined {
  const [, name = '', sign, content = ''] = /^([^=@]*)([=@])?([\s\S]*)$/.exec(value)!;
  if (sign === '@') return undefined;
  return sign === undefined
    ? encodeURIComponent(name)
    : `${name === '' ? '' : `${name}=`}${encoded(content)}`;
}

/** Expansions are characters that no escape may take apart. */
function encoded(text: string): string {
  return text.replaceAll(/[^\u{f0000}-\u{ffffd}]+/gu, encodeURIComponent);
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
