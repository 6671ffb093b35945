import { METHODS } from 'node:http';
import {
  formatAddress,
  formatUpstreamAddress,
  type ListenAddress,
  parseAddress,
  parseUpstreamAddress,
  type UpstreamAddress,
} from './addresses.ts';
import { parseCommand } from './commands.ts';
import { parseHeaderName, parseRequestIdHeader, parseScheme } from './header-values.ts';
import { andThen, type JsonSchema, type Kind, list, type Parsed, scalar } from './kind.ts';
import {
  type Bounds,
  DURATION_PATTERN,
  formatDuration,
  formatSize,
  parseDuration,
  parseSize,
  SIZE_PATTERN,
} from './measures.ts';
import { didYouMean, nearest } from './nearest.ts';
import { parsePath, parseSessionPath } from './paths.ts';
import { formatRate, parseRate, RATE_PATTERN, type RateLimit } from './rates.ts';
import { parseRouteHost, parseRouteKey, type RouteKey, routeName } from './route-names.ts';
import {
  formatBaseUrl,
  formatTokenUrl,
  parseAllowedHost,
  parseBaseUrl,
  parseIssuer,
  parseOrigin,
  parseTokenUrl,
  parseWebOrigin,
  type TokenEndpoint,
  type Upstream,
} from './urls.ts';

const STRING: JsonSchema = { type: 'string' };
const HTTP_URL: JsonSchema = { type: 'string', pattern: '^https?://' };

export function duration(bounds: Bounds = {}): Kind<number> {
  const pattern = bounds.off === true ? `${DURATION_PATTERN}|^off$` : DURATION_PATTERN;
  return scalar(
    (text) => parseDuration(text, bounds),
    { type: 'string', pattern },
    (ms) => (bounds.off === true && ms === 0 ? 'off' : formatDuration(ms)),
  );
}

export function size(bounds: Bounds): Kind<number> {
  return scalar((text) => parseSize(text, bounds), { type: 'string', pattern: SIZE_PATTERN }, formatSize);
}

/** A positive whole number. */
export function count(max: number): Kind<number> {
  return scalar(
    (text) => {
      const number = /^\d{1,15}$/.test(text) ? Number(text) : 0;
      if (number < 1 || number > max) return { problem: `must be a whole number from 1 to ${max}` };
      return { value: number };
    },
    { type: 'integer', minimum: 1, maximum: max },
  );
}

/** `60/1m`. */
export const rate: Kind<RateLimit> = scalar(parseRate, { type: 'string', pattern: RATE_PATTERN }, formatRate);

export const flag: Kind<boolean> = scalar(
  (text) =>
    text === 'true' || text === 'false' ? { value: text === 'true' } : { problem: 'must be true or false' },
  { type: 'boolean' },
);

export function choice<const T extends string>(options: readonly T[]): Kind<T> {
  return scalar(
    (text) => {
      const value = options.find((option) => option === text);
      if (value !== undefined) return { value };
      return { problem: `must be one of ${options.join(', ')}${didYouMean(nearest(text, options))}` };
    },
    { enum: options },
  );
}

/** A text that matches a pattern; `problem` says what would. */
function matching(
  pattern: RegExp,
  problem: string,
  schema: JsonSchema = { pattern: pattern.source },
): Kind<string> {
  return scalar((text) => (pattern.test(text) ? { value: text } : { problem }), {
    type: 'string',
    ...schema,
  });
}

export const text = matching(/./s, 'must not be empty', { minLength: 1 });
export const keyPrefix = matching(
  /^[A-Za-z0-9_.:-]{1,64}$/,
  'must be 1 to 64 letters, digits, and any of . : _ -',
);
export const path: Kind<string> = scalar(parsePath, { type: 'string', pattern: '^/' });
export const sessionPath: Kind<string> = scalar(parseSessionPath, { type: 'string', pattern: '^/.' });
export const baseUrl: Kind<Upstream> = scalar(parseBaseUrl, HTTP_URL, formatBaseUrl);
export const upstreamAddress: Kind<UpstreamAddress> = scalar(
  parseUpstreamAddress,
  STRING,
  formatUpstreamAddress,
);
export const tokenUrl: Kind<TokenEndpoint> = scalar(parseTokenUrl, HTTP_URL, formatTokenUrl);
/** Kept unchanged, because it is compared unchanged (RFC 8414 §3.3). */
export const issuer: Kind<string> = scalar(parseIssuer, HTTP_URL);
export const headerName: Kind<string> = scalar(parseHeaderName, STRING);
export const requestIdHeader: Kind<string> = scalar(parseRequestIdHeader, STRING);
export const scheme: Kind<string> = scalar(parseScheme, STRING);

