import { asBytes } from '../../base/bytes.ts';
import { splitQuery } from '../../routes/path.ts';

// A credential in a parameter of the query, or in a cookie: all that the client sends by that name is removed, ours comes
// last, and every other byte stays.

/** The target with the parameter. @param value each character is a byte */
export function withParameter(target: string, name: string, value: string): string {
  const { path, query } = splitQuery(target);
  const kept = withoutParameter(query.slice(1), name);
  const before = kept === '' || kept.endsWith('&') ? kept : `${kept}&`;
  return `${path}?${before}${encoded(name)}=${encoded(Buffer.from(value, 'latin1').toString('utf8'))}`;
}

/** The unescaped values of the parameter in the query of the target; empty text for one without a value. */
export function parameterValues(target: string, name: string): string[] {
  const wanted = asBytes(name);
  return splitQuery(target)
    .query.slice(1)
    .split(/[&;]/)
    .filter((part) => parameterName(part) === wanted)
    .map(parameterValue);
}

/** A query with its `?`, without parameters that are `taken`. @param taken gets name and value unescaped, a character a byte */
export function queryWithout(query: string, taken: (name: string, value: string) => boolean): string {
  const kept = keptParts(query.slice(1), (part) => taken(parameterName(part), parameterValue(part)));
  return kept === '' ? '' : `?${kept}`;
}

/** A `Cookie` value without the cookies of exactly that name; empty if none is left. */
export function withoutCookie(line: string, name: string): string {
  if (!line.includes(name)) return line;
  const kept = line.split(';').filter((pair) => cookieName(pair) !== name);
  return kept.join(';').replace(/^[ \t]+/, '');
}

/** The values of the cookies of exactly that name; empty text for one without a value. */
export function cookieValues(line: string, name: string): string[] {
  return line
    .split(';')
    .filter((pair) => cookieName(pair) === name)
    .map((pair) => pair.slice(pair.indexOf('=') + 1 || pair.length));
}

/** True if a `Set-Cookie` value sets the cookie of that name. */
export function setsCookie(value: string, name: string): boolean {
  return cookieName(value.split(';', 1)[0]!) === name;
}

function cookieName(pair: string): string {
  const end = pair.indexOf('=');
  return (end === -1 ? pair : pair.slice(0, end)).trim();
}

/**
 * Compares names unescaped, as servers do: `api%5Fkey` is `api_key`. Some servers also separate parameters by `;` (HTML 4
 * §B.2.2), so a parameter after one is removed, too.
 */
export function withoutParameter(query: string, name: string): string {
  const wanted = asBytes(name);
  return keptParts(query, (part) => parameterName(part) === wanted);
}

function keptParts(query: string, taken: (part: string) => boolean): string {
  return query
    .split('&')
    .map((piece) => piece.split(';').filter((part) => !taken(part)))
    .filter((parts) => parts.length > 0)
    .map((parts) => parts.join(';'))
    .join('&');
}

/** The unescaped name of a parameter with or without a value; each character is a byte. */
export function parameterName(part: string): string {
  const end = part.indexOf('=');
  return decoded(end === -1 ? part : part.slice(0, end));
}

function parameterValue(part: string): string {
  const end = part.indexOf('=');
  return end === -1 ? '' : decoded(part.slice(end + 1));
}

function decoded(text: string): string {
  return unescaped(text.replaceAll('+', ' '));
}

/** Decodes percent escapes, a character for each byte; a malformed escape stays as it is. */
export function unescaped(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** Escapes every character that a query could give a meaning to. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
