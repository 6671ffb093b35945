import { asBytes } from '../../base/bytes.ts';
import { type FieldLines, SET_COOKIE } from '../../base/fields.ts';
import type { QueryOrCookie } from '../../config/sections/credentials/placement.ts';
import { parameterName, setsCookie, unescaped, withoutParameter } from './query-and-cookie.ts';

// Admission lets a query pass that holds illegal bytes: quotes, `<`, `>`, and all above ASCII (A0, a blank for `\s`, is one).

/** A query in a value that is one URL, which may hold illegal characters (a blank, a quote). */
const IN_REFERENCE = /\?([^#]*)/g;
/** A query in any other text; a `,` or `;` at its end is no part of it. */
const IN_TEXT = /\?((?:[^#\t-\r "<>,;')]|[,;')]+(?=[^#\t-\r "<>,;')]))*)/g;
/** The URLs of a `Link`, each with the `<` before it, and the text between them, from the `>` on. */
const LINK_PARTS = /<[^>]*|[^<]+/g;
/** A parameter that the query before it does not reach: the text has a character in it that may also end a query. */
const STRAY = /&([^&=?#;\t-\r "<>]*)(?:=[^&?#;\t-\r "<>,')]*)?/g;

const REFERENCES = new Set(['location', 'content-location', 'refresh']);

/** A query within another URL or a cookie, or a parameter behind one, escaped once or more. */
const ESCAPED = /%(?:25)*(?:3f|26)[^&;#?\t-\r "<>]*/gi;
const MAY_HOLD_PARAMETER = /[?&]|%(?:25)*(?:3f|26)/i;
/** URLs within URLs are searched to this depth: a login page gets the URL to return to, and may itself be one. */
const MAX_LEVELS = 4;

/**
 * The lines of an answer without the credential that was sent in the query or a cookie. Upstreams return it: they redirect
 * with the same query, link to the next page with it, keep the URL for after a login, or set a session's cookie again.
 */
export function withoutCredential(lines: FieldLines, { in: place, name }: QueryOrCookie): FieldLines {
  const pairs: string[] = [];
  const fields: number[] = [];
  lines.fields.forEach((field, i) => {
    const header = lines.pairs[2 * i]!;
    const value = lines.pairs[2 * i + 1]!;
    if (place === 'cookie' && field === SET_COOKIE && setsCookie(value, name)) return;
    fields.push(field);
    pairs.push(header, place === 'query' ? valueWithout(header, value, name) : value);
  });
  return { pairs, fields };
}

/** A header's value without our parameter in any URL; every other byte stays. */
export function valueWithout(header: string, value: string, name: string): string {
  const kind = header.toLowerCase();
  if (REFERENCES.has(kind)) return textWithout(value, { name, extent: IN_REFERENCE }, MAX_LEVELS);
  if (kind !== 'link') return textWithout(value, { name, extent: IN_TEXT }, MAX_LEVELS);
  return value.replace(LINK_PARTS, (part) =>
    textWithout(part, { name, extent: part.startsWith('<') ? IN_REFERENCE : IN_TEXT }, MAX_LEVELS),
  );
}

function textWithout(text: string, what: { name: string; extent: RegExp }, levels: number): string {
  if (levels === 0 || !MAY_HOLD_PARAMETER.test(text)) return text;
  const { name, extent } = what;
  const wanted = asBytes(name);
  const within = (inner: string) => textWithout(inner, { name, extent: IN_REFERENCE }, levels - 1);
  return text
    .replace(extent, (whole: string, query: string) => {
      const kept = within(withoutParameter(query, name));
      if (kept === query) return whole;
      return kept === '' ? '' : `?${kept}`;
    })
    .replace(STRAY, (parameter: string, key: string) => (parameterName(key) === wanted ? '' : parameter))
    .replace(ESCAPED, (escaped: string) => {
      const plain = unescaped(escaped);
      const kept = within(plain);
      return kept === plain ? escaped : escapedAgain(kept);
    });
}

/** Escapes a text as part of another URL; each character is a byte. */
function escapedAgain(text: string): string {
  return text.replace(
    /[^A-Za-z0-9._~-]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
