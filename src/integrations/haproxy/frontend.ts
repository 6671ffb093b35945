import { fieldOf, OVERRIDE } from '../../base/fields.ts';
import type { Config } from '../../config/config.ts';
import { formatAddress, type ListenAddress } from '../../config/values/addresses.ts';
import { removedHeaders } from '../../forward/headers/removed-headers.ts';
import { ownHosts } from '../../listen/guard.ts';
import { PLAIN } from '../../routes/path.ts';
import type { FastRoute } from './fast-route.ts';
import { problemReply } from './problem-reply.ts';
import { hostPattern, type Rules, ruleLines } from './rules.ts';
import { literally, word } from './words.ts';

const PLAIN_REQUEST = 'plain_method plain_version plain_url our_host !odd_header !odd_byte small_body';

/** HAProxy waits for a body up to this size, because only a complete body can be sent again. */
const LARGEST_BODY_BYTES = 16_384;

/** The methods of plain requests. Requests with other methods are rare, and go to bearerd. */
const PLAIN_METHODS = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'POST', 'PATCH'];
/** May be sent again if no answer came (RFC 9110 §9.2.2). */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT'];
/** Usually have a body. If there is none, bearerd adds `Content-Length: 0`. */
const USUALLY_WITH_BODY = ['PUT', 'POST', 'PATCH'];

/** Headers that bearerd reads, besides those that it removes. */
const LOOKED_AT = [
  'origin',
  'sec-fetch-site',
  'via',
  'expect',
  'upgrade',
  'transfer-encoding',
  'connection',
  'max-forwards',
];
/** Headers that may have one line only (RFC 9110 §5.3): of two, it is unknown which one an upstream uses. */
const SINGLE =
  'authorization host content-length content-type content-location content-range range if-range ' +
  'if-modified-since if-unmodified-since user-agent referer from date';

interface Frontend extends Rules {
  readonly config: Config;
  readonly listen: readonly ListenAddress[];
}

export function frontend(options: Frontend): readonly string[] {
  const { config, listen } = options;
  return [
    ...listen.map((address) => `bind ${formatAddress(address)} proto h1`),
    `maxconn ${config.limits.connections}`,
    '',
    '# HAProxy accepts other versions, and would forward them as 1.1.',
    `http-request return ${problemReply('bad-request')} unless { req.ver 1.1 } || { req.ver 1.0 }`,
    '',
    '# A plain request has one possible reading. Every other request goes to bearerd.',
    `acl plain_method method ${PLAIN_METHODS.join(' ')}`,
    'acl plain_version req.ver 1.1',
    `acl plain_url url -m reg ${word(plainUrl())}`,
    `acl our_host req.fhdr(host) -m reg -i ${word(ourHosts(config))}`,
    `acl odd_header req.hdr_names -m reg ${word(oddHeaders(options.fast))}`,
    `acl odd_byte req.hdrs -m reg ${word('[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]')}`,
    `acl small_body req.body_size le ${LARGEST_BODY_BYTES}`,
    'acl has_body req.body_size gt 0',
    'acl has_length req.hdr(content-length) -m found',
    `acl needs_length method ${USUALLY_WITH_BODY.join(' ')}`,
    `acl idempotent method ${IDEMPOTENT.join(' ')}`,
    '',
    '# Only a complete body can be sent again. A request whose body is late goes to bearerd.',
    `http-request wait-for-body time 10s if has_body ${PLAIN_REQUEST}`,
    'http-request set-var(txn.here) req.body_len if has_body',
    'acl whole_body req.body_size,sub(txn.here) le 0',
    '',
    `use_backend bearerd unless ${PLAIN_REQUEST}`,
    'use_backend bearerd if needs_length !has_length || has_body !whole_body',
    '',
    ...ruleLines(options),
    'default_backend bearerd',
  ];
}

function plainUrl(): string {
  return `^${PLAIN.source.slice(1, -1).replaceAll('\\.', '[.]').replaceAll('\\/', '/')}(?:[?][!-"$-~]*)?$`;
}

/** The hosts that the guard allows, except those with a final dot, and the address that a connection arrived at. */
function ourHosts(config: Config): string {
  const patterns = ownHosts(config).map((name) =>
    name.startsWith('*.') ? `[a-z0-9._-]+${literally(name.slice(1))}` : literally(name),
  );
  return hostPattern(`(?:${[...new Set(patterns)].join('|')})`);
}

/** True for headers that bearerd also removes with `_` for `-`, as CGI reads them. */
function isFolded(name: string): boolean {
  return fieldOf(name) === OVERRIDE;
}

/** Matches the names of all header lines, in lower case. A credential's header with `_` is odd: a server may read it. */
function oddHeaders(fast: readonly FastRoute[]): string {
  const ours = new Set(['authorization', ...fast.map(({ credential }) => credential.header.toLowerCase())]);
  const removed = fast.flatMap(({ route }) => removedHeaders(route, undefined));
  const names = [...new Set([...LOOKED_AT, ...removed])]
    .filter((name) => !ours.has(name))
    .sort()
    .map((name) => (isFolded(name) ? name.replaceAll('-', '[-_]') : name));
  for (const name of ours)
    if (/[-_]/.test(name)) names.push(`(?!${name}(?:,|$))${name.replaceAll(/[-_]/g, '[-_]')}`);
  const twice = `(?<name>${SINGLE.replaceAll(' ', '|')}),(?:.*,)?\\k<name>`;
  return `(?:^|,)(?:${names.join('|')}|${twice})(?:,|$)`;
}
