import { isUnder, ownerOf } from '../../routes/prefixes.ts';
import { type Route, upstreamTarget } from '../../routes/route-table.ts';

/**
 * Maps a `Location` on the upstream's origin to the path by which the client calls bearerd; any other stays. Unmapped, it
 * would lead the client to the upstream, without a credential. If that path leads to something else, because it is under
 * another route's prefix, the `Location` is absolute.
 *
 * @param own the names of the caller's routes, if it may not use all: their prefixes are the only ones that it gets to see
 */
export function clientLocation(value: string, route: Route, own?: ReadonlySet<string>): string {
  const path = ownPath(value, route.upstreamOrigin);
  if (path === undefined) return value;
  const mapped = mapBack(path, route, own);
  if (mapped === undefined) return value;
  // A client reads `//host` as another host, and a browser reads `/\host` so, too, without its tabs: these stay absolute.
  return /^\/\t*[/\\]/.test(mapped) ? route.upstreamOrigin + path : mapped;
}

/** Path, query and fragment of a reference to the upstream's origin, byte for byte; undefined for any other origin. */
function ownPath(value: string, origin: string): string | undefined {
  if (/^\/(?![/\\])/.test(value)) return value;
  const absolute = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#\\]*)(.*)$/is.exec(value);
  if (absolute === null) return undefined;
  const [, authority = '', rest = ''] = absolute;
  if (authority.includes('@') || URL.parse(value, origin)?.origin !== origin) return undefined;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function mapBack(path: string, route: Route, own: ReadonlySet<string> | undefined): string | undefined {
  const end = path.search(/[?#]/);
  const bare = end === -1 ? path : path.slice(0, end);
  const tail = end === -1 ? '' : path.slice(end);
  const absolute = route.upstreamOrigin + path;
  const mayUse = ({ name }: Route) => own?.has(name) !== false;
  // The route of the request comes first, then the one with the longest upstream prefix.
  const covering = [route, ...route.siblings].filter(
    (each) => mayUse(each) && isUnder(bare, each.upstreamPrefix),
  );
  if (covering.length === 0) {
    // Only the routes of another host lead there: on this host the same path would be something else.
    if (route.strangers.some(({ upstreamPrefix }) => isUnder(bare, upstreamPrefix))) return absolute;
    if (!isUnder(bare, route.basePath)) return undefined;
  }
  const neighbours = route.neighbours.filter(mayUse);
  for (const { prefix, upstreamPrefix } of covering) {
    const mapped = rooted((prefix === '/' ? '' : prefix) + bare.slice(upstreamPrefix.length));
    if (leadsTo(bare, mapped, route, neighbours)) return mapped + tail;
  }
  if (covering.length > 0) return absolute;
  // No route leads there, or the upstream knows its prefix: the path may lead elsewhere there, but to no other server.
  const mapped = rooted(bare.slice(route.basePath.length));
  const taken = ownerOf(asClientReads(mapped, route), neighbours);
  return taken === undefined || isAt(route, taken) ? mapped + tail : absolute;
}

/** True if a client that asks for `mapped` reaches that path of the upstream, or is refused. */
function leadsTo(path: string, mapped: string, route: Route, neighbours: readonly Route[]): boolean {
  const asked = asClientReads(mapped, route);
  const taken = ownerOf(asked, neighbours);
  if (taken === undefined || !isAt(route, taken)) return false;
  if (taken.denied) return true;
  const [sent, meant] = [upstreamTarget(taken, asked, ''), asClientReads(path, route)];
  return sent === meant || sent === `${meant}/`; // The client asks for at least `/`.
}

/** A route that denies all requests leads to no other server. */
function isAt(route: Route, { denied, upstreamOrigin }: Route): boolean {
  return denied || upstreamOrigin === route.upstreamOrigin;
}

/** Most paths have nothing that a client resolves before it asks. */
const RESOLVED = /[\\\t]|\/(?:\.|%2e)/i;

function asClientReads(path: string, { upstreamOrigin }: Route): string {
  return RESOLVED.test(path) ? (URL.parse(upstreamOrigin + path)?.pathname ?? path) : path;
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
