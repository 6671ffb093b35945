import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';

/** Escapes that Fastify's router may refuse before any handler runs: malformed, or of a byte beyond ASCII. */
const UNDECODED = /%(?![0-7][0-9a-f])/gi;

/**
 * Lets requests below `mount` reach bearerd even if the router can't decode their path: `/caf%E9` is legal, and `/%zz`
 * must get bearerd's refusal. The router and the host's hooks see such escapes as text (`%25E9`).
 *
 * @returns gives the original target of a request
 */
export function routableBelow(app: FastifyInstance, mount: string): (request: IncomingMessage) => string {
  const originals = new WeakMap<IncomingMessage, string>();
  let name = 'bearerd';
  for (let n = 2; app.hasConstraintStrategy(name); n++) name = `bearerd${n}`;
  // Fastify derives constraints before its router reads the path, also for `app.inject`.
  app.addConstraintStrategy({
    name,
    mustMatchWhenDerived: true, // Called even if no route has the constraint; it derives nothing, so that all match.
    storage: () => ({ get: () => null, set: () => {} }),
    validate: () => {},
    deriveConstraint: (request: unknown) => {
      const raw = request as IncomingMessage;
      const url = raw.url!;
      if (!url.includes('%') || !url.startsWith(`${mount}/`) || isDecodable(url)) return undefined;
      originals.set(raw, url);
      raw.url = routable(url);
      return undefined;
    },
  });
  return (request) => originals.get(request) ?? request.url!;
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
