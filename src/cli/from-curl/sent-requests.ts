import { asBytes } from '../../base/bytes.ts';
import { UsageError } from '../../base/errors.ts';
import type { Question } from '../../login/login-server.ts';
import { type CurlLine, type CurlOption, optionValue } from './curl-line.ts';
import { type CurlRequest, type Field, headerNameOf, isCookieText, readsFile } from './curl-request.ts';
import { givenValue, replaceExpansions } from './given-value.ts';
import { isHeaderKept, withoutCredential } from './same-call.ts';

/** What they send comes from a file, from the clock, or is new each time. */
const UNKNOWN = new Set(['form', 'form-string', 'upload-file', 'continue-at', 'time-cond', 'etag-compare']);

/** The flag of an option whose part of the request does not stand in the line; undefined if there is none. */
export function unknownPart({ options }: CurlLine): string | undefined {
  const isUnknown = (option: CurlOption) =>
    UNKNOWN.has(option.name) ||
    readsFile(option) ||
    (option.name === 'cookie' && option.value !== '' && !isCookieText(option));
  return options.find(isUnknown)?.flag;
}

/**
 * The line's request as curl sends it, with the credential.
 *
 * @throws UsageError if a variable of the line is not set.
 */
export function lineQuestion(line: CurlLine, request: CurlRequest): Question {
  const { headers, cookies, path, queryText } = request;
  const target = optionValue(line.options, 'request-target') ?? targetWith(path, queryText);
  const pairs = cookies.map(({ name, value }) => `${name}=${value}`);
  const cookie = pairs.length === 0 ? [] : [{ name: 'Cookie', value: pairs.join('; ') }];
  return questionOf(line, request, target, [...headers, ...authorization(line, request), ...cookie]);
}

/** What curl makes of its options; a header of the line takes its place. */
function authorization(line: CurlLine, { headers, user, bearer }: CurlRequest): Field[] {
  const name = 'Authorization';
  if (headers.some((header) => /^authorization$/i.test(header.name))) return [];
  if (bearer !== undefined) return [{ name, value: `Bearer ${bearer}` }];
  if (user === undefined) return [];
  return [{ name, value: `Basic ${Buffer.from(resolved(user, line)).toString('base64')}` }];
}

/** The call that is printed; bearerd adds the credential. */
export function printedQuestion(line: CurlLine, request: CurlRequest): Question {
  const { path, queryText, headers } = request;
  const kept = headers.filter(({ name }) => isHeaderKept(name));
  return questionOf(line, request, targetWith(path, withoutCredential(queryText)), kept);
}

function targetWith(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** They are about the connection or the length of the body: both sides get the same. */
const OWN = /^(?:connection|content-length|expect|te|transfer-encoding)$/i;

function questionOf(
  line: CurlLine,
  request: CurlRequest,
  target: string,
  headers: readonly Field[],
): Question {
  const { method, body } = request;
  const sent = [...headers.filter(({ name }) => !OWN.test(name)), ...addedHeaders(line, request)];
  return {
    method,
    path: encodeRest(resolved(target, line)),
    headers: sent.flatMap(({ name, value }) => [
      name,
      asBytes(withKnownCodings(name, resolved(value, line))),
    ]),
    ...(body !== undefined && { body: Buffer.from(body) }),
  };
}

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

/** Headers that curl makes of its other options. A header of the line takes their place, or takes one away (`-H 'Accept:'`). */
function addedHeaders({ options }: CurlLine, { body }: CurlRequest): Field[] {
  const inLine = new Set(
    options
      .filter(({ name }) => name === 'header')
      .map(({ value = '' }) => headerNameOf(value).toLowerCase()),
  );
  const has = (option: string) => options.some(({ name }) => name === option);
  const range = optionValue(options, 'range');
  const length = body === undefined ? undefined : Buffer.byteLength(body);
  const added: Readonly<Record<string, string | undefined>> = {
    'User-Agent': optionValue(options, 'user-agent'),
    Accept: has('json') ? JSON_TYPE : '*/*',
    Referer: optionValue(options, 'referer')?.replace(/;auto$/, '') || undefined,
    'Accept-Encoding': has('compressed') ? CODINGS.join(', ') : undefined,
    // With a body, curl takes the range for what the body is of the whole.
    ...(length === undefined
      ? { Range: range && `bytes=${range}` }
      : { 'Content-Range': range && `bytes ${range}/${length}` }),
    'Content-Type': has('json') ? JSON_TYPE : length === undefined ? undefined : FORM,
  };
  const fields = Object.entries(added).flatMap(([name, value]) =>
    value === undefined || inLine.has(name.toLowerCase()) ? [] : [{ name, value }],
  );
  return length === undefined ? fields : [...fields, { name: 'Content-Length', value: String(length) }];
}

/** Those that are undone before the answers are compared. */
const CODINGS = ['deflate', 'gzip', 'br'];

function withKnownCodings(name: string, value: string): string {
  if (!/^accept-encoding$/i.test(name)) return value;
  const known = value
    .split(',')
    .filter((coding) => CODINGS.includes(coding.replace(/;.*/, '').trim().toLowerCase()));
  return known.join(',').trim() || 'identity';
}

/** The value of a variable may hold any character; what was written stays as it was. */
function encodeRest(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]|[#"<>]/gu, encodeURIComponent);
}

/** With what its variables hold. */
function resolved(text: string, line: CurlLine): string {
  return replaceExpansions(text, (char) => {
    const given = givenValue(char, line, 'the secret');
    if ('text' in given) return given.text;
    if ('command' in given)
      throw new UsageError('--try does not run a command: use "bearerd check --online GET PATH"');
    const value = process.env[given.variable];
    if (value === undefined) throw new UsageError(`${given.variable} is not set`);
    return value;
  });
}
