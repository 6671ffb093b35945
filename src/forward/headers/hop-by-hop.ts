import * as field from '../../base/fields.ts';

/** Fields that bearerd sets itself: `Connection` can't remove them. */
const FRAMING = new Set(['host', 'content-length', 'transfer-encoding', 'via']);

/** Dropped from requests: fields of this hop, and those that bearerd sets itself. */
const DROPPED = [
  ...field.HOP_BY_HOP,
  field.PROXY_AUTHORIZATION,
  field.PROXY_AUTHENTICATE,
  field.CALLER_KEY,
  field.HOST,
  field.EXPECT,
  field.CONTENT_LENGTH,
  field.AUTHORIZATION,
];
export const DROPPED_FROM_REQUESTS = field.tableOf(DROPPED);

/** Dropped from a request with a credential: overrides, too, since another path or method has not been judged. */
export const DROPPED_WITH_OVERRIDES = field.tableOf([...DROPPED, field.OVERRIDE]);

/** Dropped from responses. */
export const DROPPED_FROM_RESPONSES = field.tableOf([...field.HOP_BY_HOP, field.PROXY_AUTHENTICATE]);

/** The header names that `Connection` lists, in lower case; undefined if there are none. */
export function namedByConnection({ pairs, fields }: field.FieldLines): Set<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = fields.indexOf(field.CONNECTION); at !== -1; at = fields.indexOf(field.CONNECTION, at + 1)) {
    const value = pairs[2 * at + 1]!;
    // The most common values, which name no header.
    if (value === 'keep-alive' || value === 'close') continue;
    for (const token of value.toLowerCase().split(',')) {
      const name = token.trim();
      if (name === '' || name === 'close' || name === 'keep-alive' || FRAMING.has(name)) continue;
      named ??= new Set();
      named.add(name);
    }
  }
  return named;
}
