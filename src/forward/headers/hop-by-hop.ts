import * as field from '../../base/fields.ts';

/** What belongs to one connection and not to the message (RFC 9110 §7.6.1), whether `Connection` names it or not. */
const HOP_BY_HOP = [
  field.CONNECTION,
  field.KEEP_ALIVE,
  field.PROXY_CONNECTION,
  field.TE,
  field.TRAILER,
  field.TRANSFER_ENCODING,
  field.UPGRADE,
  field.HTTP2_SETTINGS,
];

/** Ours to set; a client must not get hold of them by naming them in `Connection`. */
const FRAMING = new Set(['host', 'content-length', 'transfer-encoding', 'via']);

/** Dropped from requests. `host`, `expect`, the length and the credential are this hop's own business. */
const DROPPED = [
  ...HOP_BY_HOP,
  field.PROXY_AUTHORIZATION,
  field.PROXY_AUTHENTICATE,
  field.CALLER_KEY,
  field.HOST,
  field.EXPECT,
  field.CONTENT_LENGTH,
  field.AUTHORIZATION,
];
export const DROPPED_FROM_REQUESTS = field.tableOf(DROPPED);

/** The same where a credential goes with the request, for the path and the method that were judged and no other. */
export const DROPPED_WITH_OVERRIDES = field.tableOf([...DROPPED, field.OVERRIDE]);

/** Dropped from responses. */
export const DROPPED_FROM_RESPONSES = field.tableOf([...HOP_BY_HOP, field.PROXY_AUTHENTICATE]);

/** The header names that `Connection` lists, in lower case; undefined where it names none. */
export function namedByConnection({ pairs, fields }: field.FieldLines): Set<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = fields.indexOf(field.CONNECTION); at !== -1; at = fields.indexOf(field.CONNECTION, at + 1)) {
    const value = pairs[2 * at + 1]!;
    // By far the most common values name no header.
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
