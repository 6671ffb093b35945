/**
 * A small number for each header that bearerd handles. A name is looked up once, where its line is read; later checks
 * compare numbers.
 */
export const OTHER = 0;
export const CONNECTION = 1;
export const KEEP_ALIVE = 2;
export const PROXY_CONNECTION = 3;
export const TE = 4;
export const TRAILER = 5;
export const TRANSFER_ENCODING = 6;
export const UPGRADE = 7;
export const HTTP2_SETTINGS = 8;
export const CONTENT_LENGTH = 9;
export const HOST = 10;
export const VIA = 11;
export const EXPECT = 12;
export const AUTHORIZATION = 13;
export const PROXY_AUTHORIZATION = 14;
export const PROXY_AUTHENTICATE = 15;
export const CALLER_KEY = 16;
export const ORIGIN = 17;
export const SEC_FETCH_SITE = 18;
export const PREFLIGHT_METHOD = 19;
export const PREFLIGHT_HEADERS = 20;
export const PREFLIGHT_PRIVATE_NETWORK = 21;
export const COOKIE = 22;
export const SET_COOKIE = 23;
export const LOCATION = 24;
export const CONTENT_DISPOSITION = 25;
export const LINK = 26;
/** A header that names another path or method than the request line does. */
export const OVERRIDE = 27;

/** Fields of one connection rather than of the message (RFC 9110 §7.6.1); dropped even if `Connection` doesn't name them. */
export const HOP_BY_HOP: readonly number[] = [
  CONNECTION,
  KEEP_ALIVE,
  PROXY_CONNECTION,
  TE,
  TRAILER,
  TRANSFER_ENCODING,
  UPGRADE,
  HTTP2_SETTINGS,
];

const NAMES: readonly (readonly [string, number])[] = [
  ['Connection', CONNECTION],
  ['Keep-Alive', KEEP_ALIVE],
  ['Proxy-Connection', PROXY_CONNECTION],
  ['TE', TE],
  ['Trailer', TRAILER],
  ['Transfer-Encoding', TRANSFER_ENCODING],
  ['Upgrade', UPGRADE],
  ['HTTP2-Settings', HTTP2_SETTINGS],
  ['Content-Length', CONTENT_LENGTH],
  ['Host', HOST],
  ['Via', VIA],
  ['Expect', EXPECT],
  ['Authorization', AUTHORIZATION],
  ['Proxy-Authorization', PROXY_AUTHORIZATION],
  ['Proxy-Authenticate', PROXY_AUTHENTICATE],
  ['X-Bearerd-Key', CALLER_KEY],
  ['Origin', ORIGIN],
  ['Sec-Fetch-Site', SEC_FETCH_SITE],
  ['Access-Control-Request-Method', PREFLIGHT_METHOD],
  ['Access-Control-Request-Headers', PREFLIGHT_HEADERS],
  ['Access-Control-Request-Private-Network', PREFLIGHT_PRIVATE_NETWORK],
  ['Cookie', COOKIE],
  ['Set-Cookie', SET_COOKIE],
  ['Set-Cookie2', SET_COOKIE],
  ['Location', LOCATION],
  ['Content-Disposition', CONTENT_DISPOSITION],
  ['Link', LINK],
  ['X-Original-URL', OVERRIDE],
  ['X-Rewrite-URL', OVERRIDE],
  ['X-HTTP-Method-Override', OVERRIDE],
  ['X-HTTP-Method', OVERRIDE],
  ['X-Method-Override', OVERRIDE],
];

const FIELDS = 1 + Math.max(...NAMES.map(([, field]) => field));
export const KNOWN_NAMES: readonly string[] = NAMES.map(([name]) => name);

interface Known {
  readonly usual: string;
  readonly lower: string;
  readonly field: number;
}

/** By length: few names share one. */
const KNOWN: (readonly Known[] | undefined)[] = [];
for (const [usual, field] of NAMES) {
  KNOWN[usual.length] = [...(KNOWN[usual.length] ?? []), { usual, lower: usual.toLowerCase(), field }];
}

/** The number of a header name in any letter case; `OTHER` for a header that bearerd only passes on. */
export function fieldOf(name: string): number {
  const known = KNOWN[name.length];
  if (known === undefined) return OTHER;
  for (const { usual, lower, field } of known) {
    if (name === usual || name === lower) return field;
  }
  const folded = name.toLowerCase();
  for (const { lower, field } of known) if (folded === lower) return field;
  return folded.includes('_') && isOverride(foldedName(folded), known) ? OVERRIDE : OTHER;
}

/** CGI, and frameworks that are built on it, read `X_Original_URL` as `X-Original-URL`. */
function isOverride(folded: string, known: readonly Known[]): boolean {
  return known.some(({ lower, field }) => field === OVERRIDE && folded === lower);
}

/** A name as CGI and WSGI compare it, for which `X_Api_Key` and `X-Api-Key` are the same: lower case, hyphens only. */
export function foldedName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

/** True if a name means the same header. @param folded the header's name, from `foldedName` */
export function isSameHeader(name: string, folded: string): boolean {
  return name.length === folded.length && (name === folded || foldedName(name) === folded);
}

/** A lookup table by field: true for the given ones. */
export function tableOf(fields: readonly number[]): readonly boolean[] {
  const table = Array.from({ length: FIELDS }, () => false);
  for (const field of fields) table[field] = true;
  return table;
}

/** Header lines in their order. */
export interface FieldLines {
  /** Names and values in turn; each character is a byte. */
  readonly pairs: readonly string[];
  /** The number of each name, in the same order. */
  readonly fields: readonly number[];
}
