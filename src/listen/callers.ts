import { createHash, timingSafeEqual } from 'node:crypto';
import { asBytes } from '../base/bytes.ts';
import { AUTHORIZATION, foldedName } from '../base/fields.ts';
import type { Secret } from '../base/secret.ts';
import type { Config } from '../config/config.ts';
import type { RouteConfig } from '../config/sections/routes.ts';
import { routeName } from '../config/values/route-names.ts';
import type { RequestHead } from '../forward/client/request-head.ts';
import { queryWithout } from '../forward/headers/query-and-cookie.ts';
import type { Credential } from '../login/credential.ts';
import type { Route } from '../routes/route-table.ts';

/** A client that may call bearerd. */
export interface Caller {
  /** Empty for the key of `callerKey`, which has no name. */
  readonly name: string;
  /** The routes that the caller may use; undefined for all. */
  readonly own: OwnRoutes | undefined;
}

/** What a caller with `routes` may know of the configuration. */
export interface OwnRoutes {
  readonly names: ReadonlySet<string>;
  /** The names of bearerd that these routes have added, in lower case. */
  readonly hosts: ReadonlySet<string>;
  /** Where their credentials are: elsewhere no key of this caller counts. */
  readonly places: ReadonlySet<KeyPlace>;
}

/** The caller of a request, by a key that the request holds. */
export interface Identification {
  /** The name of `caller`, or else of the caller by any key, wherever it is in the request; for the log. */
  readonly name: string;
  /** The caller by a key in any place that its routes may have; for answers that depend on no route. */
  readonly caller: Caller | undefined;
  /**
   * The caller on this route. A key in the place of another route's credential doesn't count; nor does it, if its caller has
   * `routes`, where the caller may not call, so that it can't find out which credential another route has.
   */
  callerOn(route: Route | undefined): Caller | undefined;
  /** The head without the lines that hold a key: they are for bearerd, and are no credential of the client. */
  readonly head: RequestHead;
  /** The query without its keys. */
  readonly query: string;
}

/** Finds callers by their keys. */
export interface Callers {
  /** @param query with its `?`, if there is one */
  identify(head: RequestHead, query: string): Identification | undefined;
}

/**
 * Where the credentials of routes are: `header x-api-key`, `query api_key`. Not in cookies: a browser sends those by itself,
 * so a key there wouldn't show that the client meant to call.
 */
type KeyPlace = `header ${string}` | `query ${string}`;

interface FoundKey {
  readonly caller: Caller;
  /** Undefined if it counts on every route. */
  readonly place: KeyPlace | undefined;
}

function placeOf({
  header,
  queryOrCookie,
}: Pick<Credential, 'header' | 'queryOrCookie'>): KeyPlace | undefined {
  if (queryOrCookie === undefined) return `header ${foldedName(header)}`;
  // A query is read with a character for each byte.
  return queryOrCookie.in === 'query' ? `query ${asBytes(queryOrCookie.name)}` : undefined;
}

/** True if the caller may use the route, if there is one. */
export function mayUse({ own }: Caller, route: Route | undefined): boolean {
  return own === undefined || (route !== undefined && own.names.has(route.name));
}

/** True if clients need a key. */
export function asksForKey({ callerKey, callers }: Pick<Config, 'callerKey' | 'callers'>): boolean {
  return callerKey !== undefined || callers.length > 0;
}

/** The names of bearerd that a route adds: its `host`, and with an address for its upstream, the upstream's name. */
export function namesOf({ host, upstream, upstreamAddress }: RouteConfig): readonly string[] {
  const led = upstreamAddress === undefined ? [] : [new URL(upstream.origin).hostname];
  return host === undefined ? led : [host, ...led];
}

