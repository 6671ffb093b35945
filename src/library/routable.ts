import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Escapes that Fastify's router may refuse before any handler runs: no escape, or a byte beyond ASCII. */
const UNDECODED = /%(?![0-7][0-9a-f])/gi;

/**
 * Lets requests below `mount` reach their route whose path the router can't decode: `/caf%E9` is legal, and `/%zz` is
 * for bearerd to refuse. The router, and the host's hooks, see it with those escapes as text (`%25E9`).
 *
 * @returns the target as it came
 */
export function routableBelow(app: FastifyInstance, mount: string): (request: IncomingMessage) => string {
  const cameAs = new WeakMap<IncomingMessage, string>();
  let name = 'bearerd';
  for (let n = 2; app.hasConstraintStrategy(name); n++) name = `bearerd${n}`;
  // What a route may be constrained by is found out before the router looks at the path, for `app.inject` too.
  app.addConstraintStrategy({
    name,
    mustMatchWhenDerived: true, // It is asked though no route names it; and as it finds nothing, all match.
    storage: () => ({ get: () => null, set: () => {} }),
    validate: () => {},
    deriveConstraint: (request: unknown) => {
      const raw = request as IncomingMessage;
      const url = raw.url!;
      if (!url.includes('%') || !url.startsWith(`${mount}/`) || isDecodable(url)) return undefined;
      cameAs.set(raw, url);
      raw.url = routable(url);
      return undefined;
    },
  });
  return (request) => cameAs.get(request) ?? request.url!;
}

function isDecodable(url: string): boolean {
  try {
    decodeURI(url.slice(0, pathEnd(url)));
    return true;
  } catch {
    return false;
  }
}

function routable(url: string): string {
  const end = pathEnd(url);
  return url.slice(0, end).replace(UNDECODED, '%25') + url.slice(end);
}

function pathEnd(url: string): number {
  const end = url.search(/[?#]/);
  return end === -1 ? url.length : end;
}
