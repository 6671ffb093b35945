import { fieldOf, OVERRIDE } from '../../base/fields.ts';
import type { Config, ListenAddress } from '../../config/config.ts';
import { formatAddress } from '../../config/values/addresses.ts';
import { removedHeaders } from '../../forward/headers/removed-headers.ts';
import { ownHosts } from '../../listen/guard.ts';
import { PLAIN } from '../../routes/path.ts';
import type { FastRoute } from './fast-route.ts';
import { problemReply } from './problem-reply.ts';
import { hostPattern, type Rules, ruleLines } from './rules.ts';
import { literally, word } from './words.ts';

const PLAIN_REQUEST = 'plain_method plain_version plain_url our_host !odd_header !odd_byte small_body';

/** The largest body that waits here until it is whole: only then can it be sent again. */
export const LARGEST_BODY_BYTES = 16_384;

/** The methods of plain requests; others are rare, and bearerd knows them. */
const PLAIN_METHODS = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT', 'POST', 'PATCH'];
/** May be sent again while nothing is known of an answer (RFC 9110 §9.2.2). */
const IDEMPOTENT = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'PUT'];
/** Methods that usually have a body: without one, bearerd adds `Content-Length: 0`. */
const USUALLY_WITH_BODY = ['PUT', 'POST', 'PATCH'];

/** What bearerd looks at, besides what it removes. */
const LOOKED_AT = ['origin', 'sec-fetch-site', 'via', 'expect', 'upgrade', 'transfer-encoding', 'connection'];
/** Of these a request has one (RFC 9110 §5.3), or is odd: of two it is unknown which one an upstream takes. */
const SINGLE =
  'authorization host content-length content-type content-location content-range range if-range ' +
  'if-modified-since if-unmodified-since user-agent referer from date max-forwards';

export interface Frontend extends Rules {
  readonly config: Config;
  readonly listen: readonly ListenAddress[];
}

export function frontend(options: Frontend): readonly string[] {
  const { config, listen } = options;
  return [
    ...listen.map((address) => `bind ${formatAddress(address)} proto h1`),
    `maxconn ${config.limits.connections}`,
    '',
    '# It takes any version, and would send each on as 1.1.',
    `http-request return ${problemReply('bad-request')} unless { req.ver 1.1 } || { req.ver 1.0 }`,
    '',
    '# Plain: one spelling, one meaning. Whatever bearerd would have to think about is for bearerd.',
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
    '# A body has to be whole, so that it can be sent again; one that lingers is for bearerd.',
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

/** Those that the guard takes, but for a dot at the end and for the address that a connection arrived at. */
function ourHosts(config: Config): string {
  const patterns = ownHosts(config).map((name) =>
    name.startsWith('*.') ? `[a-z0-9._-]+${literally(name.slice(1))}` : literally(name),
  );
  return hostPattern(`(?:${[...new Set(patterns)].join('|')})`);
}

/** Names by which CGI knows a header written with `_` as well. */
function isFolded(name: string): boolean {
  return fieldOf(name) === OVERRIDE;
}

/** By the names of all lines, in lower case. That of a credential may be told with `_`, too, by who reads it so. */
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
