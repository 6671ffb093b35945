/** What belongs to one connection and not to the message (RFC 9110 §7.6.1). */

/** Dropped in both directions whether `Connection` names them or not. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
];

/** Ours to set; a client must not get hold of them by naming them in `Connection`. */
const FRAMING = new Set(['host', 'content-length', 'transfer-encoding', 'via']);

/** Dropped from requests, besides. `host`, `expect` and the credential are this hop's own business. */
export const REQUEST_DROPS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'proxy-authorization',
  'proxy-authenticate',
  'x-bearerd-key',
  'host',
  'expect',
  'authorization',
]);

/** Dropped from responses. */
export const RESPONSE_DROPS: ReadonlySet<string> = new Set([...HOP_BY_HOP, 'proxy-authenticate']);

/** Adds the header names that a `Connection` value lists to `named`; undefined while there are none. */
export function addNamed(value: string, named: Set<string> | undefined): Set<string> | undefined {
  // By far the most common values name no header.
  if (value === 'keep-alive' || value === 'close') return named;
  let result = named;
  for (const token of value.toLowerCase().split(',')) {
    const name = token.trim();
    if (name !== '' && name !== 'close' && name !== 'keep-alive' && !FRAMING.has(name)) {
      result ??= new Set();
      result.add(name);
    }
  }
  return result;
}
