import type { Route } from '../../routes/route-table.ts';

/**
 * A `Location` on the upstream's own origin, as the path that the client would ask us for; any other unchanged.
 * The client would otherwise leave for the upstream itself, without a credential.
 */
export function clientLocation(value: string, route: Route): string {
  const path = ownPath(value, route.upstreamOrigin);
  if (path === undefined) return value;
  const mapped = mapBack(path, route);
  if (mapped === undefined) return value;
  // `//host` would name another host to the client, and so would `/\host` to a browser, which drops tabs, too: these
  // stay absolute.
  return /^\/\t*[/\\]/.test(mapped) ? route.upstreamOrigin + path : mapped;
}

/** Path, query and fragment of a reference to the upstream's origin, byte for byte; undefined for another one. */
function ownPath(value: string, origin: string): string | undefined {
  if (/^\/(?![/\\])/.test(value)) return value;
  const absolute = /^(?:[a-z][a-z0-9+.-]*:)?\/\/([^/?#\\]*)(.*)$/is.exec(value);
  if (absolute === null || absolute[1]!.includes('@')) return undefined;
  if (URL.parse(value, origin)?.origin !== origin) return undefined;
  const rest = absolute[2]!;
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function mapBack(path: string, route: Route): string | undefined {
  const end = path.search(/[?#]/);
  const bare = end === -1 ? path : path.slice(0, end);
  const tail = end === -1 ? '' : path.slice(end);
  // Its own route first; else the one that leads there most exactly.
  const through = [route, ...route.siblings].find(({ upstreamPrefix }) => isUnder(bare, upstreamPrefix));
  if (through !== undefined) {
    const prefix = through.prefix === '/' ? '' : through.prefix;
    return rooted(prefix + bare.slice(through.upstreamPrefix.length)) + tail;
  }
  // Only another host leads there: by any path of this one the client would get something else.
  if (route.strangers.some(({ upstreamPrefix }) => isUnder(bare, upstreamPrefix)))
    return route.upstreamOrigin + path;
  return isUnder(bare, route.basePath) ? rooted(bare.slice(route.basePath.length)) + tail : undefined;
}

function isUnder(path: string, prefix: string): boolean {
  return (
    path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  );
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`;
}
