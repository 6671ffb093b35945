import * as field from '../../base/fields.ts';
import type { Parsed } from './kind.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * A credential can't be sent in these headers: they frame the message, belong to one connection, name another path or
 * method, bearerd sets or strips them, or they are the client's own (cookies).
 */
const TAKEN = field.tableOf([
  ...field.HOP_BY_HOP,
  field.CONTENT_LENGTH,
  field.HOST,
  field.VIA,
  field.EXPECT,
  field.PROXY_AUTHORIZATION,
  field.PROXY_AUTHENTICATE,
  field.CALLER_KEY,
  field.COOKIE,
  field.SET_COOKIE,
  field.OVERRIDE,
]);

const OTHERS = 'must be another header: this one belongs to HTTP, to the client or to bearerd';

const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/** A header name (RFC 9110 §5.1) that a credential may be sent in. */
export function parseHeaderName(text: string): Parsed<string> {
  if (!TOKEN.test(text)) return { problem: 'must be a header name, such as Authorization or X-Api-Key' };
  return TAKEN[field.fieldOf(field.foldedName(text))] ? { problem: OTHERS } : { value: text };
}

/** A header name for a request's ID, which replaces what both sides send there. */
export function parseRequestIdHeader(text: string): Parsed<string> {
  if (!TOKEN.test(text)) return { problem: 'must be a header name, such as X-Request-Id' };
  const known = field.fieldOf(field.foldedName(text));
  return TAKEN[known] || known === field.AUTHORIZATION ? { problem: OTHERS } : { value: text };
}

/** An authentication scheme (RFC 9110 §11.1), or nothing for the bare value. */
export function parseScheme(text: string): Parsed<string> {
  if (text !== '' && !TOKEN.test(text))
    return { problem: 'must be one word, such as Bearer, or empty for none' };
  return { value: text };
}

/** Why a text can't be a header's value (RFC 9110 §5.5). It is sent in UTF-8. */
export function headerValueProblem(text: string): string | undefined {
  if (CONTROL.test(text))
    return 'cannot be sent in a header: it holds a line end or another control character';
  if (/^[\t ]|[\t ]$/.test(text)) return 'cannot be sent in a header: it begins or ends with white space';
  return undefined;
}

/** A cookie's name is a token (RFC 6265 §4.1.1). */
export function cookieNameProblem(text: string): string | undefined {
  return TOKEN.test(text) ? undefined : 'must be a cookie name, such as session';
}

/** A cookie's value (RFC 6265 §4.1.1); the upstream would read others in another way. */
export const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/;

/** Why a text can't be part of `Authorization: Basic` (RFC 7617 §2). */
export function basicProblem(field: 'username' | 'password', text: string): string | undefined {
  if (/[\0-\x1f\x7f]/.test(text)) return 'holds a control character, which Basic does not allow';
  return field === 'username' && text.includes(':') ? 'holds a colon, which would end it' : undefined;
}