/** Undefined if clients need no key. */
export function createCallers(
  config: Pick<Config, 'callerKey' | 'callers' | 'routes' | 'credentials'>,
): Callers | undefined {
  const { callerKey, callers, routes, credentials } = config;
  const placesOf = (some: Config['routes']) =>
    new Set(
      some.flatMap(({ credential }) => {
        const known = credentials.get(credential);
        return (known && placeOf(known)) ?? [];
      }),
    );
  const ownRoutes = (names: ReadonlySet<string>): OwnRoutes => {
    const own = routes.filter((route) => names.has(routeName(route)));
    return { names, hosts: new Set(own.flatMap(namesOf)), places: placesOf(own) };
  };
  const keys = callers.map(({ name, key, routes: names }) => ({
    digest: digestOf(key),
    caller: { name, own: names && ownRoutes(new Set(names)) },
  }));
  if (callerKey !== undefined) {
    keys.unshift({ digest: digestOf(callerKey), caller: { name: '', own: undefined } });
  }
  if (keys.length === 0) return undefined;
  const places = placesOf(routes);

  /** Compares with every key, so that the time tells nothing about which one is nearest. */
  const callerWith = (given: string): Caller | undefined => {
    // Digests have equal lengths, so that the comparison tells nothing about the length of the key.
    const digest = digestOf(given);
    let found: Caller | undefined;
    for (const key of keys) if (timingSafeEqual(digest, key.digest)) found = key.caller;
    return found;
  };

  return { identify: (head, query) => identify({ head, query }, places, callerWith) };
}

function identify(
  { head, query }: Pick<Identification, 'head' | 'query'>,
  places: ReadonlySet<KeyPlace>,
  callerWith: (given: string) => Caller | undefined,
): Identification | undefined {
  const { pairs, fields } = head.lines;
  const found: FoundKey[] = [];
  const keyLines = new Set<number>();
  const collect = (candidates: readonly string[], place?: KeyPlace): boolean => {
    const before = found.length;
    for (const candidate of candidates) {
      const caller = callerWith(candidate);
      if (caller !== undefined) found.push({ caller, place });
    }
    return found.length > before;
  };
  if (head.callerKey !== undefined) collect([head.callerKey]);
  if (head.proxyAuthorization !== undefined) collect(keysIn(head.proxyAuthorization));
  for (let i = 0; i < fields.length; i++) {
    const value = pairs[2 * i + 1]!;
    const place: KeyPlace | undefined =
      fields[i] === AUTHORIZATION ? undefined : `header ${foldedName(pairs[2 * i]!)}`;
    if (place !== undefined && !places.has(place)) continue;
    if (collect([value, ...keysIn(value)], place)) keyLines.add(i);
  }
  const isKey = (name: string, value: string) =>
    places.has(`query ${name}`) && collect([value], `query ${name}`);
  const otherQuery = query.length > 1 ? queryWithout(query, isKey) : query;
  const [first] = found;
  if (first === undefined) return undefined;
  const counts = ({ place, caller: { own } }: FoundKey) =>
    place === undefined || own === undefined || own.places.has(place);
  const caller = found.find(counts)?.caller;
  return {
    name: (caller ?? first.caller).name,
    caller,
    callerOn: (route) => {
      const here = route?.credential && placeOf(route.credential);
      const countsHere = ({ place, caller }: FoundKey) =>
        place === undefined || (mayUse(caller, route) && (route === undefined || place === here));
      return found.find(countsHere)?.caller;
    },
    head: keyLines.size === 0 ? head : without(keyLines, head),
    query: otherQuery,
  };
}

/** The keys in a value: for `Basic` (RFC 7617) its password and its user name; for any other scheme what follows it. */
function keysIn(authorization: string): readonly string[] {
  const [, scheme, rest] = /^([!#$%&'*+.^_`|~0-9a-z-]+) +(.+)$/i.exec(authorization) ?? [];
  if (scheme === undefined || rest === undefined) return [];
  if (scheme.toLowerCase() !== 'basic') return [rest];
  const pair = Buffer.from(rest, 'base64').toString('latin1');
  const colon = pair.indexOf(':');
  if (colon === -1) return [];
  // A user name ends at the last colon, since a key may hold colons, although RFC 7617 allows none in a user name.
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
  // A header is read with a character for each byte; the configured key is text, and is compared in UTF-8.
  if (typeof value === 'string') hash.update(value, 'latin1');
  else value.addTo(hash);
  return hash.digest();
}