/** A list only: text with commas or blanks would be ambiguous. */
export const command: Kind<readonly string[]> = {
  schema: { type: 'array', minItems: 1, items: STRING },
  verbatim: true,
  parse: parseCommand,
  format: (words) => words,
};

/** `unix:/path` of a socket that another program listens on. */
export const socketPath: Kind<string> = scalar(
  (text) =>
    andThen(parseAddress(text), (address) =>
      address.kind === 'unix' ? { value: address.path } : { problem: 'must be unix:/path/to/socket' },
    ),
  { type: 'string', pattern: '^unix:/' },
  (path) => `unix:${path}`,
);

/** Envoy tells the format by the name's ending. */
export const sdsFile = matching(/\.(json|ya?ml)$/, 'must end with .json, .yaml or .yml');

export const addresses: Kind<readonly ListenAddress[]> = list(parseAddress, formatAddress, {
  needs: 'address',
});
export const addressesOrOff: Kind<readonly ListenAddress[]> = list(parseAddress, formatAddress, {
  needs: 'address, or off',
  off: true,
});
export const allowedHosts: Kind<readonly string[]> = list(parseAllowedHost, String);
export const webOrigins: Kind<readonly string[]> = list(parseWebOrigin, String);
export const origins: Kind<readonly string[]> = list(parseOrigin, String, { needs: 'origin' });

/** Case is significant in a method (RFC 9110 §9.1), but `get` never means anything but GET. */
function parseMethod(name: string): Parsed<string> {
  const method = name.toUpperCase();
  if (method === 'CONNECT' || method === 'TRACE')
    return { problem: 'names a method that is never forwarded' };
  if (METHODS.includes(method)) return { value: method };
  return { problem: `is not an HTTP method${didYouMean(nearest(method, METHODS))}` };
}

export const routeHost: Kind<string> = scalar(parseRouteHost, {
  type: 'string',
  pattern: '^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\\.?$',
});
export const routeNames: Kind<readonly string[]> = list(
  (text) => andThen(parseRouteKey(text), (key) => ({ value: routeName(key) })),
  String,
  { needs: 'prefix of a route' },
);
export const methods: Kind<readonly string[]> = list(parseMethod, String, { needs: 'method' });

/** A pair of `BEARERD_ROUTES`. */
export interface RoutePair extends RouteKey {
  readonly credential: string;
}

/** The last `=` separates the two: a path may hold one, a credential's name may not. */
function parseRoutePair(pair: string): Parsed<RoutePair> {
  const at = pair.lastIndexOf('=');
  const credential = pair.slice(at + 1).trim();
  if (at < 1 || credential === '') return { problem: 'must be PREFIX=CREDENTIAL' };
  // A path may hold a ; and a =, but hardly a pair: "/a=token;b=deny" has lost the slash of the second.
  if (/=\s*(?:token|apiKey|none|deny)\s*[;|]\s*./.test(pair)) {
    return { problem: 'holds a second pair after a ; or a |; separate pairs with commas' };
  }
  const key = parseRouteKey(pair.slice(0, at).trim());
  if ('problem' in key) return { problem: `the prefix ${key.problem}` };
  return { value: { ...key.value, credential } };
}

export const routePairs: Kind<readonly RoutePair[]> = list(
  parseRoutePair,
  (pair) => `${routeName(pair)}=${pair.credential}`,
  { needs: 'PREFIX=CREDENTIAL pair' },
);
