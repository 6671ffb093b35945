import { type FieldLines, UPGRADE } from '../base/fields.ts';

/**
 * True where a 101 names protocols, and none but those that the request asked for (RFC 9110 §7.8): a server may choose
 * among them, and can't bring in another. Letter case makes no difference.
 *
 * @param asked the request's `Upgrade`
 */
export function isAskedProtocol({ pairs, fields }: FieldLines, asked: string): boolean {
  const named = fields.flatMap((field, i) => (field === UPGRADE ? protocolsOf(pairs[2 * i + 1]!) : []));
  const possible = new Set(protocolsOf(asked));
  return named.length > 0 && named.every((protocol) => possible.has(protocol));
}

function protocolsOf(upgrade: string): string[] {
  return upgrade
    .toLowerCase()
    .split(',')
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol !== '');
}
