import { isUnder } from '../../routes/prefixes.ts';
import type { Route } from '../../routes/route-table.ts';

/**
 * Maps a `Location` on the upstream's origin to the path by which the client calls bearerd; any other stays. Unmapped, it
 * would lead the client to the upstream, without a credential.
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
  // The route of the request comes first, then the one with the longest upstream prefix.
  const through = [route, ...route.siblings].find(
    ({ name, upstreamPrefix }) => own?.has(name) !== false && isUnder(bare, upstreamPrefix),
  );
  if (through !== undefined) {
    const prefix = through.prefix === '/' ? '' : through.prefix;
    return rooted(prefix + bare.slice(through.upstreamPrefix.length)) + tail;
  }
  // Only the routes of another host lead there: on this host the same path would be something else.
  if (route.strangers.some(({ upstreamPrefix }) => isUnder(bare, upstreamPrefix)))
    return route.upstreamOrigin + path;
  return isUnder(bare, route.basePath) ? rooted(bare.slice(route.basePath.length)) + tail : undefined;
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
