import { type FieldLines, SET_COOKIE } from '../../base/fields.ts';
import type { Elsewhere } from '../../config/credential-config.ts';
import { setsCookie, unescaped, withoutParameter } from './injection.ts';

/** How far a query reaches: in a value that is one reference, and may hold what no URL should, a blank or a quote; */
const IN_REFERENCE = /\?([^#]*)/g;
/** between the brackets of a link; */
const IN_LINK = /\?([^#"<>]*)/g;
/** and in any text, where the `,` or `;` at its end is not its own. */
const IN_TEXT = /\?((?:[^#\s"<>,;')]|[,;')]+(?=[^#\s"<>,;')]))*)/g;

const EXTENTS = new Map([
  ['location', IN_REFERENCE],
  ['content-location', IN_REFERENCE],
  ['refresh', IN_REFERENCE],
  ['link', IN_LINK],
]);

/** A query within another URL, or in a cookie: escaped, or escaped more than once. */
const ESCAPED_QUERY = /%(?:25)*3f[^&;#?\s"<>]*/gi;
const MAY_HOLD_QUERY = /\?|%(?:25)*3f/i;
/** A login page that is told where to return to, and is itself returned to. */
const MOST_LEVELS = 4;

/**
 * An answer's lines without the credential that stood in the query or in a cookie. An upstream shows it without a thought:
 * it redirects with the query that it got, links to the next page of it, remembers it for after a login, or sends a
 * session's cookie once more.
 */
export function withoutOurs(lines: FieldLines, { in: place, name }: Elsewhere): FieldLines {
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

/** A header's value without our parameter, in whatever URL it stands there; every other byte stays. */
export function valueWithout(header: string, value: string, name: string): string {
  return textWithout(value, { name, extent: EXTENTS.get(header.toLowerCase()) ?? IN_TEXT }, MOST_LEVELS);
}

function textWithout(text: string, what: { name: string; extent: RegExp }, levels: number): string {
  if (levels === 0 || !MAY_HOLD_QUERY.test(text)) return text;
  const { name, extent } = what;
  const within = (inner: string) => textWithout(inner, { name, extent: IN_REFERENCE }, levels - 1);
  return text
    .replace(extent, (whole: string, query: string) => {
      const kept = within(withoutParameter(query, name));
      if (kept === query) return whole;
      return kept === '' ? '' : `?${kept}`;
    })
    .replace(ESCAPED_QUERY, (escaped: string) => {
      const plain = unescaped(escaped);
      const kept = within(plain);
      return kept === plain ? escaped : escapedAgain(kept);
    });
}

/** As a part of another URL: each character a byte. */
function escapedAgain(text: string): string {
  return text.replace(
    /[^A-Za-z0-9._~-]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
