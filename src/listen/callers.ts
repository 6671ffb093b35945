import { createHash, timingSafeEqual } from 'node:crypto';
import { AUTHORIZATION, foldedName } from '../base/fields.ts';
import { asBytes, type Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import type { RequestHead } from '../forward/client/request-head.ts';
import { queryWithout } from '../forward/headers/injection.ts';
import type { Credential } from '../login/credential.ts';
import type { Route } from '../routes/route-table.ts';

/** A client that may call. */
export interface Caller {
  /** Empty for the key without a name. */
  readonly name: string;
  /** Names of the routes that it may use; undefined for all of them. */
  readonly routes: ReadonlySet<string> | undefined;
}

/** What a request shows of who sends it; there only where it holds a key. */
export interface Identification {
  /** Whose key it is, wherever it stands: good for an answer of our own. */
  readonly caller: Caller;
  /** Whose it is on a route, which takes no key in the place of another route's credential. */
  callerOn(route: Route): Caller | undefined;
  /** The head without the lines that hold a key: they are for us, and nothing of the client's own. */
  readonly head: RequestHead;
  /** The query, likewise. */
  readonly query: string;
}

/** All who may call, by their keys. */
export interface Callers {
  /** @param query with its `?`, where there is one */
  identify(head: RequestHead, query: string): Identification | undefined;
}

/**
 * Where credentials of routes stand: `header x-api-key`, `query api_key`. No cookie: a browser sends those of itself,
 * and a key has to be meant.
 */
type KeyPlace = `header ${string}` | `query ${string}`;

interface Found {
  readonly caller: Caller;
  /** Undefined where every route takes it. */
  readonly place: KeyPlace | undefined;
}

function placeOf({ header, elsewhere }: Pick<Credential, 'header' | 'elsewhere'>): KeyPlace | undefined {
  if (elsewhere === undefined) return `header ${foldedName(header)}`;
  // A query's characters are bytes.
  return elsewhere.in === 'query' ? `query ${asBytes(elsewhere.name)}` : undefined;
}

/** Whether a client has to send a key. */
export function asksForKey({ callerKey, callers }: Pick<Config, 'callerKey' | 'callers'>): boolean {
  return callerKey !== undefined || callers.length > 0;
}

/** Undefined where everybody may call. */
export function createCallers(
  config: Pick<Config, 'callerKey' | 'callers' | 'routes' | 'credentials'>,
): Callers | undefined {
  const { callerKey, callers, routes, credentials } = config;
  const keys = callers.map(({ name, key, routes: prefixes }) => ({
    digest: digestOf(key),
    caller: { name, routes: prefixes && new Set(prefixes) },
  }));
  if (callerKey !== undefined) {
    keys.unshift({ digest: digestOf(callerKey), caller: { name: '', routes: undefined } });
  }
  if (keys.length === 0) return undefined;
  const places = new Set(
    routes.flatMap(({ credential }) => {
      const known = credentials.get(credential);
      return (known && placeOf(known)) ?? [];
    }),
  );

  /** Compares with every key, to the end: how long it takes tells nothing about which one is nearest. */
  const whose = (given: string): Caller | undefined => {
    // Digests: equal in length, so that the comparison tells nothing about the key's.
    const digest = digestOf(given);
    let found: Caller | undefined;
    for (const key of keys) if (timingSafeEqual(digest, key.digest)) found = key.caller;
    return found;
  };

  return { identify: (head, query) => identify({ head, query }, places, whose) };
}

function identify(
  { head, query }: Pick<Identification, 'head' | 'query'>,
  places: ReadonlySet<KeyPlace>,
  whose: (given: string) => Caller | undefined,
): Identification | undefined {
  const { pairs, fields } = head.lines;
  const found: Found[] = [];
  const keyLines = new Set<number>();
  const look = (candidates: readonly string[], place?: KeyPlace): boolean => {
    const before = found.length;
    for (const candidate of candidates) {
      const caller = whose(candidate);
      if (caller !== undefined) found.push({ caller, place });
    }
    return found.length > before;
  };
  if (head.callerKey !== undefined) look([head.callerKey]);
  if (head.proxyAuthorization !== undefined) look(keysIn(head.proxyAuthorization));
  for (let i = 0; i < fields.length; i++) {
    const value = pairs[2 * i + 1]!;
    const place: KeyPlace | undefined =
      fields[i] === AUTHORIZATION ? undefined : `header ${foldedName(pairs[2 * i]!)}`;
    if (place !== undefined && !places.has(place)) continue;
    if (look([value, ...keysIn(value)], place)) keyLines.add(i);
  }
  const isKey = (name: string, value: string) =>
    places.has(`query ${name}`) && look([value], `query ${name}`);
  const otherQuery = query.length > 1 ? queryWithout(query, isKey) : query;
  const [first] = found;
  if (first === undefined) return undefined;
  return {
    caller: first.caller,
    callerOn: ({ credential }) => {
      const own = credential && placeOf(credential);
      return found.find(({ place }) => place === undefined || place === own)?.caller;
    },
    head: keyLines.size === 0 ? head : without(keyLines, head),
    query: otherQuery,
  };
}

/** `Basic` (RFC 7617) with the key as its password or its user name; any other scheme with the key behind it. */
function keysIn(authorization: string): readonly string[] {
  const [, scheme, rest] = /^([!#$%&'*+.^_`|~0-9a-z-]+) +(.+)$/i.exec(authorization) ?? [];
  if (scheme === undefined || rest === undefined) return [];
  if (scheme.toLowerCase() !== 'basic') return [rest];
  const pair = Buffer.from(rest, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  if (colon === -1) return [];
  // A key may hold colons itself: as a user name it ends at the last one, though RFC 7617 allows none there.
  return [pair.slice(colon + 1), pair.slice(0, pair.lastIndexOf(':'))];
}

function without(keyLines: ReadonlySet<number>, head: RequestHead): RequestHead {
  const { pairs, fields } = head.lines;
  return {
    ...head,
    lines: {
      pairs: pairs.filter((_, i) => !keyLines.has(i >> 1)),
      fields: fields.filter((_, i) => !keyLines.has(i)),
    },
  };
}

function digestOf(value: string | Secret): Buffer {
  const hash = createHash('sha256');
  // A header's characters are bytes; the configured key is text, and UTF-8 where it is sent.
  if (typeof value === 'string') hash.update(value, 'latin1');
  else value.addTo(hash);
  return hash.digest();
}
